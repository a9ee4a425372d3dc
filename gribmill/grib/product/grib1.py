"""Reads section 1 of a GRIB1 message."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from gribmill.grib.product.keys import (
    ECMWF,
    LOCAL_TABLE1,
    MONTHLY_MEANS,
    NCEP,
    UNIT_SECONDS,
    Keys,
    Level,
    MarsLabels,
    OfMany,
    Probability,
    Statistic,
    implied_statistic,
    labels1,
)
from gribmill.grib.product.levels import NAMED
from gribmill.grib.sections import Octets, ibm32, signed, unsigned, utc

# GRIB1 level kinds (table 3) with one value: the GRIB2 kind, and the conversion factor to its unit.
ONE_VALUE = {
    20: (20, 0.01), 100: (100, 100.0), 103: (102, 1.0), 105: (103, 1.0), 107: (104, 1e-4), 109: (105, 1.0),
    111: (106, 0.01), 113: (107, 1.0), 115: (108, 100.0), 119: (111, 1e-4), 125: (103, 0.01), 126: (100, 1.0),
    160: (160, 1.0),
}  # fmt: skip
# Kinds with two values, one in each octet: the GRIB2 kind, the offset and the step.
TWO_VALUES = {
    101: (100, 0.0, 1000.0), 104: (102, 0.0, 100.0), 106: (103, 0.0, 100.0), 108: (104, 0.0, 0.01),
    110: (105, 0.0, 1.0), 112: (106, 0.0, 0.01), 114: (107, 475.0, -1.0), 116: (108, 0.0, 100.0),
    120: (111, 0.0, 0.01), 121: (100, 110_000.0, -100.0), 128: (104, 1.1, -0.001),
}  # fmt: skip
# Potential vorticity in units of 1e-9, negative in the southern hemisphere.
VORTICITY, VORTICITY2 = 117, 109
# ECMWF's own kind for pressures in Pa; NCEP's kind of that number has no value.
PASCALS, PRESSURE = 210, 100
# Kinds without a value that have a different number in GRIB2.
RENAMED = {102: 101}

# Code table 4.
SECONDS1 = UNIT_SECONDS | {13: 900, 14: 1800, 254: 1}
# Table 5: time range indicators whose range is from P1 to P2; one of them without a statistic.
STATISTICS1: dict[int, Statistic] = {3: "avg", 4: "accum", 5: "diff"}
UNSPECIFIED = 2
# Statistics over many analyses or forecasts. In most of them, P1 is the lead time of the first, and P2 is the interval
# between them instead of the end of a range.
OF_MANY: dict[int, OfMany] = {
    51: "mean", 113: "mean", 114: "sum", 115: "mean", 116: "sum", 117: "mean", 118: "variance", 119: "sd",
    123: "mean", 124: "sum", 125: "sd",
}  # fmt: skip
ENDS_AT_P1 = {113, 114, 123, 124, 125}
# Ranges that begin before the reference time, and end before or after it.
SIGNS = {6: (-1, -1), 7: (-1, 1)}
# ECMWF's types for ensemble mean and standard deviation, mapped to GRIB2's code table 4.7.
DERIVED = {17: 0, 18: 2}
# ECMWF's labels are in octets 42 to 49, in fields of other centres too if ECMWF is their subcentre.
LOCAL_LABELS = 49
# ECMWF's local definitions with an ensemble member from octet 50 on, and the size of the member in octets.
MEMBER_OCTETS = {
    1: 1, 12: 2, 13: 1, 14: 1, 15: 2, 16: 2, 18: 1, 23: 2, 26: 1, 27: 1, 28: 1, 30: 1, 36: 1, 40: 1, 50: 1,
}  # fmt: skip
# The number of members is in one octet after it.
MEMBERS_OCTET = dict.fromkeys((1, 13, 14, 27, 28, 30, 36, 50), 51)
# NCEP's extension for ensembles: octet 42 mapped to GRIB2's code table 4.6, octet 44 mapped to code table 4.7.
NCEP_ENSEMBLE, NCEP_EXTENSION = 1, 45
NCEP_CONTROL, NCEP_WHOLE = 1, 5
NCEP_KINDS = {2: 2, 3: 3}
NCEP_DERIVED = {1: 0, 2: 1, 11: 2, 12: 3}
# Probabilities (parameters 191 and 192) add their kind, mapped to GRIB2's code table 4.9, and their limits.
NCEP_PROBABILITY, NCEP_PROBABILITIES, NCEP_LIMITS = 55, {191, 192}, {1: 0, 2: 1, 3: 2}
INSTANT_AT_P1 = {0, 1}
INSTANT_AT_WIDE_P1 = 10


def keys1(product: Octets) -> Keys:
    """The keys of a GRIB1 field, with its level converted to the kinds and units of GRIB2."""
    level, level2 = _levels(product)
    centre, parameter = unsigned(product, 5, 5), (unsigned(product, 4, 4), unsigned(product, 9, 9))
    archived = _archived_by_ecmwf(product)
    implied = implied_statistic(ECMWF if archived and parameter[0] >= LOCAL_TABLE1 else centre, parameter)
    start, end, statistic = _times(product, implied)
    century, year = unsigned(product, 25, 25), unsigned(product, 13, 13)
    month, day, hour, minute = (unsigned(product, octet, octet) for octet in (14, 15, 16, 17))
    labels = labels1(product) if archived and len(product) >= LOCAL_LABELS else None
    return Keys(
        edition=1,
        centre=centre,
        process=unsigned(product, 6, 6),
        parameter=parameter,
        template=None,
        reference=utc((century - 1) * 100 + year, month, day, hour, minute),
        level=level,
        level2=level2,
        start=start,
        end=end,
        statistic=statistic,
        subcentre=unsigned(product, 26, 26),
        mars=labels,
        of_many=_of_many(unsigned(product, 21, 21), labels),
        **_ensemble(product),
    )


def _archived_by_ecmwf(product: Octets) -> bool:
    return ECMWF in (unsigned(product, 5, 5), unsigned(product, 26, 26))


def _levels(product: Octets) -> tuple[Level, Level | None]:
    kind, top, bottom = (unsigned(product, octet, octet) for octet in (10, 11, 12))
    if kind == VORTICITY:
        return Level(VORTICITY2, signed(product, 11, 12) / 1e9), None
    if kind == PASCALS and unsigned(product, 5, 5) == ECMWF:
        return Level(PRESSURE, float(top * 256 + bottom)), None
    if kind in ONE_VALUE:
        new, factor = ONE_VALUE[kind]
        return Level(new, round((top * 256 + bottom) * factor, 6)), None
    if kind in TWO_VALUES:
        new, first, step = TWO_VALUES[kind]
        return Level(new, round(first + top * step, 6)), Level(new, round(first + bottom * step, 6))
    # Kinds without a counterpart in GRIB2 keep their number, so that different levels stay different.
    new, number = RENAMED.get(kind, kind), top * 256 + bottom
    return Level(new, None if new in NAMED or number == 0 else float(number)), None


def _times(product: Octets, implied: Statistic) -> tuple[timedelta | None, timedelta | None, Statistic]:
    unit = SECONDS1.get(unsigned(product, 18, 18))
    first, second = unsigned(product, 19, 19), unsigned(product, 20, 20)
    indicator = unsigned(product, 21, 21)
    if unit is None:
        return None, None, "instant"
    if indicator == INSTANT_AT_WIDE_P1:
        first, indicator = first * 256 + second, 0
    before, after = SIGNS.get(indicator, (1, 1))
    start, end = timedelta(seconds=before * first * unit), timedelta(seconds=after * second * unit)
    if indicator in INSTANT_AT_P1:
        return start, start, "instant"
    statistic = implied if indicator == UNSPECIFIED else STATISTICS1.get(indicator, "other")
    return start, start if indicator in ENDS_AT_P1 else end, statistic


def _of_many(indicator: int, labels: MarsLabels | None) -> OfMany | None:
    monthly: OfMany | None = "mean" if labels is not None and labels.stream in MONTHLY_MEANS else None
    return OF_MANY.get(indicator, monthly)


def _ensemble(product: Octets) -> dict[str, Any]:
    centre = unsigned(product, 5, 5)
    if _archived_by_ecmwf(product) and len(product) >= 51:
        return _ecmwf_ensemble(product)
    if centre == NCEP and len(product) >= NCEP_EXTENSION and unsigned(product, 41, 41) == NCEP_ENSEMBLE:
        return _ncep_ensemble(product)
    return {}


def _ecmwf_ensemble(product: Octets) -> dict[str, Any]:
    """ECMWF's local definition: octet 41 is its number, octet 43 the type of the field."""
    kind, definition = unsigned(product, 43, 43), unsigned(product, 41, 41)
    if kind in DERIVED:
        return {"derived": DERIVED[kind]}
    octets, members = MEMBER_OCTETS.get(definition, 0), MEMBERS_OCTET.get(definition)
    if not octets:
        return {}
    return {
        "member": unsigned(product, 50, 49 + octets),
        "members": unsigned(product, members, members) if members else None,
    }


def _ncep_ensemble(product: Octets) -> dict[str, Any]:
    """Octet 42: control, member or whole ensemble; octet 43: its number; octet 44: the statistic."""
    kind, number, what = (unsigned(product, octet, octet) for octet in (42, 43, 44))
    if kind == NCEP_CONTROL:
        return {"member": 0, "member_kind": 0 if number == 1 else 1}
    if kind in NCEP_KINDS:
        return {"member": number, "member_kind": NCEP_KINDS[kind]}
    if unsigned(product, 9, 9) in NCEP_PROBABILITIES and len(product) >= NCEP_PROBABILITY:
        limits = ibm32(product, 48), ibm32(product, 52)
        return {"probability": Probability(NCEP_LIMITS.get(unsigned(product, 47, 47), 255), *limits)}
    return {"derived": NCEP_DERIVED[what]} if kind == NCEP_WHOLE and what in NCEP_DERIVED else {}
