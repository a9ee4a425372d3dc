"""The grid that a message describes, in the words of `gribmill.regions.grids`."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from gribmill.grib.errors import GribError
from gribmill.grib.grid import grib1_section as grid1
from gribmill.grib.grid import grib2_section as grid2
from gribmill.grib.sections import Sections1, Sections2
from gribmill.regions.errors import RegionError

if TYPE_CHECKING:
    from gribmill.grib.grid.scan_order import Layout
    from gribmill.regions.grids import Grid

COMPONENTS_ALONG_GRID = 0x08
# Their axes are east and north everywhere, whatever the flag says: nothing needs turning, nor its other half.
UPRIGHT = frozenset(("lat-lon", "Gaussian", "Mercator", "reduced lat-lon", "reduced Gaussian"))


def grid_of(sections: Sections1 | Sections2, layout: Layout | None) -> Grid:
    """The grid, in normal order (row 0 south, column 0 west); GribError where it is not supported."""
    if not sections.grid:
        raise GribError("it does not describe its grid")
    edition = 1 if isinstance(sections, Sections1) else 2
    return _grid(edition, sections.grid, layout)


def grid_name(sections: Sections1 | Sections2) -> str:
    """What kind of grid it is, in a word or two, supported or not."""
    return _name(1 if isinstance(sections, Sections1) else 2, sections.grid)


def grid_relative(sections: Sections1 | Sections2) -> bool:
    """Whether u and v are along axes that are not east and north (bit 5 of the resolution and component flags)."""
    flags = grid1.flags(sections.grid) if isinstance(sections, Sections1) else grid2.flags(sections.grid)
    return bool(flags & COMPONENTS_ALONG_GRID) and grid_name(sections) not in UPRIGHT


# Every message of a file repeats the same section: it is read once.
@lru_cache(maxsize=64)
def _name(edition: int, section: bytes) -> str:
    if edition == 2:
        return grid2.name(section)
    return grid1.name(section) if section else "not described"


@lru_cache(maxsize=64)
def _grid(edition: int, section: bytes, layout: Layout | None) -> Grid:
    from gribmill.grib.grid.build import make_grid

    reader = grid1 if edition == 1 else grid2
    if layout is None:
        raise reader.unsupported(section)
    try:
        return make_grid(reader.facts(section), layout)
    except RegionError as error:
        raise GribError(f"its grid cannot be: {error}") from None
