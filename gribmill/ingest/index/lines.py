"""The bytes of an index become lines; what is no index at all is refused by name."""

from __future__ import annotations

from collections.abc import Iterator

from gribmill.grib.signatures import wrong_file
from gribmill.ingest.errors import BadIndex

# The largest of NOAA's have some 60 kB, of ECMWF's (all members) some 3 MB.
LIMIT_BYTES = 32_000_000
LIMIT_LINES = 200_000
LIMIT_LINE_CHARACTERS = 4_000


def numbered_lines(data: bytes, source: str) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers from 1; a BadIndex for what is no plain text."""
    if len(data) > LIMIT_BYTES:
        raise BadIndex(source, None, f"an index of {len(data)} bytes is larger than {LIMIT_BYTES}")
    if what := wrong_file(data[:LIMIT_LINE_CHARACTERS].lstrip(b" \t\r\n")):
        raise BadIndex(source, None, f"this is {what}, not an index")
    if b"\0" in data[:4096]:
        raise BadIndex(source, None, "this is binary, not an index")
    if not data.strip():
        raise BadIndex(source, None, "the index is empty")
    lines = data.split(b"\n")
    if len(lines) > LIMIT_LINES:
        raise BadIndex(source, None, f"the index has more than {LIMIT_LINES} lines")
    for number, line in enumerate(lines, 1):
        if len(line) > LIMIT_LINE_CHARACTERS:
            raise BadIndex(source, number, f"a line of {len(line)} characters")
        try:
            text = line.decode("ascii").strip()
        except UnicodeDecodeError:
            raise BadIndex(source, number, "a character that is not ASCII") from None
        if not text.isprintable():
            raise BadIndex(source, number, "a control character")
        if text:
            yield number, text
