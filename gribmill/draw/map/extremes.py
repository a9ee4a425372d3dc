"""The lowest and highest point of a field."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gribmill.draw.map.graticule import latitude_text, longitude_text
from gribmill.draw.map.plane import Plane


@dataclass(frozen=True, slots=True)
class Extreme:
    """A value with its row, column and place in words."""

    value: float
    row: int
    column: int
    place: str


def extremes(shown: NDArray[np.floating], plane: Plane) -> tuple[Extreme, Extreme] | None:
    """Minimum and maximum, or None where every point is missing."""
    if not np.isfinite(shown).any():
        return None
    finite = np.isfinite(shown)
    low = int(np.argmin(np.where(finite, shown, np.inf)))
    high = int(np.argmax(np.where(finite, shown, -np.inf)))
    return _extreme(shown, low, plane), _extreme(shown, high, plane)


def _extreme(shown: NDArray[np.floating], flat: int, plane: Plane) -> Extreme:
    row, column = divmod(flat, shown.shape[1])
    lat, lon = plane.locate(np.array([float(row)]), np.array([float(column)]))
    place = f"{latitude_text(round(float(lat[0]), 2))} {longitude_text(round(float(lon[0]), 2))}"
    return Extreme(float(shown[row, column]), row, column, place)
