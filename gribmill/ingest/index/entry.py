"""One line of an index, and all lines of one file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from gribmill.grib.sections import SHORTEST
from gribmill.ingest.models.model_file import IndexKind

SHORTEST_MESSAGE = min(SHORTEST.values())
LARGEST_OFFSET = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Entry:
    """A field and the bytes of its message, `offset` to before `end`; `end` is None where the file's size is not known.

    NOAA: the texts of the line. ECMWF: `param`; `sfc`, `pl 850`; the step; the type and member, `pf:7`.
    Fields of one message share its number and bytes, and count `sub` from 1; 0 is a field alone.
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
    """The entries of one file in the order of its bytes; none overlap but the fields of one message."""

    kind: IndexKind
    source: str
    entries: tuple[Entry, ...]

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)
