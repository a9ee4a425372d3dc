"""Cuts fields on one grid for one region, and describes the tile's coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from gribmill.arrays import Floats, Values
from gribmill.regions.grids import MOST_POINTS, Grid
from gribmill.regions.grids.earth import KM_PER_DEGREE
from gribmill.regions.region import Region
from gribmill.regions.tile_options import Method
from gribmill.regions.window import Window, window
from gribmill.tiles.build.regrid import Cells, Regridder, regridder, target_axes
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.meta import COORDINATES, GridRecord, RegionRecord
from gribmill.tiles.format.npz_writer import Member, encode_member
from gribmill.tiles.format.tile_grid import BLOCK_POINTS, grid_record, window_axes

DEFAULT_METHOD: Method = "nearest"
# Numbers may be averaged. For directions the nearest point is used, for codes the nearest or most frequent value.
MOST_FREQUENT = "most frequent"
ValueKind = Literal["number", "angle", "code"]


@dataclass(frozen=True, slots=True)
class RegionCut:
    """Cuts fields on one grid for one region: to a window of the grid, or regridded to a regular grid."""

    record: GridRecord
    region: RegionRecord
    y: Floats
    x: Floats
    # Encoded once, because they are the same in every tile.
    axes: tuple[Member, Member]
    # The part of a field that it needs.
    window: Window
    regridder: Regridder | None = None

    def rotation(self, grid: Grid) -> tuple[Floats, Floats]:
        """Cosine and sine of the grid's rotation at the window's points."""
        return _rotation(grid, self.window.rows.start, self.window.rows.stop, _columns(self.window))

    def cut(self, part: Values, kind: ValueKind = "number") -> dict[str, Values]:
        """The region's values from its window of a field, by the suffix added to the variable's name."""
        if self.regridder is None:
            return {"": part}
        if kind == "number":
            return self.regridder.apply(part)
        if kind == "code" and isinstance(self.regridder, Cells):
            return {"": self.regridder.most_frequent(part)}
        return self.regridder.nearest.apply(part)

    def method(self, kind: ValueKind) -> str | None:
        """The regridding method; None if the tile keeps the source's points."""
        if self.regridder is None:
            return None
        if kind == "number":
            return self.region.method
        return MOST_FREQUENT if kind == "code" and isinstance(self.regridder, Cells) else "nearest"


@lru_cache(maxsize=512)
def region_cut(grid: Grid, region: Region) -> RegionCut | None:
    """The cut of a region on a grid; None if no point of the grid is in the region."""
    ny, nx = grid.shape
    if ny * nx > MOST_POINTS:
        raise TileError(f"a grid of {ny} × {nx} = {ny * nx} points is more than the limit of {MOST_POINTS}")
    found = window(grid, region.box)
    if found is None:
        return None
    method = (region.method or DEFAULT_METHOD) if region.resolution else None
    west, south, east, north = region.box.as_list()
    described = RegionRecord(
        name=region.name,
        title=region.title,
        box=(west, south, east, north),
        resolution=region.resolution,
        method=method,
    )
    if region.resolution is None or method is None:
        y, x = window_axes(grid, found)
        own = grid_record(grid, found)
        return RegionCut(own, described, y, x, _axes(own, y, x), found)
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
    return RegionCut(record, described, axes.lat, axes.lon, _axes(record, axes.lat, axes.lon), chosen.window, chosen)


def _axes(record: GridRecord, y: Floats, x: Floats) -> tuple[Member, Member]:
    y_name, x_name = COORDINATES[record.kind]
    return encode_member(y_name, y), encode_member(x_name, x)


# Columns are given as numbers, because slices are not hashable before Python 3.12; two parts if they cross the seam.
@lru_cache(maxsize=256)
def _rotation(grid: Grid, start: int, stop: int, columns: tuple[tuple[int, int], ...]) -> tuple[Floats, Floats]:
    j = np.arange(start, stop)
    i = np.concatenate([np.arange(*part) for part in columns])
    cosine, sine = np.empty((len(j), len(i))), np.empty((len(j), len(i)))
    step = max(1, BLOCK_POINTS // len(i))
    for begin in range(0, len(j), step):
        block = slice(begin, begin + step)
        rotation = grid.rotation(*grid.latlon(j[block, None], i[None, :]))
        np.cos(rotation, out=cosine[block])
        np.sin(rotation, out=sine[block])
    return cosine, sine


def _columns(found: Window) -> tuple[tuple[int, int], ...]:
    return tuple((part.start, part.stop) for part in found.cols)


def _earth(grid: Grid) -> dict[str, float]:
    names = ("earth_radius", "semi_major_axis", "semi_minor_axis")
    return {name: value for name, value in grid.cf().items() if name in names}
