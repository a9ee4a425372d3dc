"""The state of synthetic weather at one time."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gribmill.arrays import AnyFloats
from gribmill.sandbox.forecast.clock import DAY_HOURS, YEAR_HOURS
from gribmill.sandbox.forecast.waves import TURN, Wave

if TYPE_CHECKING:
    from gribmill.sandbox.forecast.weather import Weather

EARTH_M = 6.371e6
AIR_KG_M3 = 1.2
# Closer to the equator, no wind balances the pressure.
LEAST_CORIOLIS = 6e-5


class WeatherState:
    """Computed on demand. Times are hours since the clock's EPOCH."""

    def __init__(self, weather: Weather, hours: float) -> None:
        self.weather, self.hours, self.places = weather, hours, weather.places

    def sum_of(self, waves: tuple[Wave, ...]) -> AnyFloats:
        """A pattern that fades toward the poles."""
        parts = (wave.amplitude * np.sin(wave.angle(self.places.lat, self.places.lon, self.hours)) for wave in waves)
        return np.asarray(sum(parts) * self.weather.cos_lat**2, dtype=np.float32)

    @property
    def pressure(self) -> AnyFloats:
        """Pa at mean sea level: belts of highs and lows, and the waves."""
        return self._pressure_and_slopes[0]

    @cached_property
    def balanced_wind(self) -> tuple[AnyFloats, AnyFloats]:
        """m/s eastward and northward, in balance with the pressure."""
        _, east, north = self._pressure_and_slopes
        spin = 1.458e-4 * self.weather.sin_lat
        spin = np.where(spin < 0, np.minimum(spin, -LEAST_CORIOLIS), np.maximum(spin, LEAST_CORIOLIS))
        scale = (1 / (AIR_KG_M3 * EARTH_M * spin)).astype(np.float32)
        return -north * scale, east / self.weather.cos_lat * scale

    @cached_property
    def _pressure_and_slopes(self) -> tuple[AnyFloats, AnyFloats, AnyFloats]:
        """Pa, and Pa per radian eastward and northward."""
        lat, lon = self.places.lat, self.places.lon
        strength, change = self.weather.storm_belt
        pressure = 101_300 - 700 * np.cos(6 * lat)
        east, north = np.zeros_like(lat), 4200 * np.sin(6 * lat)
        for wave in self.weather.pressure_waves:
            angle = wave.angle(lat, lon, self.hours)
            height, slope = wave.amplitude * np.sin(angle), wave.amplitude * strength * np.cos(angle)
            pressure += strength * height
            east += wave.east * slope
            north += wave.north * slope + change * height
        return pressure, east, north

    @cached_property
    def warmth(self) -> AnyFloats:
        """K at sea level, without the diurnal cycle."""
        season = 9 * np.float32(np.cos(TURN * (self.hours / YEAR_HOURS - 0.55))) * self.weather.sin_lat
        zonal = 301 - 46 * self.weather.sin_lat**2 + season
        return np.asarray(zonal + self.sum_of(self.weather.warm_waves), dtype=np.float32)

    @cached_property
    def temperature(self) -> AnyFloats:
        """K at 2 m: colder on hills, warm in the afternoon on land."""
        clock = self.places.lon + np.float32(TURN * (((self.hours - 15) / DAY_HOURS) % 1))
        day = np.cos(clock) * (0.4 + 4.6 * self.places.land) * self.weather.cos_lat
        return np.asarray(self.warmth + day - np.float32(0.0065) * self.places.height)

    @cached_property
    def humidity(self) -> AnyFloats:
        """% at 2 m."""
        return np.asarray(np.clip(58 + 32 * self.sum_of(self.weather.moist_waves) + 12 * np.sqrt(self.rain), 6, 100))

    @cached_property
    def rain(self) -> AnyFloats:
        """mm/h."""
        return self.weather.rain_rate(self.hours)

    @cached_property
    def cloud(self) -> AnyFloats:
        """% of the sky."""
        return np.asarray(np.clip((self.humidity - 45) * 2.2 + 60 * np.minimum(self.rain, 1), 0, 100))
