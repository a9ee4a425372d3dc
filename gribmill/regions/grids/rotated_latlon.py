"""Rotated latitude-longitude grids, regular about a pole of their own: RRFS over North America, HRDPS."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gribmill.regions.box import wrap_longitude
from gribmill.regions.grids.earth import Earth
from gribmill.regions.grids.grid import Floats, check_count, check_number, check_part
from gribmill.regions.grids.latlon import check_turn, closed_step, column_of, eastward_step, goes_round, normal_west


@dataclass(frozen=True, slots=True, kw_only=True)
class RotatedLatLonGrid:
    """`south`, `west`, `dlat`, `dlon` in rotated degrees; `pole_lat`, `pole_lon`: the moved southern pole.

    `angle`: the turn about the new polar axis, in degrees (WMO: clockwise seen from south to north).
    """

    nx: int
    ny: int
    south: float
    west: float
    dlat: float
    dlon: float
    pole_lat: float
    pole_lon: float
    earth: Earth
    angle: float = 0.0

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "nx", check_count("nx", self.nx))
        put(self, "ny", check_count("ny", self.ny))
        put(self, "dlat", check_number("dlat", self.dlat, 1e-6, 180))
        put(self, "dlon", closed_step(self.nx, check_number("dlon", self.dlon, 1e-6, 360)))
        put(self, "south", check_number("south", self.south, -90.001, 90.001))
        put(self, "west", normal_west(check_number("west", self.west, -720, 720)))
        put(self, "pole_lat", check_number("pole_lat", self.pole_lat, -90, 90))
        put(self, "pole_lon", float(wrap_longitude(check_number("pole_lon", self.pole_lon, -720, 720))))
        put(self, "angle", check_number("angle", self.angle, -360, 360))
        check_number("its north-most latitude", self.south + (self.ny - 1) * self.dlat, -90.001, 90.001)
        check_turn(self.nx, self.dlon)

    @classmethod
    def spanning(
        cls, *, nx: int, ny: int, south: float, north: float, west: float, east: float, **pole: Any
    ) -> RotatedLatLonGrid:
        """From first and last rotated points; `pole` holds the remaining fields."""
        return cls(
            nx=nx,
            ny=ny,
            south=south,
            west=west,
            dlat=(north - south) / (ny - 1) if ny > 1 else 1.0,
            dlon=eastward_step(west, east, nx),
            **pole,
        )

    @property
    def shape(self) -> tuple[int, int]:
        return self.ny, self.nx

    @property
    def y(self) -> Floats:
        return self.south + self.dlat * np.arange(self.ny, dtype=np.float64)

    @property
    def x(self) -> Floats:
        return self.west + self.dlon * np.arange(self.nx, dtype=np.float64)

    @property
    def wraps(self) -> bool:
        return goes_round(self.nx, self.dlon)

    @property
    def separable(self) -> bool:
        return False

    @property
    def cell_km(self) -> float:
        return math.radians(self.dlat) * self.earth.a / 1000

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
        """The bearing of the rotated north at each place."""
        phi, lam = (np.radians(np.asarray(value, dtype=np.float64)) for value in (lat, lon))
        zx, zy, zz = self.axes[2]
        # The rotated north pole, seen in the local east and north of the place.
        east = zy * np.cos(lam) - zx * np.sin(lam)
        north = zz * np.cos(phi) - (zx * np.cos(lam) + zy * np.sin(lam)) * np.sin(phi)
        return np.asarray(np.arctan2(east, north))

    def part(self, j: int, ny: int, i: int, nx: int) -> RotatedLatLonGrid:
        check_part(self.shape, self.wraps, j, ny, i, nx)
        return replace(self, nx=nx, ny=ny, south=self.south + j * self.dlat, west=self.west + i * self.dlon)

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
            "nx": self.nx,
            "ny": self.ny,
            "south": self.south,
            "west": self.west,
            "dlat": self.dlat,
            "dlon": self.dlon,
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
    # Near a pole arcsin loses half of the digits; arctan2 keeps them everywhere.
    return np.degrees(np.arctan2(w, np.hypot(u, v))), wrap_longitude(np.degrees(np.arctan2(v, u)))
