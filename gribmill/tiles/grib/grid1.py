"""Section 2 of a GRIB1 message, read by data representation type."""

from __future__ import annotations

from typing import Any

from gribmill.regions.grids import (
    Earth,
    GaussianGrid,
    Grid,
    LambertGrid,
    LatLonGrid,
    MercatorGrid,
    PolarStereographicGrid,
    RotatedLatLonGrid,
)
from gribmill.tiles.grib.corners import bounds, check_increment, first_corner
from gribmill.tiles.grib.error import GribError
from gribmill.tiles.grib.layout import Layout
from gribmill.tiles.grib.octets import signed, unsigned
from gribmill.tiles.grib.packing import ibm32

NAMES = {
    0: "lat-lon", 1: "Mercator", 3: "Lambert", 4: "Gaussian", 5: "polar stereographic", 10: "rotated lat-lon",
    50: "spherical harmonics", 90: "space view",
}  # fmt: skip
SPHERE, SPHEROID = Earth.sphere(6_367_470), Earth(6_378_160, 6_356_775)
INCREMENTS_GIVEN, IS_SPHEROID = 0x80, 0x40
SOUTH_POLE, BIPOLAR = 0x80, 0x40
NOT_GIVEN = 0xFFFF
# GRIB1 states the steps of a polar stereographic grid at this latitude, always.
POLAR_LAD = 60.0


def name(section: bytes) -> str:
    """The kind of grid in a word or two."""
    reduced = section[5] in (0, 4) and unsigned(section, 7, 8) == NOT_GIVEN
    return ("reduced " if reduced else "") + NAMES.get(section[5], f"type {section[5]}")


def flags(section: bytes) -> int:
    """The resolution and component flags."""
    return unsigned(section, 17, 17) if section else 0


def read(section: bytes, layout: Layout | None) -> Grid:
    """The grid. GribError where gribmill does not support its type."""
    kind = section[5]
    if layout is None or kind not in (0, 1, 3, 4, 5, 10):
        raise GribError(f"a GRIB1 grid of type {kind} ({name(section)}) is not supported")
    earth = SPHEROID if flags(section) & IS_SPHEROID else SPHERE
    values: dict[str, Any] = {"nx": layout.nx, "ny": layout.ny, "earth": earth}
    if kind in (0, 4, 10):
        return _angular(kind, section, layout, values)
    return _projected(kind, section, layout, values)


def _angular(kind: int, section: bytes, layout: Layout, values: dict[str, Any]) -> Grid:
    first = _degrees(section, 11), _degrees(section, 14)
    last = _degrees(section, 18), _degrees(section, 21)
    box = bounds(layout, first, last)
    di, dj = unsigned(section, 24, 25), unsigned(section, 26, 27)
    given = bool(flags(section) & INCREMENTS_GIVEN)
    span = (box["east"] - box["west"]) % 360 or 360.0
    check_increment("longitude", layout.nx, span, di / 1e3 if given and di != NOT_GIVEN else None)
    if kind == 4:
        del box["north"]
        return GaussianGrid.spanning(n=dj, **values, **box)
    height = box["north"] - box["south"]
    check_increment("latitude", layout.ny, height, dj / 1e3 if given and dj != NOT_GIVEN else None)
    if kind == 0:
        return LatLonGrid.spanning(**values, **box)
    pole: dict[str, Any] = {"pole_lat": _degrees(section, 33), "pole_lon": _degrees(section, 36)}
    return RotatedLatLonGrid.spanning(angle=ibm32(unsigned(section, 39, 42)), **pole, **values, **box)


def _projected(kind: int, section: bytes, layout: Layout, values: dict[str, Any]) -> Grid:
    values |= {"lat": _degrees(section, 11), "lon": _degrees(section, 14), "corner": first_corner(layout)}
    if kind == 1:
        steps: dict[str, Any] = {"dx": unsigned(section, 29, 31), "dy": unsigned(section, 32, 34)}
        return MercatorGrid.at_corner(**values, **steps, lad=_degrees(section, 24))
    values |= {"dx": float(unsigned(section, 21, 23)), "dy": float(unsigned(section, 24, 26))}
    values |= {"lov": _degrees(section, 18)}
    centre = unsigned(section, 27, 27)
    if kind == 5:
        return PolarStereographicGrid.at_corner(**values, lad=POLAR_LAD, south_pole=bool(centre & SOUTH_POLE))
    if centre & BIPOLAR:
        raise GribError("a bipolar Lambert grid is not supported")
    latin1, latin2 = _degrees(section, 29), _degrees(section, 32)
    return LambertGrid.at_corner(**values, lad=latin1, latin1=latin1, latin2=latin2)


def _degrees(section: bytes, first: int) -> float:
    return signed(section, first, first + 2) / 1e3
