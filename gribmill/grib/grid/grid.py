"""The grid that a message describes, in the words of `gribmill.regions.grids`."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from gribmill.grib.errors import GribError
from gribmill.grib.grid import grib1_section as grid1
from gribmill.grib.grid import grib2_section as grid2
from gribmill.grib.grid.scan_order import layout1, layout2
from gribmill.regions.errors import RegionError

if TYPE_CHECKING:
    from gribmill.regions.grids import Grid

COMPONENTS_ALONG_GRID = 0x08
# Their axes are east and north everywhere, whatever the flag says: nothing needs turning, nor its other half.
UPRIGHT = frozenset(("lat-lon", "Gaussian", "Mercator", "reduced lat-lon", "reduced Gaussian"))


# Every message of a file repeats the same section: it is read once.
@lru_cache(maxsize=64)
def grid_of(edition: int, section: bytes) -> Grid:
    """The grid, in normal order (row 0 south, column 0 west); GribError where it is not supported."""
    from gribmill.grib.grid.build import make_grid

    if not section:
        raise GribError("it does not describe its grid")
    reader, layout = (grid1, layout1(section)) if edition == 1 else (grid2, layout2(section))
    if layout is None:
        raise reader.unsupported(section)
    try:
        return make_grid(reader.facts(section), layout)
    except RegionError as error:
        raise GribError(f"its grid is not valid: {error}") from None


@lru_cache(maxsize=64)
def grid_name(edition: int, section: bytes) -> str:
    """What kind of grid it is, in a word or two, supported or not."""
    if edition == 2:
        return grid2.name(section)
    return grid1.name(section) if section else "not described"


def grid_relative(edition: int, section: bytes) -> bool:
    """Whether u and v are along axes that are not east and north (bit 5 of the resolution and component flags)."""
    flags = grid1.flags(section) if edition == 1 else grid2.flags(section)
    return bool(flags & COMPONENTS_ALONG_GRID) and grid_name(edition, section) not in UPRIGHT
