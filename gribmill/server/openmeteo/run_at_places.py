"""One run at several places, in common units, with its values at the times of a response."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from gribmill.arrays import Floats, Indices, Marks
from gribmill.identity import run_time
from gribmill.server.data.point_answer import PointSource, without_paths
from gribmill.server.openmeteo.errors import OpenMeteoError
from gribmill.server.openmeteo.hourly import Hourly, hourly_values
from gribmill.storage.layout import TileFolder
from gribmill.tiles.errors import TileError, VanishedRun
from gribmill.tiles.read.point.kept_tiles import NotKept, check_there
from gribmill.tiles.read.point.place import Place
from gribmill.tiles.read.point.point import PointRequest, shown_as
from gribmill.tiles.read.point.point_table import PointTable
from gribmill.tiles.read.point.series import Column, Series
from gribmill.tiles.read.units import System

UNITS: System = "common"
# In seconds since 1970.
Times = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """The times of a section, `step` seconds apart."""

    times: Times
    step: int


class NotTogether(Exception):
    """The places must be read one by one: a tile is damaged, or does not contain all of them."""


@dataclass(slots=True, eq=False)
class RunAtPlaces:
    """`table` has the values of all places; None for a single place whose tiles cannot be cached."""

    source: PointSource
    request: PointRequest
    folder: TileFolder
    places: Sequence[Place]
    table: PointTable | None
    start: int
    """In seconds since 1970."""
    hours: Times
    """The hours of the table, in seconds since 1970."""
    longest_gap: int | None
    """The seconds between the hours that are furthest apart; None if they are not in order."""
    known: dict[int, Series] = field(default_factory=dict)
    spread: dict[tuple[str, int], list[Hourly]] = field(default_factory=dict)
    aligned: dict[Moments, slice | tuple[Indices, Marks]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        source: PointSource,
        places: Sequence[Place],
        folder: TileFolder,
        names: tuple[str, ...],
        base: PointRequest,
    ) -> RunAtPlaces:
        """Exactly this run: a newer one may lack some of the variables. Raises OpenMeteoError if it cannot be read."""
        request = PointRequest(base.root, folder.model, folder.run, folder.region, names or None, units=UNITS)
        try:
            table = source.tiles.table(folder, places, [*names] if names else None, wait=source.wait)
        except VanishedRun:
            raise
        except TileError:
            table = None
        if table is None and len(places) > 1:
            raise NotTogether
        start = int(run_time(folder.run).timestamp())
        hours = start + 60 * np.array([] if table is None else table.layout.steps, np.int64)
        apart = np.diff(hours)
        longest_gap = int(apart.max(initial=0)) if (apart > 0).all() else None
        found = cls(source, request, folder, places, table, start, hours, longest_gap)
        if table is None:
            found.series(0)
        return found

    def series(self, place: int) -> Series:
        """The forecast at one of the places."""
        if place not in self.known:
            self.known[place] = self._series(self.places[place], self.request)
        return self.known[place]

    @property
    def points(self) -> tuple[Sequence[float], Sequence[float]]:
        """Latitudes and longitudes of the grid points of the places."""
        if self.table is not None:
            return self.table.locations.lats, self.table.locations.lons
        each = [self.series(place) for place in range(len(self.places))]
        return [one.point_lat for one in each], [one.point_lon for one in each]

    @property
    def facts(self) -> Series:
        """The forecast at the first place, of which some columns may be missing: its run, attribution and notes."""
        if self.table is None or 0 in self.known:
            return self.series(0)
        return self._series(self.places[0], replace(self.request, variables=self.table.layout.names[:1]))

    def column(self, name: str) -> Column | None:
        """The column without values; None if the run does not have it."""
        if self.table is None:
            return self.series(0).columns.get(name)
        layout = self.table.layout.columns.get(name)
        if layout is None:
            return self.series(0).columns.get(name) if name in self.table.layout.names else None
        return shown_as(layout.like, UNITS)[0]

    def rows(self, name: str) -> Floats:
        """A column as places × hours of the run."""
        found = self._together(name)
        if found is None:
            found = np.array([self.series(place).columns[name].values for place in range(len(self.places))], np.float64)
        return found

    def values(self, name: str, moments: Moments) -> Floats:
        """A column as places × times; NaN where there is no value."""
        column = self.table.layout.columns.get(name) if self.table is not None else None
        found = self._together(name) if column is not None and self._fits(column.like, moments.step) else None
        if column is None or found is None:
            return np.array(
                [
                    [one.get(moment, math.nan) for moment in moments.times.tolist()]
                    for one in self._spread(name, moments.step)
                ]
            )
        if column.like.windows is not None:
            found[:, [window is None for window in column.like.windows]] = np.nan
        rows = self._alignment(moments)
        if isinstance(rows, slice):
            return found[:, rows]
        return np.where(rows[1], found.take(rows[0], axis=1), np.nan)

    def _alignment(self, moments: Moments) -> slice | tuple[Indices, Marks]:
        """The hours of the run at these times; if it does not have all of them, with marks of those that it has."""
        if moments not in self.aligned:
            times = moments.times
            rows = np.searchsorted(self.hours, times).clip(0, len(self.hours) - 1)
            there: Marks = (self.hours[rows] == times) & (times % moments.step == 0)
            first, last = (int(rows[0]), int(rows[-1])) if len(rows) else (0, -1)
            whole = bool(there.all()) and last - first + 1 == len(rows)
            self.aligned[moments] = slice(first, last + 1) if whole else (rows, there)
        return self.aligned[moments]

    def _fits(self, column: Column, step: int) -> bool:
        """Whether no value has to be interpolated, spread over several times, or combined with others."""
        if self.longest_gap is None:
            return False
        if column.windows is None:
            return bool(column.flags) or self.longest_gap <= step
        windows = [window for window in column.windows if window is not None]
        return all(60 * (end - begin) == step and (self.start + 60 * end) % step == 0 for begin, end in windows)

    def _together(self, name: str) -> Floats | None:
        """A column as places × hours of the run, if it can be computed for all places at once."""
        found = None if self.table is None else self.table.values(name)
        if self.table is None or found is None:
            return None
        _, change = shown_as(self.table.layout.columns[name].like, UNITS)
        return found if change is None else change(found)

    def _spread(self, name: str, step: int) -> list[Hourly]:
        if (name, step) not in self.spread:
            each = [self.series(place) for place in range(len(self.places))]
            self.spread[name, step] = [hourly_values(one, one.columns[name], step) for one in each]
        return self.spread[name, step]

    def _series(self, place: Place, request: PointRequest) -> Series:
        try:
            (found,) = self.source.series([place], request)
        except VanishedRun:
            raise
        except TileError as error:
            found = error
        if isinstance(found, TileError):
            if not self.source.wait:
                raise NotKept
            check_there(self.folder)
            raise OpenMeteoError(without_paths(self.request.root, str(found)))
        return found
