"""Regular latitude-longitude grids: GFS, ECMWF, waves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gribmill.arrays import Floats
from gribmill.regions.box import wrap_longitude
from gribmill.regions.grids.columns import column_of
from gribmill.regions.grids.degrees import DegreeGrid


@dataclass(frozen=True, slots=True, kw_only=True)
class LatLonGrid(DegreeGrid):
    """Rows are parallels and columns meridians, both evenly spaced."""

    @property
    def separable(self) -> bool:
        return True

    def latlon(self, j: npt.ArrayLike, i: npt.ArrayLike) -> tuple[Floats, Floats]:
        lat, lon = np.broadcast_arrays(
            self.south + self.dlat * np.asarray(j, dtype=np.float64),
            wrap_longitude(self.west + self.dlon * np.asarray(i, dtype=np.float64)),
        )
        return lat, lon

    def index(self, lat: npt.ArrayLike, lon: npt.ArrayLike) -> tuple[Floats, Floats]:
        j, i = np.broadcast_arrays(
            (np.asarray(lat, dtype=np.float64) - self.south) / self.dlat,
            column_of(lon, self.west, self.dlon, self.nx),
        )
        return j, i

    def rotation(self, lat: npt.ArrayLike, lon: npt.ArrayLike) -> Floats:
        return np.zeros(np.broadcast_shapes(np.shape(lat), np.shape(lon)))

    def cf(self) -> dict[str, Any]:
        return {"grid_mapping_name": "latitude_longitude", **self.earth.cf()}

    def spec(self) -> dict[str, Any]:
        return {"kind": "latlon", **self.numbers(), "earth": [self.earth.a, self.earth.b]}
