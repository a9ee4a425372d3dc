"""The entries of an index file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from gribmill.grib.sections import SHORTEST
from gribmill.ingest.mirror import IndexKind

SHORTEST_MESSAGE = min(SHORTEST.values())
LARGEST_OFFSET = 2**63 - 1
# NOAA's largest indexes have about 60 kB, ECMWF's (all members) about 3 MB.
INDEX_LIMIT_BYTES = 32_000_000


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
