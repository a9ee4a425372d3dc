"""Section 3 of a GRIB2 message, read by grid definition template."""

from __future__ import annotations

import struct

from gribmill.grib.errors import GribError
from gribmill.grib.grid.section_facts import GridFacts, Kind
from gribmill.grib.octets import optional, scaled, signed, unsigned

KINDS: dict[int, Kind] = {
    0: "lat-lon", 1: "rotated lat-lon", 10: "Mercator", 20: "polar stereographic", 30: "Lambert", 40: "Gaussian",
}  # fmt: skip
NAMES = {
    **KINDS, 2: "stretched lat-lon", 3: "stretched and rotated lat-lon", 12: "transverse Mercator", 31: "Albers",
    41: "rotated Gaussian", 50: "spherical harmonics", 90: "space view", 100: "triangular", 101: "unstructured",
    140: "Lambert azimuthal", 150: "HEALPix", 204: "curvilinear", 32768: "NCEP rotated E", 32769: "NCEP rotated",
}  # fmt: skip
# Where the resolution and component flags are, and what bits 3 and 4 say: increments are given.
FLAGS_OCTET = {0: 55, 1: 55, 40: 55, 41: 55, 10: 47, 12: 47, 20: 47, 30: 47, 32768: 55, 32769: 55}
I_GIVEN, J_GIVEN = 0x20, 0x10

# Code table 3.2: the shapes whose axes are not in the message.
EARTHS = {
    0: (6_367_470, 6_367_470), 2: (6_378_160, 6_356_775), 4: (6_378_137, 6_356_752.314140),
    5: (6_378_137, 6_356_752.314245), 6: (6_371_229, 6_371_229), 8: (6_371_200, 6_371_200),
    9: (6_377_563.396, 6_356_256.909),
}  # fmt: skip
USUAL = 6


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


def unsupported(section: bytes) -> GribError:
    """A sentence about a grid that gribmill has no words for."""
    return GribError(f"grid template 3.{template(section)} ({name(section)}) is not supported")


def facts(section: bytes) -> GridFacts:
    """What the section says. GribError where gribmill does not support its template."""
    kind = KINDS.get(template(section))
    if kind is None:
        raise unsupported(section)
    if kind in ("lat-lon", "rotated lat-lon", "Gaussian"):
        return _angular(kind, section)
    return _projected(kind, section)


def _angular(kind: Kind, section: bytes) -> GridFacts:
    unit, given = _angle_unit(section), flags(section)
    di = optional(section, 64, 67) if given & I_GIVEN else None
    dj = optional(section, 68, 71) if given & J_GIVEN and kind != "Gaussian" else None
    pole = (-90.0, 0.0, 0.0)
    if kind == "rotated lat-lon":
        (angle,) = struct.unpack(">f", unsigned(section, 81, 84).to_bytes(4, "big"))
        pole = signed(section, 73, 76) * unit, signed(section, 77, 80) * unit, angle
    return GridFacts(
        kind=kind,
        # Degrees lie where they lie on any Earth: one that is not told keeps nobody from cutting them.
        earth=_earth(section) or EARTHS[USUAL],
        first=(signed(section, 47, 50) * unit, signed(section, 51, 54) * unit),
        last=(signed(section, 56, 59) * unit, signed(section, 60, 63) * unit),
        di=None if di is None else di * unit,
        dj=None if dj is None else dj * unit,
        parallels=unsigned(section, 68, 71) if kind == "Gaussian" else 0,
        pole=pole,
    )


def _projected(kind: Kind, section: bytes) -> GridFacts:
    earth, first, lad = _earth(section), (_degrees(section, 39), _degrees(section, 43)), _degrees(section, 48)
    if earth is None:
        raise GribError(f"its shape of the Earth ({unsigned(section, 15, 15)}) is unknown or lacks its axes")
    if kind == "Mercator":
        if signed(section, 61, 64) != 0:
            raise GribError("a Mercator grid that is turned is not supported")
        return GridFacts(kind=kind, earth=earth, first=first, lad=lad, dx=_metres(section, 65), dy=_metres(section, 69))
    lambert = kind == "Lambert"
    return GridFacts(
        kind=kind,
        earth=earth,
        first=first,
        lad=lad,
        dx=_metres(section, 56),
        dy=_metres(section, 60),
        lov=_degrees(section, 52),
        latin1=_degrees(section, 66) if lambert else 0.0,
        latin2=_degrees(section, 70) if lambert else 0.0,
        centre=unsigned(section, 64, 64),
    )


def _degrees(section: bytes, first: int) -> float:
    return signed(section, first, first + 3) / 1e6


def _metres(section: bytes, first: int) -> float:
    return unsigned(section, first, first + 3) / 1e3


def _angle_unit(section: bytes) -> float:
    """Degrees in the unit of the angles: a millionth, unless the message names another fraction."""
    basic, divisions = optional(section, 39, 42), optional(section, 43, 46)
    return basic / divisions if basic and divisions else 1e-6


def _earth(section: bytes) -> tuple[float, float] | None:
    shape = unsigned(section, 15, 15)
    if shape in EARTHS:
        return EARTHS[shape]
    axes = scaled(section, 16), scaled(section, 21), scaled(section, 26)
    if shape == 1 and axes[0]:
        return axes[0], axes[0]
    if shape in (3, 7) and axes[1] and axes[2]:
        metres = 1000.0 if shape == 3 else 1.0
        return axes[1] * metres, axes[2] * metres
    return None
