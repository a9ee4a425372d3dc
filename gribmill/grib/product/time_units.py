"""Units of time: code table 4 of GRIB1 and code table 4.4 of GRIB2."""

from __future__ import annotations

from datetime import timedelta

_BOTH = {0: 60, 1: 3600, 2: 86400, 10: 10800, 11: 21600, 12: 43200}
# Seconds in a unit, by edition. Months and longer have no fixed length.
UNIT_SECONDS = {1: _BOTH | {13: 900, 14: 1800, 254: 1}, 2: _BOTH | {13: 1}}
CALENDAR_UNITS = {3, 4, 5, 6, 7}
# Two centuries: damage can spell any number, and dates end.
LONGEST_SECONDS = 200 * 366 * 86400


def duration(edition: int, unit: int, count: int) -> timedelta | None:
    """`count` units; None for units without a fixed length, and beyond any forecast."""
    if count == 0 and unit in CALENDAR_UNITS:
        return timedelta(0)
    seconds = UNIT_SECONDS[edition].get(unit)
    if seconds is None or abs(seconds * count) > LONGEST_SECONDS:
        return None
    return timedelta(seconds=seconds * count)
