"""The entries of an index file, and its lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from gribmill.grib.messages import wrong_file
from gribmill.grib.sections import SHORTEST
from gribmill.ingest.errors import BadIndex
from gribmill.ingest.mirror import IndexKind

SHORTEST_MESSAGE = min(SHORTEST.values())
LARGEST_OFFSET = 2**63 - 1
# NOAA's largest indexes have about 60 kB, ECMWF's (all members) about 3 MB.
INDEX_LIMIT_BYTES = 32_000_000
LIMIT_LINES = 200_000
LIMIT_LINE_CHARACTERS = 4_000


class ByteRange(NamedTuple):
    """The bytes from `start` to before `end`; None means the end of the file."""

    start: int
    end: int | None


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A field and the bytes of its message, `offset` to before `end`; `end` is None if the file size is unknown.

    NOAA: the texts of the line. ECMWF: `param`; `sfc` or `pl 850`; the step; type and member, as `pf:7`.
    Fields of one message share its number and bytes, and are numbered by `sub` from 1; it is 0 for a single field.
    """

    number: int
    sub: int
    offset: int
    end: int | None
    reference: datetime | None
    element: str
    level: str
    window: str
    extra: str


@dataclass(frozen=True, slots=True)
class Inventory:
    """The entries of one file by offset; they do not overlap, except for fields of one message."""

    kind: IndexKind
    source: str
    entries: tuple[IndexEntry, ...]

    def __iter__(self) -> Iterator[IndexEntry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


def numbered_lines(data: bytes, source: str) -> Iterator[tuple[int, str]]:
    """Yields the non-blank lines with their numbers, from 1. Raises BadIndex for anything but plain text."""
    if len(data) > INDEX_LIMIT_BYTES:
        raise BadIndex(source, None, f"an index of {len(data)} bytes is larger than {INDEX_LIMIT_BYTES}")
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
