"""Made-up weather: smooth, moving, and consistent with itself. The same seed gives the same, whatever the run."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cached_property, lru_cache

import numpy as np

from gribmill.mirror.geography import Geography
from gribmill.mirror.waves import TURN, Floats, Wave, make_waves, time_above

EPOCH = datetime(2020, 1, 1, tzinfo=UTC)
EARTH_M = 6.371e6
AIR_KG_M3 = 1.2
SOLAR_W_M2 = 1000.0
DAY_HOURS = 24.0
YEAR_HOURS = 8766.0
# Nearer to the equator no wind balances the pressure.
LEAST_CORIOLIS = 6e-5
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
        # Members begin alike and drift apart a little.
        drift = np.random.default_rng((seed, member)).normal(0, 0.12 if member else 0.0, 16)
        for name in ("pressure_waves", "warm_waves", "moist_waves", "rain_waves"):
            setattr(self, name, tuple(_shifted(wave, drift[k]) for k, wave in enumerate(getattr(self, name))))
        self.at = lru_cache(maxsize=3)(self._at)

    def _at(self, hours: float) -> Moment:
        return Moment(self, hours)

    @cached_property
    def cos_lat(self) -> Floats:
        """Never quite 0, so that poles divide nothing."""
        return np.maximum(np.cos(self.places.lat), np.float32(0.1))

    @cached_property
    def sin_lat(self) -> Floats:
        """Of the latitude."""
        return np.sin(self.places.lat)

    @cached_property
    def _rainy(self) -> tuple[Floats, ...]:
        """How much of each system's rain a place gets: none in most."""
        lat, lon = self.places.lat, self.places.lon
        return tuple(np.clip(1.5 * np.sin(wave.angle(lat, lon, 0.0)), 0, 1) * self.cos_lat for wave in self.rain_places)

    def rain_rate(self, hours: float) -> Floats:
        """mm/h now."""
        angles = [wave.angle(self.places.lat, self.places.lon, hours) for wave in self.rain_waves]
        rates = (
            share * np.maximum(np.sin(a) - RAIN_THRESHOLD, 0) for share, a in zip(self._rainy, angles, strict=True)
        )
        return np.asarray(RAIN_MM_H * sum(rates))

    def rain_between(self, start: float, end: float) -> Floats:
        """mm of the hours from start to end: the integral of the rate."""
        total = np.zeros_like(self.places.lat)
        for share, wave in zip(self._rainy, self.rain_waves, strict=True):
            # Waves come from the west: at a place the angle falls with time.
            first = wave.angle(self.places.lat, self.places.lon, start)
            passed = np.float32(wave.radians_per_hour * (end - start))
            amount = time_above(first, RAIN_THRESHOLD) - time_above(first - passed, RAIN_THRESHOLD)
            total += share * amount / np.float32(wave.radians_per_hour)
        return np.asarray(np.maximum(RAIN_MM_H * total, 0))

    def sun_between(self, start: float, end: float) -> Floats:
        """J m-2 on clear ground in the hours from start to end."""
        if end <= start:
            return np.zeros_like(self.places.lat)
        height, swing, noon = self._sun((start + end) / 2)
        first = self.places.lon + np.float32(TURN * ((start / DAY_HOURS) % 1) - noon)
        passed = np.float32(TURN * (end - start) / DAY_HOURS)
        threshold = -height / swing
        light = time_above(first + passed, threshold) - time_above(first, threshold)
        return np.maximum(SOLAR_W_M2 * swing * light * np.float32(DAY_HOURS * 3600 / TURN), 0)

    def sun(self, hours: float) -> Floats:
        """W m-2 on clear ground now."""
        height, swing, noon = self._sun(hours)
        angle = self.places.lon + np.float32(TURN * ((hours / DAY_HOURS) % 1) - noon)
        return np.asarray(SOLAR_W_M2 * np.maximum(height + swing * np.sin(angle), 0))

    def _sun(self, hours: float) -> tuple[Floats, Floats, float]:
        """The sun's sine of height is height + swing · sin(lon + time − noon): 12 UTC is noon at Greenwich."""
        tilt = np.radians(23.4) * np.cos(TURN * (hours / YEAR_HOURS - 0.47))
        return self.sin_lat * np.float32(np.sin(tilt)), self.cos_lat * np.float32(np.cos(tilt)), np.pi / 2


class Moment:
    """The state at one time, worked out as it is asked for."""

    def __init__(self, weather: Weather, hours: float) -> None:
        self.weather, self.hours, self.places = weather, hours, weather.places

    def sum_of(self, waves: tuple[Wave, ...]) -> Floats:
        """A pattern that fades toward the poles."""
        parts = (wave.amplitude * np.sin(wave.angle(self.places.lat, self.places.lon, self.hours)) for wave in waves)
        return np.asarray(sum(parts) * self.weather.cos_lat**2, dtype=np.float32)

    @cached_property
    def pressure(self) -> Floats:
        """Pa at mean sea level: belts of highs and lows, and the waves."""
        belts = 101_300 - 700 * np.cos(6 * self.places.lat)
        return np.asarray(belts + self.sum_of(self.weather.pressure_waves), dtype=np.float32)

    @cached_property
    def balanced_wind(self) -> tuple[Floats, Floats]:
        """m/s eastward and northward, in balance with the pressure."""
        lat, lon, weather = self.places.lat, self.places.lon, self.weather
        north = 4200 * np.sin(6 * lat)
        east = np.zeros_like(lat)
        for wave in weather.pressure_waves:
            slope = wave.amplitude * np.cos(wave.angle(lat, lon, self.hours)) * weather.cos_lat**2
            north += np.float32(wave.north) * slope
            east += np.float32(wave.east) * slope
        spin = 1.458e-4 * weather.sin_lat
        spin = np.where(spin < 0, np.minimum(spin, -LEAST_CORIOLIS), np.maximum(spin, LEAST_CORIOLIS))
        scale = (1 / (AIR_KG_M3 * EARTH_M * spin)).astype(np.float32)
        return -north * scale, east / weather.cos_lat * scale

    @cached_property
    def warmth(self) -> Floats:
        """K at sea level, without the day's course."""
        season = 9 * np.float32(np.cos(TURN * (self.hours / YEAR_HOURS - 0.55))) * self.weather.sin_lat
        zonal = 301 - 46 * self.weather.sin_lat**2 + season
        return np.asarray(zonal + self.sum_of(self.weather.warm_waves), dtype=np.float32)

    @cached_property
    def temperature(self) -> Floats:
        """K at 2 m: colder on hills, warm in the afternoon on land."""
        clock = self.places.lon + np.float32(TURN * (((self.hours - 15) / DAY_HOURS) % 1))
        day = np.cos(clock) * (0.4 + 4.6 * self.places.land) * self.weather.cos_lat
        return np.asarray(self.warmth + day - np.float32(0.0065) * self.places.height)

    @cached_property
    def humidity(self) -> Floats:
        """% at 2 m."""
        return np.asarray(np.clip(58 + 32 * self.sum_of(self.weather.moist_waves) + 12 * np.sqrt(self.rain), 6, 100))

    @cached_property
    def rain(self) -> Floats:
        """mm/h."""
        return self.weather.rain_rate(self.hours)

    @cached_property
    def cloud(self) -> Floats:
        """% of the sky."""
        return np.asarray(np.clip((self.humidity - 45) * 2.2 + 60 * np.minimum(self.rain, 1), 0, 100))


def hours_since_epoch(moment: datetime) -> float:
    """As Weather counts time."""
    return (moment - EPOCH).total_seconds() / 3600


def _shifted(wave: Wave, by: float) -> Wave:
    return Wave(wave.east, wave.north, wave.amplitude, wave.phase + float(by), wave.radians_per_hour)
