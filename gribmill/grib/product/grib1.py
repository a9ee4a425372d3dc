"""Section 1 of a GRIB1 message."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from gribmill.grib.names.levels import NAMED
from gribmill.grib.octets import Octets, signed, unsigned, utc
from gribmill.grib.product.keys import ECMWF, Keys, Level, implied_statistic
from gribmill.grib.product.statistic import STATISTICS1, Statistic
from gribmill.grib.product.templates import UNIT_SECONDS

# GRIB1 level kinds (table 3) with one value: the same kind in GRIB2 and the factor to its unit.
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
# Kinds without a value that have another number in GRIB2.
RENAMED = {102: 101}

# Table 5. A range from P1 to P2 without a statistic.
UNSPECIFIED = 2
# Over many analyses or forecasts, each with the lead time P1; P2 is the time between them, not the end of a range.
OF_MANY = {113, 114, 123, 124, 125}
# Ranges that begin before the reference time, and end before or after it.
SIGNS = {6: (-1, -1), 7: (-1, 1)}
# ECMWF's types for the mean and standard deviation of an ensemble, in numbers of GRIB2's code table 4.7.
DERIVED = {17: 0, 18: 2}
# ECMWF's local definitions with an ensemble member from octet 50 on, and the number of its octets.
MEMBER_OCTETS = {1: 1, 15: 2, 16: 2, 18: 1, 23: 2, 26: 1, 30: 1, 36: 1, 40: 1}
INSTANT_AT_P1 = {0, 1}
INSTANT_AT_WIDE_P1 = 10


def keys1(product: Octets) -> Keys:
    """The keys of a GRIB1 field, its level in the kinds and units of GRIB2."""
    level, level2 = _levels(product)
    centre, parameter = unsigned(product, 5, 5), (unsigned(product, 4, 4), unsigned(product, 9, 9))
    start, end, statistic = _times(product, implied_statistic(centre, parameter))
    century, year = unsigned(product, 25, 25), unsigned(product, 13, 13)
    month, day, hour, minute = (unsigned(product, octet, octet) for octet in (14, 15, 16, 17))
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
        **_ensemble(product),
    )


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
    # Kinds that GRIB2 does not have keep their number, so that two such levels stay different.
    new, number = RENAMED.get(kind, kind), top * 256 + bottom
    return Level(new, None if new in NAMED or number == 0 else float(number)), None


def _times(product: Octets, implied: Statistic) -> tuple[timedelta | None, timedelta | None, Statistic]:
    unit = UNIT_SECONDS[1].get(unsigned(product, 18, 18))
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
    return start, start if indicator in OF_MANY else end, statistic


def _ensemble(product: Octets) -> dict[str, Any]:
    """ECMWF's local definition: its number is octet 41, the type of the field octet 43."""
    if unsigned(product, 5, 5) != ECMWF or len(product) < 51:
        return {}
    kind = unsigned(product, 43, 43)
    if kind in DERIVED:
        return {"derived": DERIVED[kind]}
    octets = MEMBER_OCTETS.get(unsigned(product, 41, 41), 0)
    return {"member": unsigned(product, 50, 49 + octets)} if octets else {}
