"""Section 2 of a GRIB1 message, read by data representation type."""

from __future__ import annotations

from gribmill.grib.errors import GribError
from gribmill.grib.grid.section_facts import GridFacts, Kind
from gribmill.grib.octets import signed, unsigned
from gribmill.grib.packing.describe import ibm32

KINDS: dict[int, Kind] = {
    0: "lat-lon", 1: "Mercator", 3: "Lambert", 4: "Gaussian", 5: "polar stereographic", 10: "rotated lat-lon",
}  # fmt: skip
NAMES = {
    **KINDS, 8: "Albers", 13: "oblique Lambert", 14: "rotated Gaussian", 20: "stretched lat-lon",
    24: "stretched Gaussian", 30: "stretched and rotated lat-lon", 34: "stretched and rotated Gaussian",
    50: "spherical harmonics", 90: "space view", 203: "NCEP rotated E", 205: "NCEP rotated",
}  # fmt: skip
SPHERE, SPHEROID = (6_367_470, 6_367_470), (6_378_160, 6_356_775)
INCREMENTS_GIVEN, IS_SPHEROID = 0x80, 0x40
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


def unsupported(section: bytes) -> GribError:
    """A sentence about a grid that gribmill has no words for."""
    return GribError(f"a GRIB1 grid of type {section[5]} ({name(section)}) is not supported")


def facts(section: bytes) -> GridFacts:
    """What the section says. GribError where gribmill does not support its type."""
    kind = KINDS.get(section[5])
    if kind is None:
        raise unsupported(section)
    earth = SPHEROID if flags(section) & IS_SPHEROID else SPHERE
    first = _degrees(section, 11), _degrees(section, 14)
    if kind in ("lat-lon", "rotated lat-lon", "Gaussian"):
        return _angular(kind, section, earth, first)
    return _projected(kind, section, earth, first)


def _angular(kind: Kind, section: bytes, earth: tuple[float, float], first: tuple[float, float]) -> GridFacts:
    given = bool(flags(section) & INCREMENTS_GIVEN)
    di, dj = unsigned(section, 24, 25), unsigned(section, 26, 27)
    pole = (-90.0, 0.0, 0.0)
    if kind == "rotated lat-lon":
        pole = _degrees(section, 33), _degrees(section, 36), ibm32(unsigned(section, 39, 42))
    return GridFacts(
        kind=kind,
        earth=earth,
        first=first,
        last=(_degrees(section, 18), _degrees(section, 21)),
        di=di / 1e3 if given and di != NOT_GIVEN else None,
        dj=dj / 1e3 if given and dj != NOT_GIVEN and kind != "Gaussian" else None,
        parallels=dj,
        pole=pole,
    )


def _projected(kind: Kind, section: bytes, earth: tuple[float, float], first: tuple[float, float]) -> GridFacts:
    if kind == "Mercator":
        dx, dy = unsigned(section, 29, 31), unsigned(section, 32, 34)
        return GridFacts(kind=kind, earth=earth, first=first, dx=dx, dy=dy, lad=_degrees(section, 24))
    lambert = kind == "Lambert"
    latin1, latin2 = (_degrees(section, 29), _degrees(section, 32)) if lambert else (0.0, 0.0)
    return GridFacts(
        kind=kind,
        earth=earth,
        first=first,
        dx=float(unsigned(section, 21, 23)),
        dy=float(unsigned(section, 24, 26)),
        lad=latin1 if lambert else POLAR_LAD,
        lov=_degrees(section, 18),
        latin1=latin1,
        latin2=latin2,
        centre=unsigned(section, 27, 27),
    )


def _degrees(section: bytes, first: int) -> float:
    return signed(section, first, first + 2) / 1e3
