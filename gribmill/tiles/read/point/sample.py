"""Samples a run's tiles at a point, hour by hour, and derives wind speed and direction."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt

from gribmill.arrays import Floats, Values
from gribmill.grib.names.time_range import BUCKET, base_name
from gribmill.storage.layout import TileFolder
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.meta import VariableMeta
from gribmill.tiles.read.open_tiles import open_tiles
from gribmill.tiles.read.point.place import Place, Sampling, TileLocation, locate_in_tile
from gribmill.tiles.read.point.series import Column
from gribmill.tiles.read.point.windowed import INSTANT, SampleRow, WindowedColumns
from gribmill.tiles.read.tile import ReadAhead, Tile

# Variables, and the range of points to read of each.
ReadSpan = Callable[[Sequence[str], int, int], dict[str, Values]]
# From this many places on, inflating whole arrays once is cheaper than one segment per place.
MANY_PLACES = 24
CALM = 1e-6
# How the names of wind directions begin.
DIRECTION = "wdir"
# Keys of an identity that make a variable a statistic of an ensemble.
ENSEMBLE_STATISTICS = ("derived", "probability", "percentile")
# Averages have no such name: the magnitude of a mean wind is not the mean speed.
WIND_EAST = re.compile(r"u(\d+|_\d+|_surface)")
USUAL = (
    "t2m", "d2m", "rh2m", "ws10", "wdir10", "gust", "mslp", "sp", "tp", "prate", "asnow", "snod", "refc",
    "tcc", "vis", "cape", "cin", "dswrf", "pwat", "hpbl",
)  # fmt: skip


@dataclass(slots=True)
class Samples:
    """Values of every hour at the point, before anything is derived from them."""

    location: TileLocation
    first: Tile
    wanted: list[str] | None
    steps: list[int] = field(default_factory=list)
    rows: list[SampleRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unread: set[int] = field(default_factory=set)  # the rows whose tile cannot be read
    computed: SampleColumns | None = None

    def known(self) -> dict[str, VariableMeta]:
        """All variables that occur at any hour, with the metadata from the first of these hours."""
        return {name: quantity for row in reversed(self.rows) for name, (_, quantity) in row.items()}

    def values(self, name: str) -> list[float]:
        """A variable hour by hour; NaN if missing."""
        return [row[name][0] if name in row else math.nan for row in self.rows]

    def columns(self) -> list[Column]:
        """All requested columns, or the usual ones in their order."""
        names = self.wanted if self.wanted is not None else usual_names(self.known())
        return [self._column(name) for name in names]

    def _column(self, name: str) -> Column:
        if self.computed is None:
            self.computed = SampleColumns(self.steps, self._rows(), self.known(), self.values)
        column = self.computed.column(name)
        if column is None:
            there = self.first.meta.variables
            choices = ", ".join(sorted({*there, *derivable(there)}))
            raise TileError(f"{self.first.path.parent} has no {name}; it has {choices}")
        return column

    def _rows(self) -> Sequence[SampleRow]:
        """The rows, of which at least the variables over a time range are needed."""
        return self.rows


class SampleColumns:
    """The columns of samples: instants, quantities over time ranges, and those derived from others."""

    def __init__(
        self,
        steps: Sequence[int],
        rows: Sequence[SampleRow],
        known: dict[str, VariableMeta],
        values: Callable[[str], list[float]],
    ) -> None:
        self._known, self._values = known, values
        self._derived = _derivable(tuple(known))
        self._windowed = WindowedColumns(steps, rows, known)

    def column(self, name: str) -> Column | None:
        """The column of that name; None if no hour has it."""
        known = self._known.get(name)
        if known is not None and known.statistic == INSTANT:
            values = tuple(self._values(name))
            return Column(name, known.long_name, known.units, values, flags=known.flags, negated=known.negated)
        if column := self._windowed.column(name):
            return column
        if components := self.components(name):
            return self._wind(name, *components)
        return None

    def components(self, name: str) -> tuple[str, str] | None:
        """The eastward and northward component that a wind is derived from; None if it is no such wind."""
        return self._derived.get(name)

    def _wind(self, name: str, east: str, north: str) -> Column:
        level, units = self._known[east].level, self._known[east].units
        values = wind(name, *(np.array(self._values(one), np.float64) for one in (east, north)))
        if name.startswith(DIRECTION):
            return Column(name, f"wind direction, {level}", "°", tuple(values.tolist()))
        return Column(name, f"wind speed, {level}", units, tuple(values.tolist()))


def wind(name: str, u: Floats, v: Floats) -> Floats:
    """The direction or speed of the wind with these components, depending on the name of the column."""
    return wind_direction(u, v) if name.startswith(DIRECTION) else np.hypot(u, v)


def wind_direction(u: npt.ArrayLike, v: npt.ArrayLike) -> Floats:
    """The direction that the wind blows from, in degrees up to 360 (north); NaN if calm."""
    east, north = np.asarray(u, np.float64), np.asarray(v, np.float64)
    degrees = np.degrees(np.arctan2(-east, -north))
    degrees = np.where(degrees <= 0.0, degrees + 360.0, degrees)
    return np.where(np.hypot(east, north) < CALM, np.nan, degrees)


def sample_folder(
    folder: TileFolder, places: Sequence[Place], method: Sampling, wanted: list[str] | None
) -> list[Samples]:
    """All hours at each of the places; each tile is opened once.

    A damaged tile results in rows without values, and a note.
    """
    collected = [_Collected(place) for place in places]
    tiles = folder.tiles()
    plan = partial(_read_ahead, places=places, method=method, wanted=wanted)
    for step, tile in zip(tiles, open_tiles(tiles.values(), plan), strict=True):
        if isinstance(tile, TileError):
            for one in collected:
                one.add_missing(step, tile)
            continue
        read = _reader(tile, len(places))
        for one in collected:
            one.add(step, tile, method, wanted, read)
        tile.archive.release()
    return [one.samples(folder, wanted) for one in collected]


@dataclass(slots=True)
class _Collected:
    """The rows of one place while the tiles are read."""

    place: Place
    first: tuple[TileLocation, Tile] | None = None
    steps: list[int] = field(default_factory=list)
    rows: list[SampleRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unread: set[int] = field(default_factory=set)

    def add(self, step: int, tile: Tile, method: Sampling, wanted: list[str] | None, read: ReadSpan) -> None:
        try:
            location = self._locate(tile)
            row = _sample(location, tile, method, wanted, read)
        except TileError as error:
            self.add_missing(step, error)
            return
        self.first = self.first or (location, tile)
        self.steps.append(tile.meta.minutes)
        self.rows.append(row)

    def add_missing(self, step: int, error: TileError) -> None:
        self.unread.add(len(self.rows))
        self.steps.append(step)
        self.rows.append({})
        self.notes.append(str(error))

    def samples(self, folder: TileFolder, wanted: list[str] | None) -> Samples:
        if self.first is None:
            why = self.notes[0] if self.notes else "there are none"
            raise TileError(f"no tile in {folder.path} can be read: {why}")
        return Samples(*self.first, wanted, self.steps, self.rows, self.notes, self.unread)

    def _locate(self, tile: Tile) -> TileLocation:
        """The position in a tile, reused from the run's first tile if both have the same points."""
        if self.first is not None:
            location, like = self.first
            if tile.y is like.y and tile.x is like.x:
                return location
        found = locate_in_tile(tile, self.place.lat, self.place.lon)
        if found is None:
            raise TileError(f"{tile.path} does not contain the point, unlike other hours of the run")
        return found


def _read_ahead(tile: Tile, places: Sequence[Place], method: Sampling, wanted: list[str] | None) -> ReadAhead | None:
    """What will be read from tiles like this one."""
    names = _needed(tuple(tile.meta.variables), None if wanted is None else tuple(wanted))
    found = (tile.find(name) for name in wanted or ())
    every = tuple(dict.fromkeys((*names, *(name for name in found if name))))
    if len(places) >= MANY_PLACES:
        return ReadAhead(every, ((0, math.prod(tile.shape)),))
    located = (locate_in_tile(tile, place.lat, place.lon) for place in places)
    return ReadAhead(every, tuple(one.span(method) for one in located if one is not None))


def _reader(tile: Tile, places: int) -> ReadSpan:
    """Reads spans of points: for many places from arrays that are read whole, once."""
    if places < MANY_PLACES:
        return tile.read_span
    whole: dict[str, Values] = {}

    def read(names: Sequence[str], begin: int, end: int) -> dict[str, Values]:
        for name in names:
            if name not in whole:
                whole[name] = tile.read(name, copy=False).reshape(-1)
        return {name: whole[name][begin:end] for name in names}

    return read


def _sample(
    location: TileLocation, tile: Tile, method: Sampling, wanted: list[str] | None, read: ReadSpan
) -> SampleRow:
    begin, end = location.span(method)
    nearest = location.nearest - begin
    row: SampleRow = {}
    needed = needed_arrays(tile, wanted)
    values = read([stored for stored, _ in needed.values()], begin, end)
    for name, (stored, quantity) in needed.items():
        points = values[stored]
        # Neither is averaged: the mean of 350° and 10° is 0°, not 180°, and there is no code between rain and snow.
        between = method == "bilinear" and not _is_angle(quantity) and not quantity.flag_values
        row[name] = (location.bilinear(points, begin) if between else float(points[nearest]), quantity)
    return row


def needed_arrays(tile: Tile, wanted: list[str] | None) -> dict[str, tuple[str, VariableMeta]]:
    """The variables that these columns, or the usual ones, are derived from, with the array and metadata of each."""
    # Variables of another version of gribmill get the requested name.
    stored = {name: other for name in wanted or () if (other := tile.find(name)) not in (None, name)}
    names = _needed((*tile.meta.variables, *stored), None if wanted is None else tuple(wanted))
    # A tile with only spreads states this once for all its variables.
    of_all = {key: tile.meta.identity[key] for key in ENSEMBLE_STATISTICS if key in tile.meta.identity}
    found: dict[str, tuple[str, VariableMeta]] = {}
    for name in names:
        array = stored.get(name) or name
        quantity = tile.meta.variables[array]
        found[name] = array, replace(quantity, identity={**of_all, **quantity.identity}) if of_all else quantity
    return found


# All hours of a run except the first have the same variables.
@lru_cache(maxsize=16)
def _needed(known: tuple[str, ...], wanted: tuple[str, ...] | None) -> list[str]:
    if wanted is None:
        wanted = tuple(_usual(known, derivable(known)))
    # The same quantity over other time ranges helps to find the amount of each row.
    bases = {base_name(name) for name in wanted}
    needed = {name for name in known if base_name(name) in bases}
    for name, (u, v) in derivable(known).items():
        if name in wanted:
            needed |= {u, v}
    return sorted(needed)


# Many requests share the same hours.
@lru_cache(maxsize=64)
def _derivable(known: tuple[str, ...]) -> dict[str, tuple[str, str]]:
    return derivable(known)


def derivable(known: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Wind speed and direction for every pair of components: ws10 and wdir10 from u10 and v10."""
    names = set(known)
    found = {}
    for u in sorted(names):
        v = f"v{u[1:]}"
        if WIND_EAST.fullmatch(u) and v in names:
            for kind in ("ws", DIRECTION):
                if f"{kind}{u[1:]}" not in names:
                    found[f"{kind}{u[1:]}"] = (u, v)
    return found


def usual_names(known: Mapping[str, VariableMeta]) -> list[str]:
    """The columns that are shown if none are requested, in their order."""
    return _usual(known, _derivable(tuple(known)))


def _usual(known: Iterable[str], derived: dict[str, tuple[str, str]]) -> list[str]:
    """The usual variables, then the rest; without components whose speed and direction are shown."""
    names = {*known, *derived} - {name for pair in derived.values() for name in pair}
    names -= {name for name in names if _shown_by_another(name, names)}
    order = {name: number for number, name in enumerate(USUAL)}
    return sorted(names, key=lambda name: (order.get(name, len(order)), name))


def _shown_by_another(name: str, names: set[str]) -> bool:
    """Whether another column already has the same quantity over the shortest time ranges: `tp` instead of `tp_6h`."""
    base = base_name(name)
    return name != base and (base in names or (name != base + BUCKET and base + BUCKET in names))


def _is_angle(quantity: VariableMeta) -> bool:
    return quantity.units.lower().startswith(("degree", "°")) and "latitude" not in quantity.long_name
