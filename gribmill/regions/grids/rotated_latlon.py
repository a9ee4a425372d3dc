"""Rotated latitude-longitude grids, regular about a displaced pole: RRFS over North America, HRDPS."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gribmill.arrays import Floats
from gribmill.regions.box import wrap_longitude
from gribmill.regions.grids.columns import column_of
from gribmill.regions.grids.grid import check_number
from gribmill.regions.grids.latlon import DegreeGrid


@dataclass(frozen=True, slots=True, kw_only=True)
class RotatedLatLonGrid(DegreeGrid):
    """Rows and columns in rotated degrees; `pole_lat`, `pole_lon`: the moved southern pole.

    `angle`: the turn about the new polar axis, in degrees (WMO: clockwise seen from south to north).
    """

    pole_lat: float
    pole_lon: float
    angle: float = 0.0

    def __post_init__(self) -> None:
        DegreeGrid.__post_init__(self)
        put = object.__setattr__
        put(self, "pole_lat", check_number("pole_lat", self.pole_lat, -90, 90))
        put(self, "pole_lon", float(wrap_longitude(check_number("pole_lon", self.pole_lon, -720, 720))))
        put(self, "angle", check_number("angle", self.angle, -360, 360))

    @property
    def separable(self) -> bool:
        return False

    @property
    def axes(self) -> Floats:
        """Rows: the rotated x, y and z axes in geographic coordinates."""
        pole, origin, turn = (
            math.radians(self.pole_lat),
            math.radians(self.pole_lon),
            math.radians(self.angle),
        )
        x = np.array([-math.sin(pole) * math.cos(origin), -math.sin(pole) * math.sin(origin), math.cos(pole)])
        y = np.array([-math.sin(origin), math.cos(origin), 0.0])
        z = np.cross(x, y)
        return np.array([math.cos(turn) * x + math.sin(turn) * y, math.cos(turn) * y - math.sin(turn) * x, z])

    def latlon(self, j: npt.ArrayLike, i: npt.ArrayLike) -> tuple[Floats, Floats]:
        rlat = self.south + self.dlat * np.asarray(j, dtype=np.float64)
        rlon = self.west + self.dlon * np.asarray(i, dtype=np.float64)
        return _turned(rlat, rlon, self.axes.T)

    def index(self, lat: npt.ArrayLike, lon: npt.ArrayLike) -> tuple[Floats, Floats]:
        rlat, rlon = _turned(lat, lon, self.axes)
        return (rlat - self.south) / self.dlat, column_of(rlon, self.west, self.dlon, self.nx)

    def rotation(self, lat: npt.ArrayLike, lon: npt.ArrayLike) -> Floats:
        """The bearing of the rotated north at each point."""
        phi, lam = (np.radians(np.asarray(value, dtype=np.float64)) for value in (lat, lon))
        zx, zy, zz = self.axes[2]
        # The rotated north pole in the local east and north components of the point.
        east = zy * np.cos(lam) - zx * np.sin(lam)
        north = zz * np.cos(phi) - (zx * np.cos(lam) + zy * np.sin(lam)) * np.sin(phi)
        return np.asarray(np.arctan2(east, north))

    def cf(self) -> dict[str, Any]:
        return {
            "grid_mapping_name": "rotated_latitude_longitude",
            "grid_north_pole_latitude": -self.pole_lat,
            "grid_north_pole_longitude": float(wrap_longitude(self.pole_lon + 180.0)),
            "north_pole_grid_longitude": -self.angle + 0.0,
            **self.earth.cf(),
        }

    def spec(self) -> dict[str, Any]:
        return {
            "kind": "rotated_latlon",
            **self.numbers(),
            "pole_lat": self.pole_lat,
            "pole_lon": self.pole_lon,
            "angle": self.angle,
            "earth": [self.earth.a, self.earth.b],
        }


def _turned(lat: npt.ArrayLike, lon: npt.ArrayLike, matrix: Floats) -> tuple[Floats, Floats]:
    """Latitude and longitude after the unit vector is multiplied by a rotation matrix."""
    phi, lam = (np.radians(np.asarray(value, dtype=np.float64)) for value in (lat, lon))
    x, y = np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam)
    z = np.broadcast_to(np.sin(phi), x.shape)
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = matrix
    u, v, w = xx * x + xy * y + xz * z, yx * x + yy * y + yz * z, zx * x + zy * y + zz * z
    # Near a pole, arcsin loses half of the digits; arctan2 is precise everywhere.
    return np.degrees(np.arctan2(w, np.hypot(u, v))), wrap_longitude(np.degrees(np.arctan2(v, u)))
