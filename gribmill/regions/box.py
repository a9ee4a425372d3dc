"""A box of longitudes and latitudes, which may cross the dateline or touch a pole."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gribmill.regions.errors import RegionError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# GRIB2 states coordinates in millionths of a degree: a point this close to an edge is on it.
EDGE_DEG = 1e-6
_ORDER = "the order is west, south, east, north"


@dataclass(frozen=True, slots=True)
class Box:
    """A box in degrees. West is in [-180, 180), east in (-180, 180]; it crosses the dateline if west > east."""

    west: float
    south: float
    east: float
    north: float

    def __post_init__(self) -> None:
        west, south, east, north = (_number(self, name) for name in ("west", "south", "east", "north"))
        _check_latitudes(south, north)
        west, east = _normal_longitudes(west, east)
        for name, value in (("west", west), ("south", south), ("east", east), ("north", north)):
            object.__setattr__(self, name, value + 0.0)  # + 0.0 turns -0.0 into 0.0

    @classmethod
    def parse(cls, text: str) -> Box:
        """Parses `W,S,E,N` in degrees, as given on the command line."""
        parts = text.split(",")
        if len(parts) != 4:
            raise RegionError(f"a box is four numbers W,S,E,N such as -80,38,-66,48; {text!r} has {len(parts)}")
        try:
            west, south, east, north = (float(part) for part in parts)
        except ValueError:
            raise RegionError(f"a box is four numbers W,S,E,N such as -80,38,-66,48; {text!r} is not") from None
        return cls(west, south, east, north)

    @property
    def width(self) -> float:
        """Degrees of longitude from west to east, in (0, 360]."""
        return self.east - self.west if self.east > self.west else self.east - self.west + 360.0

    @property
    def height(self) -> float:
        """Degrees of latitude."""
        return self.north - self.south

    @property
    def crosses_dateline(self) -> bool:
        """True if the box continues east of 180°."""
        return self.west > self.east

    @property
    def all_longitudes(self) -> bool:
        """True if the box spans the whole globe from west to east."""
        return self.width + 2 * EDGE_DEG >= 360.0

    @property
    def centre(self) -> tuple[float, float]:
        """Latitude and longitude (in [-180, 180)) of the middle."""
        return (self.south + self.north) / 2, wrap_longitude(self.west + self.width / 2)

    def contains(self, lat: npt.ArrayLike, lon: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Whether each point is inside or on the edge; false for NaN. At a pole, the longitude counts too."""
        import numpy as np  # late: boxes are also read where nothing is computed

        return np.asarray(self.contains_latitude(lat) & self.contains_longitude(lon), dtype=np.bool_)

    def contains_latitude(self, lat: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Whether each latitude is between south and north."""
        import numpy as np  # late: boxes are also read where nothing is computed

        lat = np.asarray(lat, dtype=np.float64)
        return np.asarray((lat >= self.south - EDGE_DEG) & (lat <= self.north + EDGE_DEG), dtype=np.bool_)

    def contains_longitude(self, lon: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Whether each longitude, modulo 360°, is between west and east."""
        import numpy as np  # late: boxes are also read where nothing is computed

        lon = np.asarray(lon, dtype=np.float64)
        if self.all_longitudes:
            return np.asarray(np.isfinite(lon), dtype=np.bool_)
        east_of_west = np.mod(lon - (self.west - EDGE_DEG), 360.0)
        return np.asarray(east_of_west <= self.width + 2 * EDGE_DEG, dtype=np.bool_)

    def as_list(self) -> list[float]:
        """[west, south, east, north]."""
        return [self.west, self.south, self.east, self.north]

    def __str__(self) -> str:
        return ",".join(f"{value:.10g}" for value in self.as_list())


def wrap_longitude(lon: Any) -> Any:
    """The same meridian in [-180, 180), unchanged if already in range; floats stay floats."""
    turns = (lon + 180.0) / 360.0
    # Unlike a modulo, this keeps the last bits of a number that is already in range.
    if type(turns) is float:
        return lon - 360.0 * math.floor(turns)
    import numpy as np  # late: as above

    return lon - 360.0 * np.floor(turns)


def _number(box: Box, name: str) -> float:
    value: Any = getattr(box, name)
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise RegionError(f"{name} of a box is a number of degrees, not {value!r}") from None
    if not math.isfinite(number):
        raise RegionError(f"{name} of a box is a number of degrees, not {value!r}")
    return number


def _check_latitudes(south: float, north: float) -> None:
    for name, value in (("south", south), ("north", north)):
        if not -90.0 <= value <= 90.0:
            raise RegionError(f"{name} {value:g} is not a latitude: it must be between -90 and 90; {_ORDER}")
    if south > north:
        raise RegionError(f"south {south:g} is north of north {north:g}; {_ORDER}")
    if south == north:
        raise RegionError(f"south and north are both {south:g}: the box has no height")


def _normal_longitudes(west: float, east: float) -> tuple[float, float]:
    for name, value in (("west", west), ("east", east)):
        if not -360.0 <= value <= 360.0:
            raise RegionError(f"{name} {value:g} is not a longitude: it must be between -360 and 360; {_ORDER}")
    if west == east:
        raise RegionError(f"west and east are both {west:g}: the box has no width")
    if east - west > 360.0 + EDGE_DEG:
        raise RegionError(f"from west {west:g} to east {east:g} is more than once around the globe")
    if east - west >= 360.0 - EDGE_DEG:
        return -180.0, 180.0
    west, east = wrap_longitude(west), -wrap_longitude(-east)
    if west == east:
        raise RegionError(f"west and east are the same meridian, {west:g}: the box has no width")
    return west, east
