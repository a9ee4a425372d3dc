"""Mercator grids: NBM over Hawaii, Puerto Rico and the oceans."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gribmill.arrays import Floats
from gribmill.regions.box import wrap_longitude
from gribmill.regions.grids.columns import check_turn, column_of, goes_round
from gribmill.regions.grids.grid import Corner, check_number
from gribmill.regions.grids.plane import PlaneGrid


@dataclass(frozen=True, slots=True, kw_only=True)
class MercatorGrid(PlaneGrid):
    """`lad`: the parallel of true scale; `lon0`: the meridian where x is 0 (any is valid)."""

    lad: float
    lon0: float = 0.0

    def __post_init__(self) -> None:
        PlaneGrid.__post_init__(self)
        put = object.__setattr__
        put(self, "lad", check_number("lad", self.lad, -89.999, 89.999))
        put(self, "lon0", float(wrap_longitude(check_number("lon0", self.lon0, -720, 720))))
        check_turn(self.nx, self.dlon)

    @classmethod
    def at_corner(cls, lat: float, lon: float, corner: Corner = "sw", **values: Any) -> Self:
        """As for all projected grids; x is relative to the corner's meridian unless `lon0` is given."""
        # A slotted dataclass is created twice, so a bare super() would refer to the wrong class.
        return super(MercatorGrid, cls).at_corner(lat, lon, corner, **{"lon0": lon, **values})

    @property
    def scale(self) -> float:
        """Metres of x per radian of longitude."""
        return self.earth.a * self.earth.parallel_radius(self.lad)

    @property
    def dlon(self) -> float:
        """Degrees of longitude between columns."""
        return math.degrees(self.dx / self.scale)

    @property
    def wraps(self) -> bool:
        return goes_round(self.nx, self.dlon)

    @property
    def separable(self) -> bool:
        return True

    def project(self, lat: npt.ArrayLike, lon: npt.ArrayLike) -> tuple[Floats, Floats]:
        with np.errstate(divide="ignore", invalid="ignore"):
            y = -self.scale * np.log(self.earth.conformal_colatitude(lat))
        # The multiple of 360° is chosen so that points on the grid get the x of their column.
        column = column_of(lon, self.lon0 + math.degrees(self.x0 / self.scale), self.dlon, self.nx)
        x, y = np.broadcast_arrays(self.x0 + self.dx * column, np.where(np.isfinite(y), y, np.nan))
        return x, y

    def unproject(self, x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Floats, Floats]:
        lat, lon = np.broadcast_arrays(
            self.earth.latitude(np.exp(-np.asarray(y, dtype=np.float64) / self.scale)),
            wrap_longitude(self.lon0 + np.degrees(np.asarray(x, dtype=np.float64) / self.scale)),
        )
        return lat, lon

    def rotation(self, lat: npt.ArrayLike, lon: npt.ArrayLike) -> Floats:
        return np.zeros(np.broadcast_shapes(np.shape(lat), np.shape(lon)))

    def cf(self) -> dict[str, Any]:
        return {
            "grid_mapping_name": "mercator",
            "longitude_of_projection_origin": self.lon0,
            "standard_parallel": self.lad,
            "false_easting": 0.0,
            "false_northing": 0.0,
            **self.earth.cf(),
        }

    def spec(self) -> dict[str, Any]:
        return {"kind": "mercator", **self.plane_spec(), "lad": self.lad, "lon0": self.lon0}
