"""Section 3 of a GRIB2 message, read by grid definition template."""

from __future__ import annotations

import struct
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
from gribmill.tiles.grib.octets import optional, scaled, signed, unsigned

NAMES = {
    0: "lat-lon", 1: "rotated lat-lon", 10: "Mercator", 12: "transverse Mercator", 20: "polar stereographic",
    30: "Lambert", 40: "Gaussian", 50: "spherical harmonics", 90: "space view", 101: "unstructured",
    140: "Lambert azimuthal", 204: "curvilinear", 32768: "NCEP rotated E", 32769: "NCEP rotated",
}  # fmt: skip
# Where the resolution and component flags are, and what bits 3 and 4 say: increments are given.
FLAGS_OCTET = {0: 55, 1: 55, 40: 55, 41: 55, 10: 47, 12: 47, 20: 47, 30: 47, 32768: 55, 32769: 55}
I_GIVEN, J_GIVEN = 0x20, 0x10
SOUTH_POLE, BIPOLAR = 0x80, 0x40

# Code table 3.2: the shapes whose axes are not in the message.
EARTHS = {
    0: Earth.sphere(6_367_470), 2: Earth(6_378_160, 6_356_775), 4: Earth(6_378_137, 6_356_752.314140),
    5: Earth(6_378_137, 6_356_752.314245), 6: Earth.sphere(6_371_229), 8: Earth.sphere(6_371_200),
    9: Earth(6_377_563.396, 6_356_256.909),
}  # fmt: skip


def template(section: bytes) -> int:
    """The number of the grid definition template."""
    return unsigned(section, 13, 14)


def name(section: bytes) -> str:
    """The kind of grid in a word or two."""
    number = template(section)
    reduced = number in (0, 40) and optional(section, 31, 34) is None
    return ("reduced " if reduced else "") + NAMES.get(number, f"template 3.{number}")


def flags(section: bytes) -> int:
    """The resolution and component flags; 0 where the template is not known."""
    octet = FLAGS_OCTET.get(template(section))
    return unsigned(section, octet, octet) if octet else 0


def read(section: bytes, layout: Layout | None) -> Grid:
    """The grid. GribError where gribmill does not support its template."""
    number = template(section)
    if layout is None or number not in (0, 1, 10, 20, 30, 40):
        raise GribError(f"grid template 3.{number} ({name(section)}) is not supported")
    values: dict[str, Any] = {"nx": layout.nx, "ny": layout.ny, "earth": _earth(section)}
    if number in (0, 1, 40):
        return _angular(number, section, layout, values)
    return _projected(number, section, layout, values)


def _angular(number: int, section: bytes, layout: Layout, values: dict[str, Any]) -> Grid:
    unit = _angle_unit(section)
    first = signed(section, 47, 50) * unit, signed(section, 51, 54) * unit
    last = signed(section, 56, 59) * unit, signed(section, 60, 63) * unit
    box = bounds(layout, first, last)
    given = flags(section)
    di = optional(section, 64, 67) if given & I_GIVEN else None
    span = (box["east"] - box["west"]) % 360 or 360.0
    check_increment("longitude", layout.nx, span, None if di is None else di * unit)
    if number == 40:
        del box["north"]
        return GaussianGrid.spanning(n=unsigned(section, 68, 71), **values, **box)
    dj = optional(section, 68, 71) if given & J_GIVEN else None
    check_increment("latitude", layout.ny, box["north"] - box["south"], None if dj is None else dj * unit)
    if number == 0:
        return LatLonGrid.spanning(**values, **box)
    angle: float = struct.unpack(">f", unsigned(section, 81, 84).to_bytes(4, "big"))[0]
    return RotatedLatLonGrid.spanning(
        pole_lat=signed(section, 73, 76) * unit, pole_lon=signed(section, 77, 80) * unit, angle=angle, **values, **box
    )


def _projected(number: int, section: bytes, layout: Layout, values: dict[str, Any]) -> Grid:
    values |= {
        "lat": signed(section, 39, 42) / 1e6,
        "lon": signed(section, 43, 46) / 1e6,
        "corner": first_corner(layout),
        "lad": signed(section, 48, 51) / 1e6,
    }
    if number == 10:
        if signed(section, 61, 64) != 0:
            raise GribError("a Mercator grid that is turned is not supported")
        return MercatorGrid.at_corner(**values, **_steps(section, 65))
    values |= {"lov": signed(section, 52, 55) / 1e6, **_steps(section, 56)}
    centre = unsigned(section, 64, 64)
    if number == 20:
        return PolarStereographicGrid.at_corner(**values, south_pole=bool(centre & SOUTH_POLE))
    if centre & BIPOLAR:
        raise GribError("a bipolar Lambert grid is not supported")
    return LambertGrid.at_corner(**values, latin1=signed(section, 66, 69) / 1e6, latin2=signed(section, 70, 73) / 1e6)


def _steps(section: bytes, first: int) -> dict[str, Any]:
    return {
        "dx": unsigned(section, first, first + 3) / 1e3,
        "dy": unsigned(section, first + 4, first + 7) / 1e3,
    }


def _angle_unit(section: bytes) -> float:
    """Degrees in the unit of the angles: a millionth, unless the message names another fraction."""
    basic, divisions = optional(section, 39, 42), optional(section, 43, 46)
    return basic / divisions if basic and divisions else 1e-6


def _earth(section: bytes) -> Earth:
    shape = unsigned(section, 15, 15)
    if shape in EARTHS:
        return EARTHS[shape]
    axes = scaled(section, 16), scaled(section, 21), scaled(section, 26)
    if shape == 1 and axes[0]:
        return Earth.sphere(axes[0])
    if shape in (3, 7) and axes[1] and axes[2]:
        metres = 1000.0 if shape == 3 else 1.0
        return Earth(axes[1] * metres, axes[2] * metres)
    raise GribError(f"its shape of the Earth ({shape}) is unknown or lacks its axes")
