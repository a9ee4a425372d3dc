"""Base class of grids with columns along meridians: even steps in longitude, and rows that may span the globe."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gribmill.arrays import Floats
from gribmill.regions.box import wrap_longitude
from gribmill.regions.errors import RegionError
from gribmill.regions.grids.grid import Earth, check_count, check_number

# Increments are rounded to millionths of a degree (GRIB1: thousandths), so that a whole row may miss 360° slightly.
_WRAP_TOLERANCE_CELLS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class MeridianGrid:
    """`west`: the first column; `dlon`: the step in degrees, positive."""

    nx: int
    ny: int
    west: float
    dlon: float
    earth: Earth

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "nx", check_count("nx", self.nx))
        put(self, "ny", check_count("ny", self.ny))
        put(self, "dlon", closed_step(self.nx, check_number("dlon", self.dlon, 1e-6, 360)))
        put(self, "west", normal_west(check_number("west", self.west, -720, 720)))
        check_turn(self.nx, self.dlon)

    @property
    def shape(self) -> tuple[int, int]:
        return self.ny, self.nx

    @property
    def x(self) -> Floats:
        return self.west + self.dlon * np.arange(self.nx, dtype=np.float64)

    @property
    def wraps(self) -> bool:
        return goes_round(self.nx, self.dlon)


def normal_west(west: float) -> float:
    """The first longitude in [-180, 180)."""
    return float(wrap_longitude(west)) + 0.0


def eastward_step(west: float, east: float, nx: int) -> float:
    """Degrees between columns of a row that runs eastward from `west` to `east`."""
    if nx == 1:
        return 1.0
    span = (east - west) % 360.0
    return (span if span > 0.0 else 360.0) / (nx - 1)


def goes_round(nx: int, dlon: float) -> bool:
    """True if the row goes around the globe: the first column is one cell after the last."""
    return nx > 1 and abs(nx * dlon - 360.0) < _WRAP_TOLERANCE_CELLS * dlon


def closed_step(nx: int, dlon: float) -> float:
    """Exactly 360° / nx if the row goes around the globe within rounding; otherwise the step itself."""
    return 360.0 / nx if goes_round(nx, dlon) else dlon


def check_turn(nx: int, dlon: float) -> None:
    """Raise RegionError if rows go around the globe more than once; both 0° and 360° may be present."""
    if (nx - 1) * dlon > 360.0 + _WRAP_TOLERANCE_CELLS * dlon:
        raise RegionError(f"{nx} columns of {dlon:g}° go around the globe more than once")


def column_of(lon: npt.ArrayLike, west: float, dlon: float, nx: int) -> Floats:
    """Fractional column in the turn whose middle is the grid's: [-0.5, nx - 0.5) on a grid that wraps."""
    middle = (nx - 1) / 2
    turn = nx if goes_round(nx, dlon) else 360.0 / dlon
    column = (np.asarray(lon, dtype=np.float64) - west) / dlon
    return np.asarray(np.mod(column - middle + turn / 2, turn) - turn / 2 + middle)
