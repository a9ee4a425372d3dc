"""The position of the sun: whether it is up, and when it rises and sets.

Uses the equations of NOAA's solar calculator (after Meeus), accurate to some seconds between the polar circles for a
flat horizon at sea level.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gribmill.arrays import Floats

DAY = 86400.0
# 2000-01-01 12:00 UTC, in seconds since 1970.
J2000 = 946_728_000.0
CENTURY = 36525 * DAY
# Altitude of the sun's centre when its upper limb is on the horizon: refraction plus semidiameter.
HORIZON = np.radians(-0.833)
SECONDS_PER_DEGREE = DAY / 360
# Each iteration uses the sun's position at the time found by the previous one; two give an accuracy of seconds.
ROUNDS = 4


class SunTimes(NamedTuple):
    """Seconds since 1970. If the sun does not rise or set on a day, Open-Meteo's convention applies: both are the start
    of the day in polar night, and the start and end of the day in polar day."""

    rise: Floats
    set: Floats


def is_up(seconds: Floats, lat: float | Floats, lon: float | Floats) -> Floats:
    """1 where the sun is above the horizon at these times, otherwise 0.

    Columns of latitudes and longitudes give places × times.
    """
    declination, correction = _position(seconds)
    hour_angle = np.radians((seconds + correction) / SECONDS_PER_DEGREE + lon - 180.0)
    height = np.sin(np.radians(lat)) * np.sin(declination)
    height += np.cos(np.radians(lat)) * np.cos(declination) * np.cos(hour_angle)
    return np.where(height > np.sin(HORIZON), 1.0, 0.0)


def sun_times(day: float | Floats, lat: float | Floats, lon: float | Floats) -> SunTimes:
    """Sunrise before and sunset after the solar noon within the 24 hours from `day`.

    Columns of latitudes and longitudes give places × days.
    """
    noon = _noon(day, lon)
    mean_noon = _mean_noon(noon, lon)
    # 1 in polar night, -1 in polar day.
    polar = np.zeros(np.broadcast_shapes(noon.shape, np.shape(lat)))
    found = []
    for sign in (-1, 1):
        moment = noon
        for _ in range(ROUNDS):
            declination, correction = _position(moment)
            cosine = _cosine_at_horizon(declination, lat)
            polar = np.where((polar == 0) & (np.abs(cosine) > 1), np.sign(cosine), polar)
            angle = np.degrees(np.arccos(cosine.clip(-1, 1)))
            moment = mean_noon - correction + sign * angle * SECONDS_PER_DEGREE
        found.append(moment)
    rise, set_ = found
    return SunTimes(np.where(polar, day, rise), np.where(polar, day + DAY * (polar < 0), set_))


def _noon(day: float | Floats, lon: float | Floats) -> Floats:
    first = np.asarray(day + (180.0 - lon) * SECONDS_PER_DEGREE - day % DAY)
    noon = first - _position(first)[1]
    return np.asarray(day + (noon - day) % DAY)


def _mean_noon(noon: Floats, lon: float | Floats) -> Floats:
    """Mean solar noon at this longitude, on the same day."""
    offset = (180.0 - lon) * SECONDS_PER_DEGREE
    return np.asarray(np.rint((noon - offset) / DAY) * DAY + offset)


def _cosine_at_horizon(declination: Floats, lat: float | Floats) -> Floats:
    """Cosine of the hour angle of sunrise and sunset; beyond ±1 if the sun does not reach the horizon."""
    across = np.cos(np.radians(lat)) * np.cos(declination)
    height = np.sin(HORIZON) - np.sin(np.radians(lat)) * np.sin(declination)
    return np.asarray(height / np.maximum(across, 1e-12))


def _position(seconds: Floats) -> tuple[Floats, Floats]:
    """The sun's declination in radians, and the equation of time in seconds."""
    t = (seconds - J2000) / CENTURY
    longitude = np.radians((280.46646 + t * (36000.76983 + t * 0.0003032)) % 360.0)
    anomaly = np.radians(357.52911 + t * (35999.05029 - t * 0.0001537))
    eccentricity = 0.016708634 - t * (0.000042037 + t * 0.0000001267)
    center = np.sin(anomaly) * (1.914602 - t * (0.004817 + t * 0.000014))
    center += np.sin(2 * anomaly) * (0.019993 - t * 0.000101) + np.sin(3 * anomaly) * 0.000289
    node = np.radians(125.04 - 1934.136 * t)
    apparent = longitude + np.radians(center - 0.00569 - 0.00478 * np.sin(node))
    tilt = 23 + (26 + (21.448 - t * (46.815 + t * (0.00059 - t * 0.001813))) / 60) / 60
    tilt = np.radians(tilt + 0.00256 * np.cos(node))
    declination = np.arcsin(np.sin(tilt) * np.sin(apparent))
    y = np.tan(tilt / 2) ** 2
    ahead = y * np.sin(2 * longitude) - 2 * eccentricity * np.sin(anomaly)
    ahead += 4 * eccentricity * y * np.sin(anomaly) * np.cos(2 * longitude)
    ahead -= 0.5 * y**2 * np.sin(4 * longitude) + 1.25 * eccentricity**2 * np.sin(2 * anomaly)
    return declination, np.degrees(ahead) * SECONDS_PER_DEGREE
