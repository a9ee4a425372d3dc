"""One field of one tile as arrays, with the text for its title."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gribmill.draw.errors import DrawError
from gribmill.tiles.read.units import Conversion

ValueRange = tuple[float | None, float | None]


class GridLike(Protocol):
    """Both directions of a map projection, as in all grids of `gribmill.regions.grids`."""

    def latlon(self, j: ArrayLike, i: ArrayLike, /) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

    def index(self, lat: ArrayLike, lon: ArrayLike, /) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...


@dataclass(frozen=True, slots=True)
class ShownUnits:
    """Units to show instead of the palette's, and the conversion from the units of the values."""

    units: str
    convert: Conversion


@dataclass(frozen=True, slots=True)
class Drawable:
    """Values (rows south to north, columns west to east, NaN missing) with 1-D or 2-D lat and lon.

    `grid` is the values' grid; fields on projected grids need it for coastlines and parallels. `box` (west, south,
    east, north) is the requested area, `flags` are the meanings of codes, `limits` the ends of the scale.
    """

    values: NDArray[np.floating]
    lat: NDArray[np.floating]
    lon: NDArray[np.floating]
    units: str = ""
    long_name: str = ""
    name: str = ""
    palette: str = "generic"
    model: str = ""
    run: str = ""
    region: str = ""
    valid: datetime | None = None
    hour: float | None = None
    attribution: str = ""
    grid: GridLike | None = None
    box: tuple[float, float, float, float] | None = None
    shown: ShownUnits | None = None
    limits: ValueRange = (None, None)
    flags: Mapping[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shape = self.values.shape
        if len(shape) != 2 or 0 in shape:
            raise DrawError(f"{self.name or 'a field'} has the shape {shape}: only a 2-D field can be drawn")
        if self.lat.ndim == 1 and self.lon.ndim == 1:
            fits = (len(self.lat), len(self.lon)) == shape
        else:
            fits = self.lat.shape == self.lon.shape == shape
        if not fits:
            raise DrawError(
                f"{self.name or 'a field'} has the shape {shape}, its coordinates {self.lat.shape} and "
                f"{self.lon.shape}: they belong to different grids"
            )

    @property
    def heading(self) -> str:
        """The human-readable name of the variable."""
        return self.long_name or self.name or "field"

    @property
    def source(self) -> str:
        """Model, run and hour in one line."""
        return "  ".join(part for part in (self.model.upper(), self.run, self.lead) if part)

    @property
    def lead(self) -> str:
        """The time since the run: `+006 h`, `+000 h 15 min`."""
        if self.hour is None:
            return ""
        hours, minutes = divmod(round(self.hour * 60), 60)
        return f"+{hours:03d} h" + (f" {minutes} min" if minutes else "")

    @property
    def valid_text(self) -> str:
        """The valid time in the form that forecasters use."""
        return "" if self.valid is None else f"valid {self.valid:%a %Y-%m-%d %H:%M} UTC"


@dataclass(frozen=True, slots=True)
class Barbs:
    """Earth-relative wind in m/s at the drawable's points."""

    u: NDArray[np.floating]
    v: NDArray[np.floating]
