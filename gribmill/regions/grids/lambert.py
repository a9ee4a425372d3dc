"""Lambert conformal grids: HRRR, NAM, RAP, NBM over the United States."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gribmill.arrays import Floats
from gribmill.regions.box import wrap_longitude
from gribmill.regions.errors import RegionError
from gribmill.regions.grids.grid import Earth, check_number
from gribmill.regions.grids.plane import PlaneGrid

# For closer parallels the two-parallel formula loses digits, and the mean parallel is exact to 1e-11.
_ONE_PARALLEL_DEG = 1e-4


class Cone(NamedTuple):
    """n: sine of the cone's half angle; scale: radius at the equator in metres; origin: radius at LaD."""

    n: float
    scale: float
    origin: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LambertGrid(PlaneGrid):
    """`lov`: the upright meridian; `latin1`, `latin2`: standard parallels; `lad`: where y is 0."""

    lov: float
    latin1: float
    latin2: float
    lad: float

    def __post_init__(self) -> None:
        PlaneGrid.__post_init__(self)
        put = object.__setattr__
        put(self, "lov", float(wrap_longitude(check_number("LoV", self.lov, -720, 720))))
        for name in ("latin1", "latin2", "lad"):
            put(self, name, check_number(name, getattr(self, name), -89.999, 89.999))
        if abs(self.latin1 + self.latin2) < 1e-3:
            raise RegionError(
                f"standard parallels {self.latin1:g} and {self.latin2:g} make a cylinder, not a Lambert cone"
            )

    @property
    def cone(self) -> Cone:
        """The constants of the projection."""
        return _cone(self.earth, self.latin1, self.latin2, self.lad)

    def project(self, lat: npt.ArrayLike, lon: npt.ArrayLike) -> tuple[Floats, Floats]:
        cone = self.cone
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            radius = cone.scale * self.earth.conformal_colatitude(lat) ** cone.n
        # The pole that the cone opens to is at infinity.
        radius = np.where(np.isfinite(radius), radius, np.nan)
        angle = self.rotation(lat, lon)
        return radius * np.sin(angle), cone.origin - radius * np.cos(angle)

    def unproject(self, x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Floats, Floats]:
        n, scale, origin = self.cone
        east = math.copysign(1.0, n) * np.asarray(x, dtype=np.float64)
        down = math.copysign(1.0, n) * (origin - np.asarray(y, dtype=np.float64))
        lat = self.earth.latitude((np.hypot(east, down) / abs(scale)) ** (1 / n))
        lon = np.degrees(np.arctan2(east, down)) / n
        # The flattened cone leaves a wedge of the plane empty, without any point of the Earth.
        nowhere = np.abs(lon) > 180.0 + 1e-9
        lon = wrap_longitude(lon + self.lov)
        if nowhere.any():
            lat, lon = np.where(nowhere, np.nan, lat), np.where(nowhere, np.nan, lon)
        return lat, lon

    def rotation(self, lat: npt.ArrayLike, lon: npt.ArrayLike) -> Floats:
        from_upright = wrap_longitude(np.asarray(lon, dtype=np.float64) - self.lov)
        angle = np.radians(self.cone.n * from_upright)
        return np.array(np.broadcast_to(angle, np.broadcast_shapes(np.shape(lat), np.shape(lon))))

    def cf(self) -> dict[str, Any]:
        # Readers take a single value for the origin as well.
        one = self.latin1 == self.latin2 == self.lad
        return {
            "grid_mapping_name": "lambert_conformal_conic",
            "standard_parallel": self.latin1 if one else [self.latin1, self.latin2],
            "longitude_of_central_meridian": self.lov,
            "latitude_of_projection_origin": self.lad,
            "false_easting": 0.0,
            "false_northing": 0.0,
            **self.earth.cf(),
        }

    def spec(self) -> dict[str, Any]:
        return {
            "kind": "lambert",
            **self.plane_spec(),
            "lov": self.lov,
            "latin1": self.latin1,
            "latin2": self.latin2,
            "lad": self.lad,
        }


@lru_cache(maxsize=64)
def _cone(earth: Earth, latin1: float, latin2: float, lad: float) -> Cone:
    t = earth.conformal_colatitude
    if abs(latin1 - latin2) < _ONE_PARALLEL_DEG:
        latin1 = latin2 = (latin1 + latin2) / 2
        n = math.sin(math.radians(latin1))
    else:
        m1, m2 = earth.parallel_radius(latin1), earth.parallel_radius(latin2)
        n = math.log(m1 / m2) / math.log(float(t(latin1)) / float(t(latin2)))
    scale = earth.a * earth.parallel_radius(latin1) / (n * float(t(latin1)) ** n)
    return Cone(n, scale, scale * float(t(lad)) ** n)
