"""Nights at a point: when the sun is below the horizon."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

RISE_DEG = -0.83  # the sun's upper edge on the horizon, refraction included
J2000 = datetime(2000, 1, 1, 12, tzinfo=UTC).timestamp()


def is_night(seconds: NDArray[np.float64], lat: float, lon: float) -> NDArray[np.bool_]:
    """True while the sun is below the horizon; from a low-precision solar position, accurate to a few minutes."""
    days = (seconds - J2000) / 86400
    anomaly = np.radians(357.529 + 0.98560028 * days)
    longitude = np.radians(280.459 + 0.98564736 * days + 1.915 * np.sin(anomaly) + 0.020 * np.sin(2 * anomaly))
    tilt = np.radians(23.439 - 3.6e-7 * days)
    declination = np.arcsin(np.sin(tilt) * np.sin(longitude))
    ascension = np.degrees(np.arctan2(np.cos(tilt) * np.sin(longitude), np.cos(longitude)))
    sidereal = 280.46062 + 360.98564737 * days
    hour_angle = np.radians(sidereal + lon - ascension)
    phi = np.radians(lat)
    height = np.sin(phi) * np.sin(declination) + np.cos(phi) * np.cos(declination) * np.cos(hour_angle)
    return np.asarray(np.degrees(np.arcsin(np.clip(height, -1, 1))) < RISE_DEG)


def nights(start: float, end: float, lat: float, lon: float) -> list[tuple[float, float]]:
    """The nights between two moments, in seconds since 1970, to about a minute."""
    moments = np.arange(start, end + 120, 120.0)
    dark = np.concatenate([[False], is_night(moments, lat, lon), [False]])
    edges = np.flatnonzero(np.diff(dark.astype(np.int8)))
    return [(float(moments[a]), float(min(moments[b - 1], end))) for a, b in zip(edges[::2], edges[1::2], strict=True)]
