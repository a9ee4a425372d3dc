"""Section 4 of a GRIB2 message, read by product definition template."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from gribmill.grib.errors import GribError
from gribmill.grib.octets import Section, date, optional, scaled, signed, unsigned
from gribmill.grib.product.implied_statistic import own_statistic
from gribmill.grib.product.keys import Keys, Level, Probability, Statistic
from gribmill.grib.sections import Sections2

# Seconds in each unit of code table 4.4. Months and longer have no fixed length and are not steps.
UNIT_SECONDS = {0: 60, 1: 3600, 2: 86400, 10: 10800, 11: 21600, 12: 43200, 13: 1}
CALENDAR_UNITS = {3, 4, 5, 6, 7}

# Two centuries: damage can spell any number, and dates end.
LONGEST_SECONDS = 200 * 366 * 86400

STATISTICS: dict[int, Statistic] = {
    0: "avg", 1: "accum", 2: "max", 3: "min", 4: "diff", 5: "rms", 6: "sd", 7: "cov", 8: "sdiff", 9: "ratio", 11: "sum",
}  # fmt: skip
# The number that says nothing of what was done over the window.
UNTOLD = 255


@dataclass(frozen=True, slots=True)
class Shape:
    """How a template differs from 4.0: octets before the usual ones, what follows them, a window or none."""

    selector: int = 0
    extra: str = ""
    window: bool = False
    time_octets: int = 4
    # Without surfaces the bands of a satellite follow, to the section's end: they tell one picture from another.
    surfaces: bool = True


# Octets that follow the surfaces, before any window.
EXTRA_OCTETS = {"": 0, "member": 3, "derived": 2, "probability": 13, "percentile": 1, "reforecast": 10}

SHAPES = {
    0: Shape(), 1: Shape(extra="member"), 2: Shape(extra="derived"), 5: Shape(extra="probability"),
    6: Shape(extra="percentile"), 7: Shape(), 8: Shape(window=True), 9: Shape(extra="probability", window=True),
    10: Shape(extra="percentile", window=True), 11: Shape(extra="member", window=True),
    12: Shape(extra="derived", window=True), 15: Shape(),
    # A chemical constituent (2 octets; 3 with its source or sink) or an aerosol (13; 24 with its wavelength) comes
    # first. Template 4.44 alone has two octets for its time.
    40: Shape(2), 41: Shape(2, "member"), 42: Shape(2, window=True), 43: Shape(2, "member", True),
    44: Shape(13, time_octets=2), 45: Shape(13, "member"), 46: Shape(13, window=True), 47: Shape(13, "member", True),
    48: Shape(24), 49: Shape(24, "member"), 85: Shape(13, "member", True),
    76: Shape(3), 77: Shape(3, "member"), 78: Shape(3, window=True), 79: Shape(3, "member", True),
    80: Shape(25), 81: Shape(25, "member"), 82: Shape(14, window=True), 84: Shape(14, "member", True),
    60: Shape(extra="reforecast"), 61: Shape(extra="reforecast", window=True),
    # What a satellite would see.
    32: Shape(surfaces=False),
    # A tile of the surface, or what was done to the forecast afterwards.
    55: Shape(6), 59: Shape(6, "member"), 62: Shape(6, window=True), 63: Shape(6, "member", True),
    70: Shape(5), 71: Shape(5, "member"), 72: Shape(5, window=True), 73: Shape(5, "member", True),
    # Waves of a range of periods, light of a range of wavelengths.
    103: Shape(11), 104: Shape(11, "member"),
    108: Shape(11), 109: Shape(11, "member"), 110: Shape(11, window=True), 111: Shape(11, "member", True),
}  # fmt: skip


def keys2(sections: Sections2) -> Keys:
    """The keys of a GRIB2 field. Templates that are not known give the parameter and no level or step."""
    identification, product = sections.identification, sections.product
    template = unsigned(product, 8, 9)
    known: dict[str, Any] = {
        "edition": 2,
        "centre": unsigned(identification, 6, 7),
        "parameter": (sections.discipline, product[9], product[10]),
        "template": template,
        "reference": date(identification, 13),
        "process": None,
    }
    if template in SHAPES:
        untold = own_statistic(known["centre"], known["parameter"])
        known |= _template(product, SHAPES[template], known["reference"], untold)
    return Keys(**known)


def _template(product: Section, shape: Shape, reference: datetime, untold: Statistic) -> dict[str, Any]:
    base = 12 + shape.selector  # the octet where 4.0 has "type of generating process"
    surfaces = base + 7 + shape.time_octets
    facts: dict[str, Any] = {
        "selector": bytes(product[11 : 11 + shape.selector]),
        "process": optional(product, base + 2, base + 2),
        "start": duration(unsigned(product, base + 6, base + 6), _forecast_time(product, base + 7, surfaces - 1)),
    }
    facts["end"] = facts["start"]
    if not shape.surfaces:
        return facts | {"selector": bytes(product[surfaces - 1 :])}
    facts |= {"level": _level(product, surfaces), "level2": _level(product, surfaces + 6)}
    facts |= _extra(product, surfaces + 12, shape.extra)
    if shape.window:
        place = surfaces + 12 + EXTRA_OCTETS[shape.extra]
        facts |= _window(product, place, reference, facts["start"], untold)
    return facts


def _forecast_time(product: Section, first: int, last: int) -> int:
    """Sign and magnitude by the manual, but NOAA's air quality model writes -7 in two's complement."""
    time = signed(product, first, last)
    return unsigned(product, first, last) - (1 << 32) if time < -(1 << 30) else time


def _level(product: Section, first: int) -> Level | None:
    kind = optional(product, first, first)
    return None if kind is None else Level(kind, scaled(product, first + 1))


def _extra(product: Section, first: int, extra: str) -> dict[str, Any]:
    match extra:
        case "member" | "reforecast":
            return {
                "member": unsigned(product, first + 1, first + 1),
                "members": optional(product, first + 2, first + 2),
            }
        case "derived":
            return {
                "derived": unsigned(product, first, first),
                "members": optional(product, first + 1, first + 1),
            }
        case "probability":
            kind = unsigned(product, first + 2, first + 2)
            limits = scaled(product, first + 3), scaled(product, first + 8)
            return {"probability": Probability(kind, *limits)}
        case "percentile":
            return {"percentile": unsigned(product, first, first)}
        case _:
            return {}


def _window(
    product: Section, first: int, reference: datetime, start: timedelta | None, untold: Statistic
) -> dict[str, Any]:
    ranges = unsigned(product, first + 7, first + 7)
    if ranges == 0:
        raise GribError("it has a statistic over no time range")
    number = unsigned(product, first + 12, first + 12)
    statistic = untold if number == UNTOLD else STATISTICS.get(number, "other")
    length = duration(unsigned(product, first + 14, first + 14), signed(product, first + 15, first + 18))
    if ranges > 1 or start is None or length is None:
        # Several nested ranges, or months: only the stated end of the whole says where it ends.
        return {"statistic": statistic, "end": _stated(product, first, reference)}
    return {"statistic": statistic, "end": start + length}


def _stated(product: Section, first: int, reference: datetime) -> timedelta | None:
    try:
        return date(product, first) - reference
    except GribError:
        return None


def duration(unit: int, count: int) -> timedelta | None:
    """So many units of code table 4.4; None for units without a fixed length, and beyond all forecasts."""
    if count == 0 and unit in CALENDAR_UNITS:
        return timedelta(0)
    length = UNIT_SECONDS[unit] * count if unit in UNIT_SECONDS else None
    return None if length is None or abs(length) > LONGEST_SECONDS else timedelta(seconds=length)
