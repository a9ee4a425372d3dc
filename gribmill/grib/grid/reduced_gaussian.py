"""Reduced Gaussian grids: rows with fewer points towards the poles, expanded to the length of the longest row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from gribmill.grib.errors import GribError
from gribmill.grib.grid.reduced_rows import SHORTEST_ROW, row_list
from gribmill.grib.grid.scan_order import J_POSITIVE, NO_COLUMNS1, to_float32
from gribmill.grib.octets import optional, unsigned

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gribmill.regions.window import Window

GAUSSIAN1, GAUSSIAN2 = 4, 40
# GRIB2's template 3.40 ends with octet 72. The list counts points on full circles (code table 3.11).
LIST_BEGIN2, WHOLE_CIRCLES = 72, 1
MOST_ROWS = 20_000


@dataclass(frozen=True, slots=True)
class ReducedRows:
    """The number of points in each row, in the order of the message."""

    counts: tuple[int, ...]
    south_first: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the regular grid: as many columns as the longest row has points."""
        return len(self.counts), max(self.counts)

    @property
    def points(self) -> int:
        """The number of points in the message."""
        return sum(self.counts)

    def take(self, flat: NDArray[np.float64], window: Window) -> NDArray[np.float32]:
        """The values of a window of the regular grid, each from the nearest point in its row."""
        import numpy as np

        if flat.size != self.points:
            raise GribError(f"it has {flat.size} values, but lists {self.points} points in its rows")
        counts = np.array(self.counts if self.south_first else self.counts[::-1])
        begins = np.cumsum(self.counts) - self.counts
        begins = begins if self.south_first else begins[::-1]
        columns = np.concatenate([np.arange(part.start, part.stop) for part in window.cols])
        counts, begins = counts[window.rows, None], begins[window.rows, None]
        # Halfway between two points, the eastern one is used.
        nearest = (2 * columns * counts + self.shape[1]) // (2 * self.shape[1]) % counts
        return to_float32(flat[begins + nearest])


# Cached: every message of a file repeats the same section.
@lru_cache(maxsize=16)
def reduced_rows(edition: int, section: bytes) -> ReducedRows | None:
    """The rows of a reduced Gaussian grid; None for all other grids. Raises GribError if they cannot be used."""
    if not section:
        return None
    counts = _counts1(section) if edition == 1 else _counts2(section)
    if counts is None:
        return None
    if not counts or len(counts) > MOST_ROWS or min(counts) < SHORTEST_ROW:
        raise GribError("its reduced grid has no rows, too many, or a row with fewer than two points")
    scanning = unsigned(section, 28, 28) if edition == 1 else unsigned(section, 72, 72)
    if scanning & ~J_POSITIVE:
        raise GribError(f"scanning mode {scanning} is not supported on a reduced Gaussian grid")
    return ReducedRows(counts, bool(scanning & J_POSITIVE))


def _counts1(section: bytes) -> tuple[int, ...] | None:
    if section[5] != GAUSSIAN1 or unsigned(section, 7, 8) != NO_COLUMNS1:
        return None
    counts = row_list(section, 0)
    if counts is None:
        raise GribError("its reduced grid does not list the points of its rows")
    return tuple(counts)


def _counts2(section: bytes) -> tuple[int, ...] | None:
    if unsigned(section, 13, 14) != GAUSSIAN2 or optional(section, 31, 34) is not None:
        return None
    size, meaning, rows = unsigned(section, 11, 11), unsigned(section, 12, 12), unsigned(section, 35, 38)
    if not 1 <= size <= 4 or meaning != WHOLE_CIRCLES or LIST_BEGIN2 + size * rows > len(section):
        raise GribError("its reduced grid does not list the points of its rows around the globe")
    begins = range(LIST_BEGIN2 + 1, LIST_BEGIN2 + 1 + size * rows, size)
    return tuple(unsigned(section, begin, begin + size - 1) for begin in begins)
