"""The variables of requests, from variables.toml, and how daily ones are computed."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Literal

from gribmill.server.openmeteo.errors import OpenMeteoError
from gribmill.server.openmeteo.units import TIME

Aggregation = Literal["none", "minimum", "maximum", "mean", "dominant", "sum"]
# The number of each aggregation in binary responses.
AGGREGATIONS: dict[Aggregation, int] = {
    "none": 0, "minimum": 1, "maximum": 2, "mean": 3, "dominant": 9, "sum": 10,
}  # fmt: skip
ENDINGS: dict[str, Aggregation] = {
    "_max": "maximum", "_min": "minimum", "_mean": "mean", "_sum": "sum", "_dominant": "dominant",
}  # fmt: skip
_LEVEL = re.compile(r"(?P<name>[a-z_]+)_(?P<level>[0-9]{1,4})hPa")
# Names of earlier versions of the API.
OLD_NAMES = {
    "relativehumidity_2m": "relative_humidity_2m",
    "dewpoint_2m": "dew_point_2m",
    "cloudcover": "cloud_cover",
    "cloudcover_low": "cloud_cover_low",
    "cloudcover_mid": "cloud_cover_mid",
    "cloudcover_high": "cloud_cover_high",
    "windspeed_10m": "wind_speed_10m",
    "winddirection_10m": "wind_direction_10m",
    "windgusts_10m": "wind_gusts_10m",
    "windspeed_80m": "wind_speed_80m",
    "winddirection_80m": "wind_direction_80m",
}
# Open-Meteo's variables that no tile has. They are null, as in Open-Meteo for a model without the variable.
NOT_HERE = frozenset(
    {
        "weather_code", "weathercode", "uv_index", "uv_index_clear_sky", "sunshine_duration",
        "precipitation_probability", "vapour_pressure_deficit", "evapotranspiration", "et0_fao_evapotranspiration",
        "direct_radiation", "diffuse_radiation", "direct_normal_irradiance", "global_tilted_irradiance",
        "terrestrial_radiation", "direct_radiation_instant", "diffuse_radiation_instant", "wet_bulb_temperature_2m",
        "temperature_120m", "temperature_180m", "wind_speed_120m", "wind_speed_180m", "wind_direction_120m",
        "wind_direction_180m", "soil_temperature_0cm", "soil_temperature_6cm", "soil_temperature_18cm",
        "soil_temperature_54cm", "soil_moisture_0_to_1cm", "soil_moisture_1_to_3cm", "soil_moisture_3_to_9cm",
        "soil_moisture_9_to_27cm", "soil_moisture_27_to_81cm", "snowfall_height", "thunderstorm_probability",
        "lightning_potential",
    }
)  # fmt: skip
DAILY_NOT_HERE = frozenset(
    {
        "weather_code", "weathercode", "precipitation_hours", "moon_phase", "moonrise", "moonset",
    }
)  # fmt: skip


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


def hourly_variable(name: str, key: str) -> ForecastVariable:
    """The variable of `hourly` or `current`; an unknown name raises the same error as Open-Meteo."""
    known = OLD_NAMES.get(name, name)
    if found := _table().get(known):
        return replace(found, name=name)
    if level := _LEVEL.fullmatch(known):
        pattern = _table().get(f"{level['name']}_{{}}hPa")
        if pattern is not None:
            columns = tuple(column.format(level["level"]) for column in pattern.columns)
            return replace(pattern, name=name, columns=columns, pressure_level=int(level["level"]))
    if known in NOT_HERE:
        return ForecastVariable(name)
    raise _unknown(name, key)


def daily_variable(name: str) -> tuple[ForecastVariable, ForecastVariable]:
    """The variable of `daily`, and the hourly variable from which it is computed."""
    if name in SUN_UNITS:
        sun = ForecastVariable(name, unit=SUN_UNITS[name], number=SUN_NUMBERS[name])
        return sun, sun
    if name in DAILY_NOT_HERE:
        return ForecastVariable(name), ForecastVariable(name)
    for ending, aggregation in ENDINGS.items():
        if name.endswith(ending):
            try:
                hourly = hourly_variable(name.removesuffix(ending), "daily")
            except OpenMeteoError:
                break
            direction = hourly.unit == "°"
            if direction != (aggregation == "dominant") or (aggregation == "sum" and hourly.over != "hour"):
                break
            unit = "MJ/m²" if aggregation == "sum" and hourly.unit == "W/m²" else hourly.unit
            return replace(hourly, name=name, aggregation=aggregation, unit=unit), hourly
    raise _unknown(name, "daily")


def _unknown(name: str, key: str) -> OpenMeteoError:
    return OpenMeteoError(f"Cannot initialize ForecastVariable from invalid String value {name[:60]} for key {key}")


@cache
def _table() -> dict[str, ForecastVariable]:
    text = (resources.files("gribmill.server.openmeteo") / "variables.toml").read_text()
    return {
        name: ForecastVariable(name, tuple(row.pop("columns", ())), tuple(row.pop("made_of", ())), **row)
        for name, row in tomllib.loads(text).items()
    }
