"""The forecasts for some places by one model, and the columns that are read or computed from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from gribmill.arrays import Floats
from gribmill.identity import run_time
from gribmill.server.data.point_answer import PointSource
from gribmill.server.openmeteo.derived import DERIVED
from gribmill.server.openmeteo.errors import OpenMeteoError
from gribmill.server.openmeteo.forecast_request import ForecastRequest
from gribmill.server.openmeteo.period import Period
from gribmill.server.openmeteo.run_at_places import Moments, RunAtPlaces
from gribmill.server.openmeteo.sun import is_up
from gribmill.server.openmeteo.units import UNDEFINED, Units, to_unit
from gribmill.server.openmeteo.variables import ForecastVariable, current_name, hourly_variable
from gribmill.storage.layout import TileFolder
from gribmill.tiles.errors import VanishedRun
from gribmill.tiles.read.point.place import Place
from gribmill.tiles.read.point.point import PointRequest

# The maximum number of earlier runs that supply hours before the start of the run.
MOST_EARLIER_RUNS = 60
OROGRAPHY, TEMPERATURE = "orog", "t2m"
# Kelvin per metre, as Open-Meteo uses.
LAPSE_RATE = 0.0065
IS_DAY = "is_day"


@dataclass(slots=True)
class PlacesForecast:
    """The forecasts for places with the same runs: from the chosen run, then from earlier ones.

    Values are arrays of places × times.
    """

    runs: list[RunAtPlaces]
    elevations: Floats
    """Elevation of the model's orography at each place; NaN if the tiles do not contain it."""
    warmer: Floats
    """The temperature correction at each place, from the model's elevation to the requested one."""

    @classmethod
    def of(
        cls,
        source: PointSource,
        places: Sequence[Place],
        base: PointRequest,
        folder: TileFolder,
        request: ForecastRequest,
        period: Period,
        asked: Sequence[float | None],
    ) -> PlacesForecast:
        variables = request.variables
        runs = [RunAtPlaces.of(source, places, folder, _columns(source, folder, variables), base)]
        begin = request.begin(period)
        if begin <= runs[0].start:
            for earlier in _earlier(source, folder, begin):
                try:
                    here = _columns(source, earlier, variables)
                    runs.append(RunAtPlaces.of(source, places, earlier, here, base))
                except (OpenMeteoError, VanishedRun):
                    continue
        elevations = _elevations(runs[0])
        wanted = np.array([math.nan if one is None else one for one in asked])
        return cls(runs, elevations, np.nan_to_num((elevations - wanted) * LAPSE_RATE))

    def column(self, variable: ForecastVariable, moments: Moments, units: Units) -> tuple[str, Floats]:
        """The unit and the values of a variable at these times, NaN where none or infinite; no unit if the variable is
        not available."""
        if variable.name == IS_DAY:
            return variable.unit, self._is_day(moments)
        unit = units.of(variable.unit)
        values = self._values(variable, moments, unit, self.warmer[:, None])
        if values is None:
            return UNDEFINED, np.full((len(self.elevations), len(moments.times)), np.nan)
        return unit, _finite(values)

    @property
    def points(self) -> tuple[Sequence[float], Sequence[float]]:
        """Latitudes and longitudes of the grid points of the places."""
        return self.runs[0].points

    def _is_day(self, moments: Moments) -> Floats:
        lats, lons = (np.array(axis)[:, None] for axis in self.points)
        return is_up(moments.times.astype(np.float64), lats, lons)

    def _values(
        self, variable: ForecastVariable, moments: Moments, unit: str, warmer: Floats | None = None
    ) -> Floats | None:
        """Read from the model's own variable, or computed from others; None if neither is possible."""
        for name in variable.columns:
            column = next((found for run in self.runs if (found := run.column(name)) is not None), None)
            if column is not None:
                values = self._at(name, moments)
                if name == TEMPERATURE and warmer is not None:
                    values = values + warmer
                return to_unit(column.units, unit)(values)
        if not variable.made_of:
            return None
        parts = (hourly_variable(name, "hourly") for name in variable.made_of)
        others = [self._values(one, moments, one.unit) for one in parts]
        derived = DERIVED[current_name(variable.name)](others)
        return None if derived is None else to_unit(variable.unit, unit)(derived)

    def _at(self, name: str, moments: Moments) -> Floats:
        """Values from the chosen run; before its start, from the newest earlier run that has the hour."""
        found: Floats | None = None
        for run in self.runs:
            if run.column(name) is None:
                continue
            here = run.values(name, moments)
            if run is not self.runs[0]:
                here = np.where(moments.times <= self.runs[0].start, here, np.nan)
            found = here if found is None else np.where(np.isnan(found), here, found)
        assert found is not None
        return found


def _finite(values: Floats) -> Floats:
    """The values, with NaN instead of infinity."""
    return np.where(np.isinf(values), np.nan, values)


def _elevations(run: RunAtPlaces) -> Floats:
    """The first known elevation of each place."""
    if run.column(OROGRAPHY) is None:
        return np.full(len(run.places), np.nan)
    rows = _finite(run.rows(OROGRAPHY))
    first = np.argmax(~np.isnan(rows), axis=1)
    return np.asarray(rows[np.arange(len(rows)), first])


def _columns(source: PointSource, folder: TileFolder, variables: Sequence[ForecastVariable]) -> tuple[str, ...]:
    """The variables that the run has at any hour."""
    there = source.tiles.folder(folder, wait=source.wait).names
    wanted = [name for one in variables for name in _needed(one, there)]
    return tuple(dict.fromkeys(name for name in (*wanted, OROGRAPHY) if name in there)) or tuple(sorted(there)[:1])


def _needed(variable: ForecastVariable, there: frozenset[str]) -> tuple[str, ...]:
    if not variable.made_of or not there.isdisjoint(variable.columns):
        return variable.columns
    return tuple(name for one in variable.made_of for name in hourly_variable(one, "hourly").columns)


def _earlier(source: PointSource, folder: TileFolder, begin: float) -> list[TileFolder]:
    """Earlier runs, newest first, back to the one that contains the first hour."""

    def look() -> list[TileFolder]:
        every = source.tiles.root.tile_folders(folder.model, None, folder.region)
        return list(islice((one for one in every if one.run < folder.run), MOST_EARLIER_RUNS))

    found: list[TileFolder] = []
    for one in source.tiles.looked(("earlier", folder.model, folder.region, folder.run), look, wait=source.wait):
        found.append(one)
        if run_time(one.run).timestamp() < begin:
            break
    return found
