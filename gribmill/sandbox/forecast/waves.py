"""Travelling waves over the globe: the patterns that synthetic weather consists of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gribmill.arrays import AnyFloats

TURN = 2 * np.pi


@dataclass(frozen=True, slots=True)
class Wave:
    """`east` waves around the globe (an integer, so that the pattern closes), `north` per radian; moves with time."""

    east: int
    north: float
    amplitude: float
    phase: float
    radians_per_hour: float

    def angle(self, lat: AnyFloats, lon: AnyFloats, hours: float) -> AnyFloats:
        """Its phase at each point, at a time in hours."""
        now = np.float32((self.phase - self.radians_per_hour * hours) % TURN)
        return np.asarray(self.east * lon + np.float32(self.north) * lat + now)


def make_waves(
    random: np.random.Generator, easts: tuple[int, ...], amplitude: float, degrees_per_day: float
) -> tuple[Wave, ...]:
    """One wave for each number, the longest with the largest amplitude, all drifting eastward at about that speed."""
    return tuple(
        Wave(
            east,
            float(random.uniform(-0.8, 0.8) * east),
            amplitude * easts[0] / east,
            float(random.uniform(0, TURN)),
            float(east * np.radians(degrees_per_day) / 24 * random.uniform(0.8, 1.2)),
        )
        for east in easts
    )


def time_above(angle: AnyFloats, threshold: AnyFloats | float) -> AnyFloats:
    """The integral of max(0, sin x − threshold) from 0 to the angle; it never decreases.

    Sums with and without resets agree to the last digit, since both are differences of this integral.
    """
    level = np.clip(threshold, -1, 1)
    rise = np.arcsin(level)
    whole = 2 * (np.cos(rise) - level * (np.pi / 2 - rise))
    turns = np.floor((angle - rise) / TURN)
    within = np.minimum(angle - TURN * turns, np.pi - rise)
    part = np.cos(rise) - np.cos(within) - level * (within - rise)
    return np.asarray(turns * whole + part)
