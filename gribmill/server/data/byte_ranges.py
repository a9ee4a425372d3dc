"""Byte ranges of a file (RFC 9110, 14.2): `bytes=0-99`, `bytes=100-`, `bytes=-100`, and several of them."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

_RANGE = re.compile(r"(?P<first>[0-9]{1,19})-(?P<last>[0-9]{1,19})?|-(?P<suffix>[0-9]{1,19})")
_UNIT = "bytes="
MOST_RANGES = 16


class FilePart(NamedTuple):
    """From `begin` (inclusive) to `end` (exclusive)."""

    begin: int
    end: int


class RangeOutsideFile(ValueError):
    """No range overlaps the file."""


def parse_ranges(header: str | None, size: int) -> tuple[FilePart, ...]:
    """The requested ranges, in order; empty for the whole file.

    Invalid headers, too many ranges, and overlapping ranges, which could add up to more bytes than the file has, are
    ignored: the response is then the whole file.
    """
    if header is None or not header.strip().startswith(_UNIT):
        return ()
    texts = [text.strip() for text in header.strip().removeprefix(_UNIT).split(",", MOST_RANGES)]
    matches = [_RANGE.fullmatch(text) for text in texts if text]
    if not matches or len(texts) > MOST_RANGES:
        return ()
    found = []
    for match in matches:
        if match is None or (match["last"] and int(match["last"]) < int(match["first"])):
            return ()
        if (part := _part(match, size)) is not None:
            found.append(part)
    if not found:
        raise RangeOutsideFile
    ordered = sorted(found)
    if any(after.begin < before.end for before, after in pairwise(ordered)):
        return ()
    return tuple(found)


def _part(match: re.Match[str], size: int) -> FilePart | None:
    """A range within the file; None if it is outside."""
    if match["suffix"] is not None:
        length = min(int(match["suffix"]), size)
        return FilePart(size - length, size) if length else None
    begin = int(match["first"])
    end = min(int(match["last"]) + 1, size) if match["last"] else size
    return FilePart(begin, end) if begin < size else None
