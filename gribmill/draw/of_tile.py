"""Makes a drawable from a variable of a tile. Large fields are thinned to blocks of points."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gribmill.arrays import Floats, Values
from gribmill.draw.drawable import Barbs, Drawable, GridLike, ShownUnits, ValueRange
from gribmill.draw.errors import DrawError
from gribmill.draw.palette import palettes
from gribmill.draw.raster import nearest, resized
from gribmill.grib.names.lexicon import lexicon
from gribmill.regions.grids import Grid
from gribmill.tiles.format.tile_grid import cached_grid
from gribmill.tiles.read.point.sample import USUAL
from gribmill.tiles.read.tile import Tile
from gribmill.tiles.read.units import Conversion, System, conversion, conversion_for, shown_unit

CELL_STATISTICS = ("_mean", "_min", "_max")  # suffixes of cell statistics
# Larger fields are thinned. Twice as many as a map on a full page has pixels.
MOST_POINTS = 4_000_000
BAND_POINTS = 2**20  # read at once
UPPER_HPA = 600  # jet-stream colours from this level up


def main_variable(tile: Tile) -> str:
    """The default variable: the temperature, or else the first usual variable in the tile."""
    if not tile.names:
        raise DrawError(f"{tile.path} has no variable to draw")
    return next((name for name in USUAL if name in tile.meta.variables), tile.names[0])


def drawable_of(tile: Tile, name: str, units: System = "metric", limits: ValueRange = (None, None)) -> Drawable:
    """A stored variable, or wind speed: `ws10` from u10 and v10, `ws_500` from u_500 and v_500.

    `limits` are the ends of its scale, in the units shown.
    """
    pair = _components(tile, name)
    facts = tile.meta.variables.get(pair[0] if pair else tile.find(name) or name)
    if facts is None:
        tile.read(name)  # raises an error that lists the available variables
        raise AssertionError(name)
    side = block_side(tile.shape)
    if pair:
        values = np.hypot(*(read_thinned(tile, part, side, codes=False) for part in pair))
        long_name, palette = f"Wind speed at {facts.level}".replace(" mb", " hPa"), wind_palette(name)
    else:
        long_name, palette = facts.long_name, palette_of(name)
        codes = bool(facts.flags) or palette == "direction" or palettes()[palette].categories
        values = read_thinned(tile, name, side, codes=codes)
    grid = None if tile.regular else _thinned_grid(window_grid(tile), side)
    meta, (lat, lon) = tile.meta, _coordinates(tile, grid, side)
    return Drawable(
        values=values,
        lat=lat,
        lon=lon,
        units=facts.units,
        long_name=long_name,
        name=name,
        palette=palette,
        model=meta.model,
        run=f"{meta.run_time:%Y-%m-%d %HZ}",
        region=meta.region.title or meta.region.name,
        valid=meta.valid_time,
        hour=meta.minutes / 60,
        attribution=meta.attribution or "",
        grid=grid,
        box=meta.region.box,
        shown=_shown(name, facts.units, units),
        limits=limits if limits != (None, None) else _own_limits(name, facts.units, units),
        flags={} if pair else facts.flags,
    )


def barbs_of(tile: Tile, level: str | None = None) -> Barbs:
    """The wind at a level, by the ending of its names (`10`, `_500`); at 10 m, or where there is one, by default."""
    levels = sorted((name[1:] for name in tile.names if _components(tile, f"ws{name[1:]}", stored=True)), key=_first_10)
    wanted = level if level is not None else next(iter(levels), "10")
    if wanted not in levels:
        have = ", ".join(dict.fromkeys(levels)) or "none"
        raise DrawError(f"{tile.path} has no u{wanted} and v{wanted} for barbs; levels with both: {have}")
    side = block_side(tile.shape)
    u, v = (read_thinned(tile, f"{letter}{wanted}", side, codes=False) for letter in "uv")
    return Barbs(u, v)


def palette_of(name: str) -> str:
    """The lexicon's palette for a variable or a cell statistic; `generic` if it is not in the lexicon."""
    known = lexicon().get(name)
    for ending in CELL_STATISTICS:
        if known is None and name.endswith(ending):
            known = lexicon().get(name.removesuffix(ending))
    return known.palette if known else "generic"


def _own_limits(name: str, unit: str, system: System) -> ValueRange:
    """The range that a user's own variable defines, in the units shown."""
    known = lexicon().get(name)
    if known is None or not known.own_range:
        return None, None
    chosen = palettes()[known.palette]
    convert = conversion_for(name, unit, system)
    if system == "metric":
        convert = (conversion(unit, chosen.units) if chosen.units else None) or Conversion()
    low, high = (value * convert.factor + convert.offset for value in known.range)
    return low, high


def window_grid(tile: Tile) -> Grid:
    """The part of the source grid that the tile covers."""
    record = tile.meta.grid
    (rows, columns), first_column = record.shape, record.cols[0][0]
    return cached_grid(record, str(tile.path)).part(record.rows[0], rows, first_column, columns)


def _shown(name: str, unit: str, system: System) -> ShownUnits | None:
    """The units of a system; None for metric ones, which the palettes use."""
    if system == "metric":
        return None
    return ShownUnits(shown_unit(name, unit, system), conversion_for(name, unit, system))


def _thinned_grid(grid: Grid, side: int) -> GridLike:
    return grid if side == 1 else ThinnedGrid(grid, side)


def _coordinates(tile: Tile, grid: GridLike | None, side: int) -> tuple[Floats, Floats]:
    if grid is None:
        return thinned_axis(tile.y, side), thinned_axis(tile.x, side)
    if side == 1:
        return tile.latlon()
    rows, columns = (size // side for size in tile.shape)
    return grid.latlon(np.arange(rows)[:, None], np.arange(columns)[None, :])


def _components(tile: Tile, name: str, *, stored: bool = False) -> tuple[str, str] | None:
    """The two winds whose speed a name means; None where the tile stores that speed itself, unless `stored`."""
    if not name.startswith("ws") or (name in tile.meta.variables and not stored):
        return None
    u, v = (f"{letter}{name.removeprefix('ws')}" for letter in "uv")
    return (u, v) if {u, v} <= set(tile.meta.variables) else None


def _first_10(level: str) -> tuple[bool, str]:
    return level != "10", level


def wind_palette(name: str) -> str:
    level = name.removeprefix("ws_")
    return "wind_upper" if level.isdigit() and int(level) <= UPPER_HPA else "wind"


def block_side(shape: tuple[int, int]) -> int:
    """The side of the blocks that become one point; 1 for a field that is not thinned."""
    return max(1, ceil(sqrt(shape[0] * shape[1] / MOST_POINTS)))


def read_thinned(tile: Tile, name: str, side: int, *, codes: bool) -> Values:
    """The means of blocks of side × side points, or the middle points of codes. The lowest and the highest value of
    all points are kept, each in the place of its block."""
    if side == 1:
        return tile.read(name)
    stored = tile.find(name) or name
    rows, columns = (size // side for size in tile.shape)
    thin = np.empty((rows, columns), np.float32)
    step = max(1, BAND_POINTS // (tile.shape[1] * side))
    low, high = _Extreme(-1.0), _Extreme(1.0)
    for begin in range(0, rows, step):
        end = min(begin + step, rows)
        band = tile.read_rows([stored], begin * side, end * side)[stored][:, : columns * side]
        thin[begin:end] = (nearest if codes else resized)(band, end - begin, columns)
        for extreme in (low, high):
            extreme.look(band, begin, side)
    if not codes:
        for extreme in (low, high):
            extreme.put(thin)
    return thin


@dataclass(slots=True)
class _Extreme:
    """The highest value times a sign, and its block."""

    sign: float
    value: float = -np.inf
    place: tuple[int, int] | None = None

    def look(self, band: Values, begin: int, side: int) -> None:
        signed = np.where(np.isfinite(band), band * np.float32(self.sign), -np.inf)
        row, column = divmod(int(signed.argmax()), band.shape[1])
        if signed[row, column] > self.value:
            self.value, self.place = float(signed[row, column]), (begin + row // side, column // side)

    def put(self, thin: Values) -> None:
        if self.place is not None:
            thin[self.place] = self.value * self.sign


@dataclass(frozen=True, slots=True)
class ThinnedGrid:
    """A grid by blocks of its points."""

    grid: GridLike
    side: int

    def latlon(self, j: ArrayLike, i: ArrayLike, /) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self.grid.latlon(self._fine(j), self._fine(i))

    def index(self, lat: ArrayLike, lon: ArrayLike, /) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        row, column = self.grid.index(lat, lon)
        middle = (self.side - 1) / 2
        return (row - middle) / self.side, (column - middle) / self.side

    def _fine(self, place: ArrayLike) -> Floats:
        return np.asarray(place, np.float64) * self.side + (self.side - 1) / 2


def thinned_axis(axis: Floats, side: int) -> Floats:
    """The centres of the blocks along one axis."""
    blocks = len(axis) // side
    return np.asarray(axis[: blocks * side].reshape(blocks, side).mean(axis=1))
