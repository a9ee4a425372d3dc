"""The variables of requests, from variables.toml, and how daily ones are computed."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import resources
from typing import Literal

from gribmill.server.openmeteo.errors import OpenMeteoError
from gribmill.server.openmeteo.units import TIME

Aggregation = Literal["none", "minimum", "maximum", "mean", "dominant", "sum", "hours"]
# The number of each aggregation in binary responses.
AGGREGATIONS: dict[Aggregation, int] = {
    "none": 0, "minimum": 1, "maximum": 2, "mean": 3, "dominant": 9, "sum": 10, "hours": 10,
}  # fmt: skip
ENDINGS: dict[str, Aggregation] = {
    "_max": "maximum", "_min": "minimum", "_mean": "mean", "_sum": "sum", "_dominant": "dominant",
}  # fmt: skip
_LEVEL = re.compile(r"(?P<name>[a-z_]+)_(?P<level>[0-9]{1,4})hPa")
# Names of earlier versions of the API, and the beginnings of others, such as windspeed_850hPa.
OLD_NAMES = {
    "weathercode": "weather_code",
    "freezinglevel_height": "freezing_level_height",
    "vapor_pressure_deficit": "vapour_pressure_deficit",
}
OLD_BEGINNINGS = {
    "relativehumidity": "relative_humidity",
    "dewpoint": "dew_point",
    "cloudcover": "cloud_cover",
    "windspeed": "wind_speed",
    "winddirection": "wind_direction",
    "windgusts": "wind_gusts",
}
# Open-Meteo's variables that no tile has. They are null, as in Open-Meteo for a model without the variable.
_NOT_HERE = re.compile(
    r"weather_code|uv_index|uv_index_clear_sky|sunshine_duration|vapour_pressure_deficit|evapotranspiration"
    r"|et0_fao_evapotranspiration|potential_evapotranspiration|growing_degree_days_base_0_limit_50|updraft|albedo"
    r"|(?:precipitation|thunderstorm|rain|freezing_rain|ice_pellets|snowfall|leaf_wetness)_probability"
    r"|(?:direct|diffuse|terrestrial)_radiation(?:_instant)?|shortwave_radiation_clear_sky"
    r"|(?:direct_normal|global_tilted)_irradiance(?:_instant)?|(?:latent|sensible)_heat_?flux"
    r"|wet_bulb_temperature_2m|skin_temperature|sea_surface_temperature|snowfall_height|snow_depth_water_equivalent"
    r"|lightning_potential|precipitation_type|mass_density_8m|k_index|cloud_(?:base|top)|convective_cloud_(?:base|top)"
    r"|soil_(?:temperature|moisture|moisture_index)_[0-9]{1,4}(?:_(?:to_)?[0-9]{1,4})?cm"
    r"|(?:temperature|wind_speed|wind_direction)_[0-9]{1,3}m"
)
_DAILY_NOT_HERE = re.compile(
    r"weather_code|sunshine_duration|et0_fao_evapotranspiration|growing_degree_days_base_0_limit_50"
    r"|moon_phase|moonrise|moonset"
)


# Daily variables that need no forecast: their units, and their numbers in binary responses.
SUN_UNITS = {"sunrise": TIME, "sunset": TIME, "daylight_duration": "s"}
SUN_NUMBERS = {"sunrise": 40, "sunset": 41, "daylight_duration": 7}


@dataclass(frozen=True, slots=True)
class ForecastVariable:
    """A requested variable. Without columns and `made_of`, it is a known name that is not available here."""

    name: str
    columns: tuple[str, ...] = ()
    made_of: tuple[str, ...] = ()
    unit: str = "undefined"
    number: int = 0
    altitude: int = 0
    pressure_level: int = 0
    over: Literal["instant", "hour"] = "instant"
    aggregation: Aggregation = "none"


@lru_cache(maxsize=256)
def hourly_variable(name: str, key: str) -> ForecastVariable:
    """The variable of `hourly` or `current`; an unknown name raises the same error as Open-Meteo."""
    known = current_name(name)
    if found := _table().get(known):
        return replace(found, name=name)
    if level := _LEVEL.fullmatch(known):
        pattern = _table().get(f"{level['name']}_{{}}hPa")
        if pattern is not None:
            columns = tuple(column.format(level["level"]) for column in pattern.columns)
            return replace(pattern, name=name, columns=columns, pressure_level=int(level["level"]))
    if _NOT_HERE.fullmatch(known):
        return ForecastVariable(name)
    raise _unknown(name, key)


def current_name(name: str) -> str:
    """The name in the current version of the API."""
    begin, separator, rest = name.partition("_")
    return OLD_NAMES.get(name, OLD_BEGINNINGS.get(begin, begin) + separator + rest)


def daily_variable(name: str) -> tuple[ForecastVariable, ForecastVariable]:
    """The variable of `daily`, and the hourly variable from which it is computed."""
    if name in SUN_UNITS:
        sun = ForecastVariable(name, unit=SUN_UNITS[name], number=SUN_NUMBERS[name])
        return sun, sun
    if name == "precipitation_hours":
        hourly = hourly_variable("precipitation", "daily")
        return replace(hourly, name=name, aggregation="hours", unit="h", number=25), hourly
    if _DAILY_NOT_HERE.fullmatch(current_name(name)):
        return ForecastVariable(name), ForecastVariable(name)
    for ending, aggregation in ENDINGS.items():
        if name.endswith(ending):
            try:
                hourly = hourly_variable(name.removesuffix(ending), "daily")
            except OpenMeteoError:
                break
            if not hourly.columns and not hourly.made_of:
                return ForecastVariable(name), ForecastVariable(name)
            direction = hourly.unit == "°"
            if direction != (aggregation == "dominant") or (aggregation == "sum" and hourly.over != "hour"):
                break
            unit = "MJ/m²" if aggregation == "sum" and hourly.unit == "W/m²" else hourly.unit
            return replace(hourly, name=name, aggregation=aggregation, unit=unit), hourly
    raise _unknown(name, "daily")


def speed_of(direction: ForecastVariable) -> ForecastVariable:
    """The speed of the wind with this direction."""
    return hourly_variable(current_name(direction.name).replace("wind_direction", "wind_speed"), "daily")


def _unknown(name: str, key: str) -> OpenMeteoError:
    return OpenMeteoError(f"Cannot initialize ForecastVariable from invalid String value {name[:60]} for key {key}")


@cache
def _table() -> dict[str, ForecastVariable]:
    text = (resources.files("gribmill.server.openmeteo") / "variables.toml").read_text()
    return {
        name: ForecastVariable(name, tuple(row.pop("columns", ())), tuple(row.pop("made_of", ())), **row)
        for name, row in tomllib.loads(text).items()
    }
