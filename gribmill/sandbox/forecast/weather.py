"""Synthetic weather: smooth, moving and self-consistent. The same seed gives the same weather for every run."""

from __future__ import annotations

from functools import cached_property, lru_cache, partial

import numpy as np

from gribmill.arrays import AnyFloats
from gribmill.sandbox.forecast.clock import DAY_HOURS, YEAR_HOURS
from gribmill.sandbox.forecast.geography import Geography
from gribmill.sandbox.forecast.waves import TURN, Wave, make_waves, time_above
from gribmill.sandbox.forecast.weather_state import WeatherState

SOLAR_W_M2 = 1000.0
RAIN_THRESHOLD = 0.7
RAIN_MM_H = 14.0


class Weather:
    """The weather of one grid and one member of an ensemble; times are hours since EPOCH."""

    def __init__(self, places: Geography, seed: int, member: int = 0) -> None:
        self.places = places
        random = np.random.default_rng(seed)
        self.pressure_waves = make_waves(random, (4, 7, 11, 19, 43, 90), 900.0, 12.0)
        self.warm_waves = make_waves(random, (3, 8, 17, 47), 5.0, 10.0)
        self.moist_waves = make_waves(random, (5, 12, 29, 71), 0.7, 11.0)
        self.rain_waves = make_waves(random, (9, 16, 33), 1.0, 12.0)
        self.rain_places = make_waves(random, (6, 13, 27), 1.0, 0.0)
        # Members start alike and diverge slightly.
        drift = np.random.default_rng((seed, member)).normal(0, 0.12 if member else 0.0, 16)
        for name in ("pressure_waves", "warm_waves", "moist_waves", "rain_waves"):
            setattr(self, name, tuple(_shifted(wave, drift[k]) for k, wave in enumerate(getattr(self, name))))
        self.at = lru_cache(maxsize=3)(partial(WeatherState, self))

    @cached_property
    def cos_lat(self) -> AnyFloats:
        """Never quite 0, to avoid division by zero at the poles."""
        return np.maximum(np.cos(self.places.lat), np.float32(0.1))

    @cached_property
    def sin_lat(self) -> AnyFloats:
        """Of the latitude."""
        return np.sin(self.places.lat)

    @cached_property
    def storm_belt(self) -> tuple[AnyFloats, AnyFloats]:
        """Where highs and lows are strong, in middle latitudes; and how that changes per radian northward."""
        lat = self.places.lat
        return np.sin(2 * lat) ** 2, 2 * np.sin(4 * lat)

    @cached_property
    def _bend(self) -> AnyFloats:
        """Bends the rain bands."""
        lat, lon = self.places.lat, self.places.lon
        return np.asarray(
            np.sin(5 * lon + 7 * lat) + 0.6 * np.sin(23 * lat - 13 * lon) + 0.3 * np.sin(51 * lon + 47 * lat)
        )

    @cached_property
    def _rainy(self) -> tuple[AnyFloats, ...]:
        """How much of each system's rain a place gets; most get none."""
        angles = (wave.angle(self.places.lat, self.places.lon, 0.0) - 2 * self._bend for wave in self.rain_places)
        return tuple(np.clip(1.5 * np.sin(angle), 0, 1) * self.cos_lat for angle in angles)

    def _rain_angle(self, wave: Wave, hours: float) -> AnyFloats:
        return wave.angle(self.places.lat, self.places.lon, hours) + self._bend

    def rain_rate(self, hours: float) -> AnyFloats:
        """mm/h now."""
        angles = [self._rain_angle(wave, hours) for wave in self.rain_waves]
        rates = (
            share * np.maximum(np.sin(a) - RAIN_THRESHOLD, 0) for share, a in zip(self._rainy, angles, strict=True)
        )
        return np.asarray(RAIN_MM_H * sum(rates))

    def rain_between(self, start: float, end: float) -> AnyFloats:
        """mm of the hours from start to end: the integral of the rate."""
        total = np.zeros_like(self.places.lat)
        for share, wave in zip(self._rainy, self.rain_waves, strict=True):
            # Waves come from the west: at a fixed point, the phase decreases with time.
            first = self._rain_angle(wave, start)
            passed = np.float32(wave.radians_per_hour * (end - start))
            amount = time_above(first, RAIN_THRESHOLD) - time_above(first - passed, RAIN_THRESHOLD)
            total += share * amount / np.float32(wave.radians_per_hour)
        return np.asarray(np.maximum(RAIN_MM_H * total, 0))

    def sun_between(self, start: float, end: float) -> AnyFloats:
        """J m-2 on clear ground in the hours from start to end."""
        if end <= start:
            return np.zeros_like(self.places.lat)
        height, swing, noon = self._sun((start + end) / 2)
        first = self.places.lon + np.float32(TURN * ((start / DAY_HOURS) % 1) - noon)
        passed = np.float32(TURN * (end - start) / DAY_HOURS)
        threshold = -height / swing
        light = time_above(first + passed, threshold) - time_above(first, threshold)
        return np.maximum(SOLAR_W_M2 * swing * light * np.float32(DAY_HOURS * 3600 / TURN), 0)

    def sun(self, hours: float) -> AnyFloats:
        """W m-2 on clear ground now."""
        height, swing, noon = self._sun(hours)
        angle = self.places.lon + np.float32(TURN * ((hours / DAY_HOURS) % 1) - noon)
        return np.asarray(SOLAR_W_M2 * np.maximum(height + swing * np.sin(angle), 0))

    def _sun(self, hours: float) -> tuple[AnyFloats, AnyFloats, float]:
        """The sun's sine of height is height + swing · sin(lon + time − noon): 12 UTC is noon at Greenwich."""
        tilt = np.radians(23.4) * np.cos(TURN * (hours / YEAR_HOURS - 0.47))
        return self.sin_lat * np.float32(np.sin(tilt)), self.cos_lat * np.float32(np.cos(tilt)), np.pi / 2


def _shifted(wave: Wave, by: float) -> Wave:
    return Wave(wave.east, wave.north, wave.amplitude, wave.phase + float(by), wave.radians_per_hour)
