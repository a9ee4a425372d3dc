"""The lowest and highest value of a field, and their positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gribmill.draw.map.graticule import latitude_text, longitude_text
from gribmill.draw.map.plane import Plane
from gribmill.draw.scale import Scale

MOST_TIES = 0.001  # share of the points: a value at more of them has no single position


@dataclass(frozen=True, slots=True)
class Extreme:
    """A value with its latitude and longitude; both are None where many points share it. `place` says it in words."""

    value: float
    lat: float | None
    lon: float | None
    place: str


def extremes(shown: NDArray[np.floating], plane: Plane) -> tuple[Extreme, Extreme] | None:
    """The minimum and maximum; None if all points are missing."""
    finite = np.isfinite(shown)
    if not finite.any():
        return None
    low = float(np.min(shown, where=finite, initial=np.inf))
    high = float(np.max(shown, where=finite, initial=-np.inf))
    return _extreme(shown, low, plane, int(finite.sum())), _extreme(shown, high, plane, int(finite.sum()))


def _extreme(shown: NDArray[np.floating], value: float, plane: Plane, points: int) -> Extreme:
    places = np.flatnonzero(shown == value)
    if len(places) > max(1.0, MOST_TIES * points):
        return Extreme(value, None, None, f"{_percent(len(places) / points)} of the points")
    row, column = divmod(int(places[0]), shown.shape[1])
    lat, lon = (float(a[0]) for a in plane.locate(np.array([float(row)]), np.array([float(column)])))
    return Extreme(value, lat, lon, f"{latitude_text(round(lat, 2))} {longitude_text(round(lon, 2))}")


def _percent(share: float) -> str:
    percent = share * 100
    return f"{percent:.1f} %" if percent < 1 else f"{min(percent, 99.0) if share < 1 else 100:.0f} %"


def extremes_text(found: tuple[Extreme, Extreme] | None, scale: Scale) -> str:
    """Both extremes in one line; nothing for codes, which have none."""
    if found is None:
        return "all points missing"
    if scale.meanings:
        return ""
    words = (f"{word} {scale.label(at.value)} at {at.place}" for word, at in zip(("min", "max"), found, strict=True))
    return "   ".join(words)
