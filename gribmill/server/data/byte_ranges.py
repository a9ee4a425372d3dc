"""One byte range of a file (RFC 9110, 14.2): `bytes=0-99`, `bytes=100-`, `bytes=-100`."""

from __future__ import annotations

import re
from typing import NamedTuple

_RANGE = re.compile(r"bytes=\s*(?:(?P<first>[0-9]{1,19})-(?P<last>[0-9]{1,19})?|-(?P<suffix>[0-9]{1,19}))\s*")


class FilePart(NamedTuple):
    """From `begin` to before `end`."""

    begin: int
    end: int


class RangeOutsideFile(ValueError):
    """The range has no byte of the file."""


def parse_range(header: str | None, size: int) -> FilePart | None:
    """The range that a header asks for; None for the whole file, as for several ranges and other units."""
    found = _RANGE.fullmatch(header.strip()) if header else None
    if found is None:
        return None
    if found["suffix"] is not None:
        length = int(found["suffix"])
        if length == 0 or size == 0:
            raise RangeOutsideFile
        return FilePart(max(0, size - length), size)
    first = int(found["first"])
    last = int(found["last"]) if found["last"] else size - 1
    if found["last"] and last < first:
        return None  # invalid, and so ignored
    if first >= size:
        raise RangeOutsideFile
    return FilePart(first, min(last + 1, size))
