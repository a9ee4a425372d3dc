"""What the tiles of a run say at a place, hour by hour, and what follows from it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from gribmill.storage.layout import TileFolder
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.meta import VariableMeta
from gribmill.tiles.read.point.deaccumulate import Total, amounts
from gribmill.tiles.read.point.locate import Place, Sampling, place_in
from gribmill.tiles.read.point.series import Column
from gribmill.tiles.read.tile import Tile, kept_tile

# What one hour says: each variable's value and the facts about it.
Row = dict[str, tuple[float, VariableMeta]]

ACCUMULATED = "accum"
BUCKET = "_bucket"  # what the lexicon appends to the name of a sum that does not start with the run
CALM = 1e-6
# Not averages of components: the length of a mean wind is not the mean speed.
WIND_EAST = re.compile(r"u(\d+|_\d+|_surface)")
USUAL = (
    "t2m", "d2m", "rh2m", "ws10", "wdir10", "gust", "mslp", "sp", "tp", "prate", "asnow", "snod", "refc",
    "tcc", "vis", "cape", "cin", "dswrf", "pwat", "hpbl",
)  # fmt: skip


@dataclass(slots=True)
class Samples:
    """Values of every hour at the place, before anything is derived from them."""

    place: Place
    first: Tile
    wanted: list[str] | None
    steps: list[int] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def columns(self) -> list[Column]:
        """Every column that was asked for, or those that people read, in their order."""
        known = {name: quantity for row in reversed(self.rows) for name, (_, quantity) in row.items()}
        derived = _derivable(known)
        names = self.wanted if self.wanted is not None else _usual(known, derived)
        found = []
        for name in names:
            if name in known:
                found.append(self._column(name, known[name]))
            elif name in derived:
                found.append(self._wind(name, *derived[name], known))
            else:
                there = self.first.meta.variables
                choices = ", ".join(sorted({*there, *_derivable(there)}))
                raise TileError(f"{self.first.path.parent} has no {name}; it has {choices}")
        return found

    def _column(self, name: str, quantity: VariableMeta) -> Column:
        if quantity.statistic == ACCUMULATED:
            return self._amounts(name, quantity)
        values = tuple(row[name][0] if name in row else math.nan for row in self.rows)
        return Column(name, quantity.long_name, quantity.units, values)

    def _amounts(self, name: str, quantity: VariableMeta) -> Column:
        """Amounts per interval, from run totals and from buckets, whichever the rows have."""
        totals = [
            [
                Total(*facts.step_minutes, value, facts.packing.step or 0.0)
                for value, facts in (row[each] for each in (name, name + BUCKET) if each in row)
            ]
            for row in self.rows
        ]
        found = amounts(self.steps, totals)
        return Column(
            name,
            quantity.long_name,
            quantity.units,
            tuple(amount.value for amount in found),
            tuple(amount.minutes for amount in found),
        )

    def _wind(self, name: str, u: str, v: str, known: dict[str, VariableMeta]) -> Column:
        pairs = [(row[u][0], row[v][0]) if u in row and v in row else (math.nan, math.nan) for row in self.rows]
        level = known[u].level
        if name.startswith("wdir"):
            return Column(name, f"wind direction, {level}", "°", tuple(wind_direction(*pair) for pair in pairs))
        return Column(name, f"wind speed, {level}", known[u].units, tuple(math.hypot(*pair) for pair in pairs))


def wind_direction(u: float, v: float) -> float:
    """Degrees from which the wind blows, 0 to 360 with north as 360; NaN in a calm, which has none."""
    if math.isnan(u) or math.isnan(v) or math.hypot(u, v) < CALM:
        return math.nan
    return math.degrees(math.atan2(-u, -v)) % 360.0 or 360.0


def sample_folder(folder: TileFolder, lat: float, lon: float, method: Sampling, wanted: list[str] | None) -> Samples:
    """Every hour at the place. A damaged one does not hide the others: it is a row without values, and a note."""
    first: tuple[Place, Tile] | None = None
    steps: list[int] = []
    rows: list[Row] = []
    notes: list[str] = []
    for step, path in folder.tiles().items():
        try:
            found = _find(path, lat, lon, first)
            row = _sample(*found, method, wanted)
        except TileError as error:
            steps.append(step)
            rows.append({})
            notes.append(str(error))
            continue
        first = first or found
        steps.append(found[1].meta.minutes)
        rows.append(row)
    if first is None:
        raise TileError(f"no tile in {folder.path} can be read: {notes[0] if notes else 'there is none'}")
    return Samples(*first, wanted, steps, rows, notes)


def _find(path: Path, lat: float, lon: float, first: tuple[Place, Tile] | None) -> tuple[Place, Tile]:
    """A tile and the place in it, which is that in the run's first tile if they have the same points."""
    if first is None:
        tile = kept_tile(path)
        place = place_in(tile, lat, lon)
    else:
        place, like = first
        tile = kept_tile(path, like)
        if tile.y is not like.y or tile.x is not like.x:
            place = place_in(tile, lat, lon)
    if place is None:
        raise TileError(f"{path} does not hold the place, unlike other hours of the run")
    return place, tile


def _sample(place: Place, tile: Tile, method: Sampling, wanted: list[str] | None) -> Row:
    begin, end = place.span(method)
    nearest = place.nearest - begin
    row: Row = {}
    names = _needed(tuple(tile.meta.variables), None if wanted is None else tuple(wanted))
    for name, points in tile.read_span(names, begin, end).items():
        quantity = tile.meta.variables[name]
        # Between 350° and 10° lies 0°, not 180°: directions are never averaged.
        between = method == "bilinear" and not _is_angle(quantity)
        row[name] = (place.bilinear(points, begin) if between else float(points[nearest]), quantity)
    return row


# The hours of a run have the same variables, but for the first.
@lru_cache(maxsize=16)
def _needed(known: tuple[str, ...], wanted: tuple[str, ...] | None) -> list[str]:
    if wanted is None:
        wanted = tuple(_usual(known, _derivable(known)))
    needed = {each for name in wanted for each in (name, name + BUCKET) if each in known}
    for name, (u, v) in _derivable(known).items():
        if name in wanted:
            needed |= {u, v}
    return sorted(needed)


def _derivable(known: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Wind speed and direction for every pair of components: ws10 and wdir10 from u10 and v10."""
    names = set(known)
    found = {}
    for u in sorted(names):
        v = f"v{u[1:]}"
        if WIND_EAST.fullmatch(u) and v in names:
            for kind in ("ws", "wdir"):
                if f"{kind}{u[1:]}" not in names:
                    found[f"{kind}{u[1:]}"] = (u, v)
    return found


def _usual(known: Iterable[str], derived: dict[str, tuple[str, str]]) -> list[str]:
    """What people read first, then the rest; components whose speed and direction are shown stay out."""
    names = {*known, *derived} - {name for pair in derived.values() for name in pair}
    names -= {name for name in names if name.endswith(BUCKET) and name.removesuffix(BUCKET) in names}
    order = {name: number for number, name in enumerate(USUAL)}
    return sorted(names, key=lambda name: (order.get(name, len(order)), name))


def _is_angle(quantity: VariableMeta) -> bool:
    return quantity.units.lower().startswith(("degree", "°")) and "latitude" not in quantity.long_name
