"""Polar stereographic grids about either pole: HRRR and NBM over Alaska."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gribmill.arrays import Floats
from gribmill.regions.box import wrap_longitude
from gribmill.regions.grids.grid import check_number
from gribmill.regions.grids.plane import PlaneGrid


@dataclass(frozen=True, slots=True, kw_only=True)
class PolarStereographicGrid(PlaneGrid):
    """`lov`: the upright meridian; `lad`: the parallel of true scale; `south_pole`: about that pole."""

    lov: float
    lad: float
    south_pole: bool = False

    def __post_init__(self) -> None:
        PlaneGrid.__post_init__(self)
        put = object.__setattr__
        put(self, "lov", float(wrap_longitude(check_number("LoV", self.lov, -720, 720))))
        # Some centres omit the sign of the parallel of a southern grid.
        lad = abs(check_number("lad", self.lad, -90, 90))
        put(self, "lad", -lad if self.south_pole else lad)

    @property
    def _sign(self) -> float:
        return -1.0 if self.south_pole else 1.0

    @property
    def scale(self) -> float:
        """The radius at the equator, where the conformal colatitude is 1, in metres."""
        e = self.earth.eccentricity
        if abs(self.lad) > 90.0 - 1e-9:
            return 2 * self.earth.a / float(((1 + e) ** (1 + e) * (1 - e) ** (1 - e)) ** 0.5)
        true = abs(self.lad)
        return self.earth.a * self.earth.parallel_radius(true) / float(self.earth.conformal_colatitude(true))

    def project(self, lat: npt.ArrayLike, lon: npt.ArrayLike) -> tuple[Floats, Floats]:
        latitude = self._sign * np.asarray(lat, dtype=np.float64)
        radius = self.scale * self.earth.conformal_colatitude(latitude)
        angle = np.radians(np.asarray(lon, dtype=np.float64) - self.lov)
        return radius * np.sin(angle), -self._sign * radius * np.cos(angle)

    def unproject(self, x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Floats, Floats]:
        east = np.asarray(x, dtype=np.float64)
        down = -self._sign * np.asarray(y, dtype=np.float64)
        lat = self._sign * self.earth.latitude(np.hypot(east, down) / self.scale)
        return lat, wrap_longitude(np.degrees(np.arctan2(east, down)) + self.lov)

    def rotation(self, lat: npt.ArrayLike, lon: npt.ArrayLike) -> Floats:
        angle = self._sign * np.radians(wrap_longitude(np.asarray(lon, dtype=np.float64) - self.lov))
        return np.array(np.broadcast_to(angle, np.broadcast_shapes(np.shape(lat), np.shape(lon))))

    def cf(self) -> dict[str, Any]:
        return {
            "grid_mapping_name": "polar_stereographic",
            "straight_vertical_longitude_from_pole": self.lov,
            "latitude_of_projection_origin": 90.0 * self._sign,
            "standard_parallel": self.lad,
            "false_easting": 0.0,
            "false_northing": 0.0,
            **self.earth.cf(),
        }

    def spec(self) -> dict[str, Any]:
        return {
            "kind": "polar_stereographic",
            **self.plane_spec(),
            "lov": self.lov,
            "lad": self.lad,
            "south_pole": self.south_pole,
        }
