"""The shape of the Earth that a grid assumes: a sphere or an ellipsoid."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gribmill.arrays import Floats
from gribmill.regions.errors import RegionError

# Each iteration reduces the error by e² (0.0067 on the Earth, at most 0.04 here): seven reach full precision.
_LATITUDE_STEPS = 7
_MOST_FLATTENING = 0.02
# The mean length of a degree of latitude, for grid spacings.
KM_PER_DEGREE = 111.2


@dataclass(frozen=True, slots=True)
class Earth:
    """Semi-axes in metres: `a` at the equator, `b` at the poles; equal on a sphere."""

    a: float
    b: float

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            object.__setattr__(self, name, float(getattr(self, name)))
        if not (1e6 <= self.a <= 1e8 and (1 - _MOST_FLATTENING) * self.a <= self.b <= self.a):
            raise RegionError(f"no Earth has the semi-axes {self.a:g} and {self.b:g} m")

    @property
    def is_sphere(self) -> bool:
        """True if both axes are equal."""
        return self.a == self.b

    @property
    def eccentricity(self) -> float:
        """First eccentricity, 0 on a sphere."""
        return math.sqrt((self.a - self.b) * (self.a + self.b)) / self.a

    def cf(self) -> dict[str, float]:
        """The CF grid mapping attributes of this shape."""
        if self.is_sphere:
            return {"earth_radius": self.a}
        return {"semi_major_axis": self.a, "semi_minor_axis": self.b}

    def parallel_radius(self, lat_deg: float) -> float:
        """Radius of a parallel, in units of `a`."""
        phi = math.radians(lat_deg)
        return math.cos(phi) / math.sqrt(1.0 - (self.eccentricity * math.sin(phi)) ** 2)

    def conformal_colatitude(self, lat_deg: npt.ArrayLike) -> Floats:
        """tan of half the conformal colatitude: 0 at the north pole, 1 at the equator, huge in the far south.

        All three conformal projections are simple functions of it.
        """
        phi = np.radians(np.asarray(lat_deg, dtype=np.float64))
        t = np.tan(np.pi / 4 - phi / 2)
        if self.is_sphere:
            return np.asarray(t)
        e = self.eccentricity
        return np.asarray(t * np.exp(e * np.arctanh(e * np.sin(phi))))

    def latitude(self, conformal_colatitude: Floats) -> Floats:
        """The inverse of `conformal_colatitude`: latitude in degrees."""
        t = np.asarray(conformal_colatitude, dtype=np.float64)
        phi = np.pi / 2 - 2 * np.arctan(t)
        e = self.eccentricity
        if e > 0.0:
            for _ in range(_LATITUDE_STEPS):
                phi = np.pi / 2 - 2 * np.arctan(t * np.exp(-e * np.arctanh(e * np.sin(phi))))
        return np.asarray(np.degrees(phi))
