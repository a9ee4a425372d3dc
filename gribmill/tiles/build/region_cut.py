"""One region on one grid: which part of a field its tile takes, and on which coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gribmill.regions.region import Region
from gribmill.regions.tile_options import Method
from gribmill.regions.window import Window, window
from gribmill.tiles.build.regrid import Regridder, regridder, target_axes
from gribmill.tiles.format.grid_record import axes_of, record_of
from gribmill.tiles.format.meta import GridRecord, Place
from gribmill.tiles.format.npz_writer import Member, member
from gribmill.tiles.read.tile import COORDINATES, KM_PER_DEGREE

if TYPE_CHECKING:
    from gribmill.regions.grids import Grid

Floats = npt.NDArray[np.float64]
Values = npt.NDArray[np.float32]
DEFAULT_METHOD: Method = "nearest"


@dataclass(frozen=True, slots=True)
class Cutter:
    """Cuts fields of one grid for one region: a window of the grid, or points of a regular one."""

    record: GridRecord
    place: Place
    y: Floats
    x: Floats
    # The same in every tile: encoded once.
    axes: tuple[Member, Member]
    # What it looks at of a field.
    window: Window
    regridder: Regridder | None = None

    def turn(self, grid: Grid) -> tuple[Floats, Floats]:
        """Cosine and sine of the grid's rotation at the window's points."""
        return _turn(grid, self.window.rows.start, self.window.rows.stop, _columns(self.window))

    def cut(self, part: Values, *, angle: bool = False) -> dict[str, Values]:
        """The region's values from its window of a field, keyed by what is appended to the variable's name."""
        if self.regridder is None:
            return {"": part}
        return (self.regridder.nearest if angle else self.regridder).apply(part)

    def method(self, *, angle: bool) -> str | None:
        """How values were chosen, where they are not the source's own points."""
        if self.regridder is None:
            return None
        return "nearest" if angle else self.place.method


@lru_cache(maxsize=512)
def cutter(grid: Grid, region: Region) -> Cutter | None:
    """The cutter of a region on a grid; None where no point of the grid lies in the region."""
    found = window(grid, region.box)
    if found is None:
        return None
    method = (region.method or DEFAULT_METHOD) if region.resolution else None
    west, south, east, north = region.box.as_list()
    place = Place(
        name=region.name,
        title=region.title,
        box=(west, south, east, north),
        resolution=region.resolution,
        method=method,
    )
    if region.resolution is None or method is None:
        y, x = axes_of(grid, found)
        own = record_of(grid, found)
        return Cutter(own, place, y, x, _axes(own, y, x), found)
    axes = target_axes(region.box, region.resolution)
    rows, columns = axes.shape
    record = GridRecord(
        kind="regular",
        mapping={"grid_mapping_name": "latitude_longitude", **_earth(grid)},
        definition=grid.spec(),
        cell_km=region.resolution * KM_PER_DEGREE,
        shape=axes.shape,
        source_shape=grid.shape,
        rows=(0, rows),
        cols=((0, columns),),
    )
    chosen = regridder(grid, region.box, region.resolution, method)
    return Cutter(record, place, axes.lat, axes.lon, _axes(record, axes.lat, axes.lon), chosen.window, chosen)


def _axes(record: GridRecord, y: Floats, x: Floats) -> tuple[Member, Member]:
    y_name, x_name = COORDINATES[record.kind]
    return member(y_name, y), member(x_name, x)


# The columns of a window are two numbers, or four across a seam: a key that can be hashed.
@lru_cache(maxsize=256)
def _turn(grid: Grid, start: int, stop: int, columns: tuple[tuple[int, int], ...]) -> tuple[Floats, Floats]:
    j = np.arange(start, stop)
    i = np.concatenate([np.arange(*part) for part in columns])
    lat, lon = grid.latlon(j[:, None], i[None, :])
    rotation = grid.rotation(lat, lon)
    return np.cos(rotation), np.sin(rotation)


def _columns(found: Window) -> tuple[tuple[int, int], ...]:
    return tuple((part.start, part.stop) for part in found.cols)


def _earth(grid: Grid) -> dict[str, float]:
    names = ("earth_radius", "semi_major_axis", "semi_minor_axis")
    return {name: value for name, value in grid.cf().items() if name in names}
