"""Cuts fields for regions: the windows of a grid that regions need, and the values in them.

Numbers that mean "no value" are replaced with NaN before anything is computed from them, and grid-relative winds are
rotated to east and north.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np

from gribmill.arrays import Floats, Marks, Values
from gribmill.grib.decode.field import Field
from gribmill.grib.decode.winds import pairs, rotate
from gribmill.regions.grids import MOST_POINTS, Grid
from gribmill.regions.grids.grid import KM_PER_DEGREE
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
# The eastward and the northward component, each as values by the suffix of their name.
BothComponents = tuple[dict[str, Values], dict[str, Values]]


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


@dataclass(frozen=True, slots=True)
class FieldWindows:
    """The decoded windows of one field."""

    windows: dict[Window, Values]
    # The number of points with a fill value in each window.
    filled: dict[Window, int] = field(default_factory=dict)

    @classmethod
    def of(cls, item: Field, cuts: Sequence[RegionCut], fill: FillRule | None = None) -> FieldWindows:
        """The windows of these regions, decoded in one pass, with NaN in place of fill values."""
        windows = list(dict.fromkeys(cut.window for cut in cuts))
        parts = dict(zip(windows, item.cut(windows), strict=True))
        filled = {}
        if fill:
            for one, part in parts.items():
                parts[one], filled[one] = fill.apply(part, item.packing.step)
        return cls(parts, filled)

    def cut(self, region: RegionCut, kind: ValueKind = "number") -> dict[str, Values]:
        """The region's values."""
        return region.cut(self.windows[region.window], kind)


@dataclass(frozen=True, slots=True)
class FillRule:
    """The numbers that mean "no value": the fill values, and all numbers below the smallest valid one.

    The latter result from interpolation between values and fill values by the publisher.
    """

    fill_values: tuple[float, ...] = ()
    valid_min: float | None = None

    def __bool__(self) -> bool:
        return bool(self.fill_values) or self.valid_min is not None

    def apply(self, values: Values, step: float | None) -> tuple[Values, int]:
        """The values with NaN in place of such numbers (the same array if there are none), and how many there were.

        Packing rounds values, so numbers are compared with a tolerance of half a packing step.
        """
        marks = self._marks(values, (step or 0.0) / 2)
        count = int(np.count_nonzero(marks))
        return (np.where(marks, np.float32(np.nan), values) if count else values), count

    def _marks(self, values: Values, tolerance: float) -> Marks:
        marks = np.zeros(values.shape, np.bool_)
        for fill in self.fill_values:
            marks |= np.abs(values - np.float32(fill)) <= max(tolerance, abs(fill) * float(np.finfo(np.float32).eps))
        if self.valid_min is not None:
            marks |= values < self.valid_min - tolerance
        return marks


@dataclass(frozen=True, slots=True)
class WindComponent:
    """The eastward (0) or northward (1) component of a grid-relative wind."""

    number: int
    pair: WindPair

    def cut(self, region: RegionCut, kind: ValueKind = "number") -> dict[str, Values]:
        """The region's values, relative to the earth."""
        return self.pair.cut(region)[self.number]


class WindPair:
    """u and v of one wind: decoded once, rotated once per region, released when both have been cut."""

    def __init__(self, u: Field, v: Field) -> None:
        self.fields = (u, v)
        self._regions: Sequence[RegionCut] = ()
        self._parts: tuple[FieldWindows, FieldWindows] | None = None
        self._cuts: dict[int, BothComponents] = {}

    def expect(self, cuts: Sequence[RegionCut]) -> None:
        """Set the regions for which both components are decoded at the first cut."""
        if self._parts is None:
            self._regions = cuts

    def cut(self, region: RegionCut) -> BothComponents:
        """Both components for one region. The second call returns the result of the first and releases it."""
        if id(region) in self._cuts:
            return self._cuts.pop(id(region))
        self._cuts[id(region)] = self._cut(region)
        return self._cuts[id(region)]

    def _cut(self, region: RegionCut) -> BothComponents:
        if self._parts is None:
            u, v = self.fields
            self._parts = (FieldWindows.of(u, self._regions), FieldWindows.of(v, self._regions))
        return self._rotated(region, *self._parts)

    def _rotated(self, region: RegionCut, u: FieldWindows, v: FieldWindows) -> BothComponents:
        both = u.windows[region.window], v.windows[region.window]
        east, north = rotate(*both, *region.rotation(self.fields[0].grid))
        return region.cut(east), region.cut(north)


class WindPairs:
    """The winds of a file, as pairs of components."""

    def __init__(self, items: Sequence[Field]) -> None:
        self._components: dict[tuple[int, int], WindComponent] = {}
        for u, v in pairs([item for item in items if item.layout is not None]):
            both = WindPair(u, v)
            self._components[u.number, u.sub] = WindComponent(0, both)
            self._components[v.number, v.sub] = WindComponent(1, both)

    def component(self, item: Field, cuts: Sequence[RegionCut]) -> WindComponent | None:
        """The field as a component, to be cut for these regions; None if the file lacks the other component."""
        found = self._components.pop((item.number, item.sub), None)
        if found is not None:
            found.pair.expect(cuts)
        return found


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
