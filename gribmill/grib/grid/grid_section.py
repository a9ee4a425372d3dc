"""The grid section of both editions: GRIB1's section 2, GRIB2's section 3."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from gribmill.grib.errors import GribError
from gribmill.grib.sections import ibm32, ieee32, optional, scaled, signed, unsigned

GridKind = Literal["lat-lon", "rotated lat-lon", "Gaussian", "Mercator", "polar stereographic", "Lambert"]

# Kinds of grid by data representation type (GRIB1) and by grid definition template (GRIB2).
KINDS1: dict[int, GridKind] = {
    0: "lat-lon", 1: "Mercator", 3: "Lambert", 4: "Gaussian", 5: "polar stereographic", 10: "rotated lat-lon",
}  # fmt: skip
KINDS2: dict[int, GridKind] = {
    0: "lat-lon", 1: "rotated lat-lon", 10: "Mercator", 20: "polar stereographic", 30: "Lambert", 40: "Gaussian",
}  # fmt: skip
NAMES1 = {
    **KINDS1, 8: "Albers", 13: "oblique Lambert", 14: "rotated Gaussian", 20: "stretched lat-lon",
    24: "stretched Gaussian", 30: "stretched and rotated lat-lon", 34: "stretched and rotated Gaussian",
    50: "spherical harmonics", 90: "space view", 203: "NCEP rotated E", 205: "NCEP rotated",
}  # fmt: skip
NAMES2 = {
    **KINDS2, 2: "stretched lat-lon", 3: "stretched and rotated lat-lon", 12: "transverse Mercator", 31: "Albers",
    41: "rotated Gaussian", 50: "spherical harmonics", 90: "space view", 100: "triangular", 101: "unstructured",
    140: "Lambert azimuthal", 150: "HEALPix", 204: "curvilinear", 32768: "NCEP rotated E", 32769: "NCEP rotated",
}  # fmt: skip
ANGULAR = ("lat-lon", "rotated lat-lon", "Gaussian")
# Grids whose axes point east and north everywhere: their winds need no rotation, regardless of the flag.
UPRIGHT = frozenset(("lat-lon", "Gaussian", "Mercator", "reduced lat-lon", "reduced Gaussian"))

# NCEP's rotated grid without staggered rows, RAP's native grid.
NCEP_ROTATED2 = 32769

# Resolution and component flags: increments given (in GRIB2 for each direction), winds relative to the grid.
INCREMENTS_GIVEN1, SPHEROID1 = 0x80, 0x40
I_GIVEN2, J_GIVEN2 = 0x20, 0x10
COMPONENTS_ALONG_GRID = 0x08
FLAGS_OCTET2 = {0: 55, 1: 55, 40: 55, 41: 55, 10: 47, 12: 47, 20: 47, 30: 47, 32768: 55, 32769: 55}
# Projection centre flags.
SOUTH_POLE, BIPOLAR = 0x80, 0x40
NOT_GIVEN1 = 0xFFFF

# Equatorial and polar semi-axes of the Earth in m. GRIB2: code table 3.2, for shapes without stated axes.
EARTHS1 = {False: (6_367_470, 6_367_470), True: (6_378_160, 6_356_775)}
EARTHS2 = {
    0: (6_367_470, 6_367_470), 2: (6_378_160, 6_356_775), 4: (6_378_137, 6_356_752.314140),
    5: (6_378_137, 6_356_752.314245), 6: (6_371_229, 6_371_229), 8: (6_371_200, 6_371_200),
    9: (6_377_563.396, 6_356_256.909),
}  # fmt: skip
DEFAULT_EARTH = 6
# GRIB1 always states the increments of a polar stereographic grid at this latitude.
POLAR_LAD1 = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GridFacts:
    """The contents of the section, in degrees and metres. Attributes that a kind of grid lacks keep their defaults."""

    kind: GridKind
    earth: tuple[float, float]
    """Equatorial and polar semi-axes."""
    first: tuple[float, float]
    """Latitude and longitude of the first point."""
    last: tuple[float, float] = (0.0, 0.0)
    di: float | None = None
    dj: float | None = None
    """Increments, if given."""
    precision: float = 1e-6
    """The smallest angle that the section can express."""
    parallels: int = 0
    """Parallels between a pole and the equator, for Gaussian grids."""
    pole: tuple[float, float, float] = (-90.0, 0.0, 0.0)
    """The southern pole of a rotated grid, and the angle of rotation."""
    dx: float = 0.0
    dy: float = 0.0
    lad: float = 0.0
    lov: float = 0.0
    latin1: float = 0.0
    latin2: float = 0.0
    centre: int = 0
    orientation: float = 0.0
    """The angle between the columns of a Mercator grid and the meridians; some encoders write a longitude here."""


def grid_facts(edition: int, section: bytes) -> GridFacts:
    """The contents of the section. Raises GribError if gribmill does not support that kind of grid."""
    if edition == 1:
        return _facts1(section)
    return _facts2(section)


# Cached: every message of a file repeats the same section.
@lru_cache(maxsize=64)
def grid_name(edition: int, section: bytes) -> str:
    """The kind of grid in a word or two, supported or not."""
    if edition == 2:
        number = unsigned(section, 13, 14)
        reduced = number in (0, 40) and optional(section, 31, 34) is None
        name = NAMES2.get(number, f"template 3.{number}")
    elif section:
        reduced = section[5] in (0, 4) and unsigned(section, 7, 8) == NOT_GIVEN1
        name = NAMES1.get(section[5], f"type {section[5]}")
    else:
        return "not described"
    return f"reduced {name}" if reduced else name


def unsupported_grid(edition: int, section: bytes) -> GribError:
    """The error for a kind of grid that gribmill does not support."""
    name = grid_name(edition, section)
    if edition == 1:
        return GribError(f"a GRIB1 grid of type {section[5]} ({name}) is not supported")
    return GribError(f"grid template 3.{unsigned(section, 13, 14)} ({name}) is not supported")


def has_grid_relative_winds(edition: int, section: bytes) -> bool:
    """Whether u and v are along axes other than east and north (bit 5 of the resolution and component flags)."""
    flags = _flags1(section) if edition == 1 else _flags2(section)
    return bool(flags & COMPONENTS_ALONG_GRID) and grid_name(edition, section) not in UPRIGHT


def _facts1(section: bytes) -> GridFacts:
    kind = KINDS1.get(section[5])
    if kind is None:
        raise unsupported_grid(1, section)
    earth = EARTHS1[bool(_flags1(section) & SPHEROID1)]
    first = _degrees1(section, 11), _degrees1(section, 14)
    return (_angular1 if kind in ANGULAR else _projected1)(kind, section, earth, first)


def _flags1(section: bytes) -> int:
    return unsigned(section, 17, 17) if section else 0


def _angular1(kind: GridKind, section: bytes, earth: tuple[float, float], first: tuple[float, float]) -> GridFacts:
    given = bool(_flags1(section) & INCREMENTS_GIVEN1)
    di, dj = unsigned(section, 24, 25), unsigned(section, 26, 27)
    pole = (-90.0, 0.0, 0.0)
    if kind == "rotated lat-lon":
        pole = _degrees1(section, 33), _degrees1(section, 36), ibm32(section, 39)
    return GridFacts(
        kind=kind,
        earth=earth,
        first=first,
        last=(_degrees1(section, 18), _degrees1(section, 21)),
        di=di / 1e3 if given and di != NOT_GIVEN1 else None,
        dj=dj / 1e3 if given and dj != NOT_GIVEN1 and kind != "Gaussian" else None,
        parallels=dj,
        pole=pole,
        precision=1e-3,
    )


def _projected1(kind: GridKind, section: bytes, earth: tuple[float, float], first: tuple[float, float]) -> GridFacts:
    if kind == "Mercator":
        dx, dy = unsigned(section, 29, 31), unsigned(section, 32, 34)
        return GridFacts(kind=kind, earth=earth, first=first, dx=dx, dy=dy, lad=_degrees1(section, 24))
    lambert = kind == "Lambert"
    latin1, latin2 = (_degrees1(section, 29), _degrees1(section, 32)) if lambert else (0.0, 0.0)
    return GridFacts(
        kind=kind,
        earth=earth,
        first=first,
        dx=float(unsigned(section, 21, 23)),
        dy=float(unsigned(section, 24, 26)),
        lad=latin1 if lambert else POLAR_LAD1,
        lov=_degrees1(section, 18),
        latin1=latin1,
        latin2=latin2,
        centre=unsigned(section, 27, 27),
    )


def _degrees1(section: bytes, first: int) -> float:
    return signed(section, first, first + 2) / 1e3


def _facts2(section: bytes) -> GridFacts:
    if unsigned(section, 13, 14) == NCEP_ROTATED2:
        return _ncep_rotated2(section)
    kind = KINDS2.get(unsigned(section, 13, 14))
    if kind is None:
        raise unsupported_grid(2, section)
    return (_angular2 if kind in ANGULAR else _projected2)(kind, section)


def _flags2(section: bytes) -> int:
    """The resolution and component flags; 0 for an unknown template."""
    octet = FLAGS_OCTET2.get(unsigned(section, 13, 14))
    return unsigned(section, octet, octet) if octet else 0


def _angular2(kind: GridKind, section: bytes) -> GridFacts:
    unit, given = _angle_unit2(section), _flags2(section)
    di = optional(section, 64, 67) if given & I_GIVEN2 else None
    dj = optional(section, 68, 71) if given & J_GIVEN2 and kind != "Gaussian" else None
    pole = (-90.0, 0.0, 0.0)
    if kind == "rotated lat-lon":
        pole = signed(section, 73, 76) * unit, signed(section, 77, 80) * unit, ieee32(section, 81)
    return GridFacts(
        kind=kind,
        # The points of a grid in degrees do not depend on the shape of the Earth, so an unknown one does not matter.
        earth=_earth2(section) or EARTHS2[DEFAULT_EARTH],
        first=(signed(section, 47, 50) * unit, signed(section, 51, 54) * unit),
        last=(signed(section, 56, 59) * unit, signed(section, 60, 63) * unit),
        di=None if di is None else di * unit,
        dj=None if dj is None else dj * unit,
        parallels=unsigned(section, 68, 71) if kind == "Gaussian" else 0,
        pole=pole,
        precision=unit,
    )


def _ncep_rotated2(section: bytes) -> GridFacts:
    """NCEP's template for rotated grids, which states the centre: where rotated equator and prime meridian cross.

    The first point is in unrotated degrees. The last point follows from symmetry about the centre, which is more
    accurate than the stated increments: those of RAP are off by a sixth of a cell over a row.
    """
    unit = _angle_unit2(section)
    lat, lon, centre_lat, centre_lon = (signed(section, place, place + 3) * unit for place in (47, 51, 56, 60))
    first = _about_centre(lat, lon, centre_lat, centre_lon)
    return GridFacts(
        kind="rotated lat-lon",
        earth=_earth2(section) or EARTHS2[DEFAULT_EARTH],
        first=first,
        last=(-first[0], -first[1]),
        pole=(centre_lat - 90.0, centre_lon, 0.0),
        precision=unit,
    )


def _about_centre(lat: float, lon: float, centre_lat: float, centre_lon: float) -> tuple[float, float]:
    """Latitude and longitude of a point in the rotated system, with the centre at 0, 0."""
    phi, lam, tilt = math.radians(lat), math.radians(lon - centre_lon), math.radians(centre_lat)
    x, y, z = math.cos(phi) * math.cos(lam), math.cos(phi) * math.sin(lam), math.sin(phi)
    u, w = math.cos(tilt) * x + math.sin(tilt) * z, math.cos(tilt) * z - math.sin(tilt) * x
    return math.degrees(math.atan2(w, math.hypot(u, y))), math.degrees(math.atan2(y, u))


def _projected2(kind: GridKind, section: bytes) -> GridFacts:
    earth, first, lad = _earth2(section), (_degrees2(section, 39), _degrees2(section, 43)), _degrees2(section, 48)
    if earth is None:
        raise GribError(f"its shape of the Earth ({unsigned(section, 15, 15)}) is unknown or lacks its axes")
    if kind == "Mercator":
        return GridFacts(
            kind=kind,
            earth=earth,
            first=first,
            last=(_degrees2(section, 52), _degrees2(section, 56)),
            lad=lad,
            dx=_metres2(section, 65),
            dy=_metres2(section, 69),
            orientation=_degrees2(section, 61),
        )
    lambert = kind == "Lambert"
    return GridFacts(
        kind=kind,
        earth=earth,
        first=first,
        lad=lad,
        dx=_metres2(section, 56),
        dy=_metres2(section, 60),
        lov=_degrees2(section, 52),
        latin1=_degrees2(section, 66) if lambert else 0.0,
        latin2=_degrees2(section, 70) if lambert else 0.0,
        centre=unsigned(section, 64, 64),
    )


def _degrees2(section: bytes, first: int) -> float:
    return signed(section, first, first + 3) / 1e6


def _metres2(section: bytes, first: int) -> float:
    return unsigned(section, first, first + 3) / 1e3


def _angle_unit2(section: bytes) -> float:
    """The unit of the angles in degrees: a millionth, unless the message states another fraction."""
    basic, divisions = optional(section, 39, 42), optional(section, 43, 46)
    return basic / divisions if basic and divisions else 1e-6


def _earth2(section: bytes) -> tuple[float, float] | None:
    shape = unsigned(section, 15, 15)
    if shape in EARTHS2:
        return EARTHS2[shape]
    axes = scaled(section, 16), scaled(section, 21), scaled(section, 26)
    if shape == 1 and axes[0]:
        return axes[0], axes[0]
    if shape in (3, 7) and axes[1] and axes[2]:
        metres = 1000.0 if shape == 3 else 1.0
        return axes[1] * metres, axes[2] * metres
    return None
