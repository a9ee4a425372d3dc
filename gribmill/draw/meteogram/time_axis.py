"""The time axis of a meteogram: hours and midnights of a time zone, and nights."""

from __future__ import annotations

import math
from datetime import UTC, datetime, tzinfo

import numpy as np
from numpy.typing import NDArray

from gribmill.arrays import Floats

# All offsets from UTC are multiples of this.
QUARTER = 900
TICK_HOURS = (1, 3, 6, 12, 24)
RISE_DEG = -0.83  # the sun's upper edge on the horizon, refraction included
J2000 = datetime(2000, 1, 1, 12, tzinfo=UTC).timestamp()


def local_hours(start: float, end: float, every: float, zone: tzinfo) -> list[tuple[float, datetime]]:
    """Regular hours of the local day, or parts of them, between two moments (seconds since 1970)."""
    minutes = round(every * 60)
    first = math.ceil(start / QUARTER) * QUARTER
    moments = ((float(second), datetime.fromtimestamp(second, zone)) for second in range(first, int(end) + 1, QUARTER))
    return [(second, local) for second, local in moments if (local.hour * 60 + local.minute) % minutes == 0]


def tick_hours(seconds: Floats, most: int, most_quarters: int) -> float:
    """The hours between two ticks: few enough for their labels; parts of an hour only for data at such steps."""
    span = float(seconds[-1] - seconds[0]) / 3600
    if len(seconds) > 1 and float(np.diff(seconds).min()) < 3600:
        found = next((part for part in (0.25, 0.5) if span / part <= most_quarters), None)
        if found is not None:
            return found
    return next((hours for hours in TICK_HOURS if span / hours <= most), TICK_HOURS[-1])


def tick_label(local: datetime, every: float) -> str:
    """`06`, or `06:15` if ticks are parts of an hour."""
    return f"{local:%H:%M}" if every < 1 else f"{local:%H}"


def zone_label(moments: list[datetime]) -> str:
    """`UTC`, `EST`, or `EDT/EST` if clocks change."""
    return "/".join(dict.fromkeys(moment.tzname() or "" for moment in moments))


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
