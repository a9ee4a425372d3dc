"""Variables that are computed from others where a model does not publish them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from gribmill.arrays import Floats

# Open-Meteo's ratio: 7 cm of snow from 10 mm of water.
SNOW_CM_PER_MM = 0.7
Others = list[Floats | None]
"""The values of the variables in `made_of`, in their default units; None where the model has none."""


def humidity(others: Others) -> Floats | None:
    """Percent, by the Magnus formula over water, from temperature and dew point in °C."""
    temperature, dew_point = others
    if temperature is None or dew_point is None:
        return None
    vapour, saturated = (np.exp(17.625 * t / (t + 243.04)) for t in (dew_point, temperature))
    return np.asarray(np.minimum(100.0, 100.0 * vapour / saturated))


def rain(others: Others) -> Floats | None:
    """Precipitation that is neither snow nor showers. Models that resolve showers include them in rain."""
    precipitation, snow, showers = others
    if precipitation is None or snow is None:
        return None
    rest = precipitation - snow - (0.0 if showers is None else showers)
    return np.asarray(np.maximum(0.0, rest))


def snowfall(others: Others) -> Floats | None:
    """Fresh snow in cm, from its water equivalent in mm."""
    (water,) = others
    return None if water is None else water * SNOW_CM_PER_MM


DERIVED: Mapping[str, Callable[[Others], Floats | None]] = {
    "relative_humidity_2m": humidity,
    "rain": rain,
    "snowfall": snowfall,
}
