"""The units that a request may choose, and conversions from the tiles' units."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from gribmill.server.openmeteo.errors import OpenMeteoError
from gribmill.tiles.read.units import Conversion, conversion

TEMPERATURES = {"celsius": "°C", "fahrenheit": "°F"}
SPEEDS = {"kmh": "km/h", "ms": "m/s", "mph": "mph", "kn": "kn"}
LENGTHS = {"mm": {}, "inch": {"mm": "inch", "cm": "inch", "m": "ft"}}
UNDEFINED = "undefined"
# Shown as iso8601 or unixtime, depending on `timeformat`.
TIME = "time"
# Shown without a unit.
INTEGER = "integer"
# Decimals in JSON and CSV, and the unit's number in binary responses.
SHOWN: dict[str, tuple[int, int]] = {
    UNDEFINED: (0, 0),
    "°C": (1, 1),
    "cm": (2, 2),
    "°": (0, 5),
    INTEGER: (0, 6),
    "": (2, 7),
    "°F": (1, 9),
    "ft": (3, 10),
    "hPa": (1, 16),
    "h": (2, 17),
    "inch": (3, 18),
    TIME: (0, 37),
    "J/kg": (1, 20),
    "kg/m²": (2, 23),
    "km/h": (1, 24),
    "kn": (1, 25),
    "MJ/m²": (2, 26),
    "m/s": (2, 28),
    "m": (2, 29),
    "mph": (1, 31),
    "mm": (2, 32),
    "%": (0, 35),
    "s": (2, 36),
    "W/m²": (1, 39),
}
# Conversions from our common units. Other units are not converted.
FACTORS = {
    ("m s-1", "km/h"): Conversion(3.6),
    ("m s-1", "m/s"): Conversion(),
    ("m s-1", "kn"): Conversion(3600 / 1852),
    ("mm", "inch"): Conversion(1 / 25.4),
    ("m", "inch"): Conversion(1000 / 25.4),
    ("cm", "inch"): Conversion(10 / 25.4),
    ("W m-2", "W/m²"): Conversion(),
    ("J kg-1", "J/kg"): Conversion(),
    ("K", ""): Conversion(),
}


@dataclass(frozen=True, slots=True)
class Units:
    """The units chosen by temperature_unit, wind_speed_unit and precipitation_unit."""

    temperature: str = "°C"
    speed: str = "km/h"
    lengths: str = "mm"

    @classmethod
    def chosen(cls, temperature: str, speed: str, lengths: str) -> Units:
        return cls(
            _known("TemperatureUnit", "temperature_unit", temperature, TEMPERATURES),
            _known("WindspeedUnit", "wind_speed_unit", speed, SPEEDS),
            _known("PrecipitationUnit", "precipitation_unit", lengths, {"mm": "mm", "inch": "inch"}),
        )

    def of(self, unit: str) -> str:
        """The chosen unit for a variable with this default unit."""
        if unit == "°C":
            return self.temperature
        if unit == "km/h":
            return self.speed
        return LENGTHS[self.lengths].get(unit, unit)


# The units given are those of the tiles.
@lru_cache(maxsize=256)
def to_unit(given: str, shown: str) -> Conversion:
    """Convert from a unit of the tiles; unknown units are not converted."""
    return FACTORS.get((given, shown)) or conversion(given, shown) or Conversion()


def _known(kind: str, key: str, value: str, known: dict[str, str]) -> str:
    if value not in known:
        raise OpenMeteoError(f"Cannot initialize {kind} from invalid String value {value[:60]} for key {key}")
    return known[value]
