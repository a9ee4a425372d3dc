"""Makes the output of other programs safe for a terminal."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator

from gribmill.errors import printable

# CSI, OSC and other string sequences, and sequences of one or two characters (ECMA-48).
_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
# A longer line is printed in parts.
LINE_LIMIT = 65_536


def safe_lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """The text line by line, without escape sequences, and with other control characters made visible."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    rest = ""
    for chunk in chunks:
        *lines, rest = (rest + decoder.decode(chunk)).split("\n")
        for line in lines:
            yield f"{safe(line)}\n"
        if len(rest) > LINE_LIMIT:
            yield safe(rest)
            rest = ""
    rest += decoder.decode(b"", final=True)
    if rest:
        yield safe(rest)


def safe(line: str) -> str:
    """Make one line safe; tabs are kept, and a trailing carriage return is removed."""
    bare = _ESCAPE.sub("", line.rstrip("\r"))
    return "\t".join(printable(part) for part in bare.split("\t"))
