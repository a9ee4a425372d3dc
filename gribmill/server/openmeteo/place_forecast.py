"""The forecasts for one place by one model, and the columns that are read or computed from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from gribmill.arrays import Floats
from gribmill.identity import run_time
from gribmill.server.data.point_answer import PointSource, without_paths
from gribmill.server.openmeteo.derived import DERIVED
from gribmill.server.openmeteo.errors import OpenMeteoError
from gribmill.server.openmeteo.forecast_request import HOUR, ForecastRequest, Period
from gribmill.server.openmeteo.hourly import Hourly, hourly_values
from gribmill.server.openmeteo.models import ForecastModel
from gribmill.server.openmeteo.sun import SunTimes, is_up, sun_times
from gribmill.server.openmeteo.units import UNDEFINED, Units, to_unit
from gribmill.server.openmeteo.variables import OLD_NAMES, ForecastVariable, hourly_variable
from gribmill.storage.layout import TileFolder
from gribmill.tiles.errors import TileError, VanishedRun
from gribmill.tiles.read.point.kept_tiles import NotKept, check_there
from gribmill.tiles.read.point.place import Place
from gribmill.tiles.read.point.point import PointRequest, containing
from gribmill.tiles.read.point.sample import derivable
from gribmill.tiles.read.point.series import Series
from gribmill.tiles.read.run_choice import no_tiles

# The maximum number of earlier runs that supply hours before the start of the run.
MOST_EARLIER_RUNS = 60
OROGRAPHY, TEMPERATURE = "orog", "t2m"
# Kelvin per metre, as Open-Meteo uses.
LAPSE_RATE = 0.0065
IS_DAY = "is_day"


@dataclass(slots=True)
class PlaceForecast:
    """The forecasts for a place: from the chosen run, then from earlier ones."""

    series: list[Series]
    elevation: float
    """Elevation of the model's orography; NaN if the tiles do not contain it."""
    asked_elevation: float | None
    known: dict[tuple[str, int], Hourly] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        source: PointSource,
        place: Place,
        base: PointRequest,
        model: ForecastModel,
        request: ForecastRequest,
        period: Period,
        elevation: float | None,
    ) -> PlaceForecast:
        wanted = PointRequest(base.root, model=model.model_id, units="common")
        found = containing(source.source.candidates(wanted), place)
        if not found:
            reason = "" if source.source.candidates(wanted) else f": {no_tiles(base.root, model.model_id, None, None)}"
            raise OpenMeteoError(f"No data is available for this location{reason}")
        folder = found[0].choice.folders[0]
        variables = [*request.hourly, *request.minutely, *request.current, *(hourly for _, hourly in request.daily)]
        names = _columns(source, folder, variables)
        series = [_series(source, place, folder, names, base)]
        first = int(run_time(folder.run).timestamp())
        if period.begin <= first:
            for earlier in _earlier(source, folder, period.begin):
                try:
                    here = _columns(source, earlier, variables)
                    series.append(_series(source, place, earlier, here, base))
                except (OpenMeteoError, VanishedRun):
                    continue
        height = series[0].columns.get(OROGRAPHY)
        heights = [value for value in height.values if not math.isnan(value)] if height else []
        return cls(series, heights[0] if heights else math.nan, elevation)

    def column(
        self, variable: ForecastVariable, times: Sequence[int], units: Units, step: int = HOUR
    ) -> tuple[str, tuple[float, ...]]:
        """The unit and the values of a variable at these times; no unit if the variable is not available."""
        if variable.name == IS_DAY:
            up = is_up(np.array(times, np.float64), self.series[0].point_lat, self.series[0].point_lon)
            return variable.unit, tuple(up.tolist())
        unit = units.of(variable.unit)
        values = self._values(variable, times, unit, step, self._lapse())
        if values is None:
            return UNDEFINED, (math.nan,) * len(times)
        return unit, tuple(values.tolist())

    def sun_times(self, day: int) -> SunTimes:
        """Sunrise and sunset of the day that begins at this time."""
        return sun_times(day, self.series[0].point_lat, self.series[0].point_lon)

    def _values(
        self, variable: ForecastVariable, times: Sequence[int], unit: str, step: int, warmer: float = 0.0
    ) -> Floats | None:
        """Read from the model's own variable, or computed from others; None if neither is possible."""
        for name in variable.columns:
            column = next((one.columns[name] for one in self.series if name in one.columns), None)
            if column is not None:
                values = np.array(self._at(name, times, step), np.float64)
                if name == TEMPERATURE:
                    values += warmer
                return np.asarray(to_unit(column.units, unit)(values))
        if not variable.made_of:
            return None
        parts = (hourly_variable(name, "hourly") for name in variable.made_of)
        others = [self._values(one, times, one.unit, step) for one in parts]
        found = DERIVED[OLD_NAMES.get(variable.name, variable.name)](others)
        return None if found is None else np.asarray(to_unit(variable.unit, unit)(found))

    def _lapse(self) -> float:
        """The temperature correction from the model's elevation to the requested one."""
        if self.asked_elevation is None or math.isnan(self.elevation):
            return 0.0
        return (self.elevation - self.asked_elevation) * LAPSE_RATE

    def _at(self, name: str, times: Sequence[int], step: int) -> list[float]:
        if (name, step) not in self.known:
            self.known[name, step] = self._hourly(name, step)
        found = self.known[name, step]
        return [found.get(moment, math.nan) for moment in times]

    def _hourly(self, name: str, step: int) -> Hourly:
        """Values from the chosen run; before its start, from the newest earlier run that has the hour."""
        newest = int(run_time(self.series[0].run).timestamp())
        found: Hourly = {}
        for series in self.series:
            if name in series.columns:
                for moment, value in hourly_values(series, series.columns[name], step).items():
                    if series is self.series[0] or moment <= newest:
                        found.setdefault(moment, value)
        return found


def _columns(source: PointSource, folder: TileFolder, variables: Sequence[ForecastVariable]) -> tuple[str, ...]:
    """The variables that the run has at any hour."""
    state = source.tiles.folder(folder, wait=source.wait)
    there = {name for tile in state.tiles for name in tile.meta.variables}
    there |= derivable(there).keys()
    wanted = [name for one in variables for name in _needed(one, there)]
    return tuple(dict.fromkeys(name for name in (*wanted, OROGRAPHY) if name in there)) or tuple(sorted(there)[:1])


def _needed(variable: ForecastVariable, there: set[str]) -> tuple[str, ...]:
    if not variable.made_of or not there.isdisjoint(variable.columns):
        return variable.columns
    return tuple(name for one in variable.made_of for name in hourly_variable(one, "hourly").columns)


def _series(
    source: PointSource,
    place: Place,
    folder: TileFolder,
    names: tuple[str, ...],
    base: PointRequest,
) -> Series:
    """The forecast of exactly this run: a newer one may lack some of the variables."""
    request = PointRequest(base.root, folder.model, folder.run, folder.region, names or None, units="common")
    try:
        (found,) = source.series([place], request)
    except VanishedRun:
        raise
    except TileError as error:
        found = error
    if isinstance(found, TileError):
        if not source.wait:
            raise NotKept
        check_there(folder)
        raise OpenMeteoError(without_paths(base.root, str(found)))
    return found


def _earlier(source: PointSource, folder: TileFolder, begin: int) -> list[TileFolder]:
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
