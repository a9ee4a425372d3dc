"""Numbers in a section, by their octets as the WMO manual counts them: from 1, both ends included."""

from __future__ import annotations

from datetime import UTC, datetime

from gribmill.grib.errors import GribError

Section = bytes | memoryview


def unsigned(section: Section, first: int, last: int) -> int:
    """The octets as one unsigned number."""
    if last > len(section):
        raise GribError(f"a section of {len(section)} bytes ends before its octet {last}")
    return int.from_bytes(section[first - 1 : last], "big")


def signed(section: Section, first: int, last: int) -> int:
    """The octets as sign and magnitude: GRIB has no two's complement."""
    number, sign = unsigned(section, first, last), 1 << (8 * (last - first + 1) - 1)
    return -(number - sign) if number & sign else number


def optional(section: Section, first: int, last: int) -> int | None:
    """As `unsigned`; None where every bit is set, which is GRIB2's word for missing."""
    number = unsigned(section, first, last)
    return None if number == (1 << (8 * (last - first + 1))) - 1 else number


def scaled(section: Section, first: int) -> float | None:
    """A scale factor (1 octet) and a scaled value (4): value × 10^-scale. None where missing."""
    both = unsigned(section, first, first + 4)
    if both >> 32 == 0xFF or both & 0xFFFFFFFF == 0xFFFFFFFF:
        return None
    scale, value = signed(section, first, first), signed(section, first + 1, first + 4)
    return value / 10**scale if scale >= 0 else float(value * 10**-scale)


def date(section: Section, first: int) -> datetime:
    """Year (2 octets), month, day, hour, minute, second."""
    year = unsigned(section, first, first + 6) >> 40
    month, day, hour, minute, second = section[first + 1 : first + 6]
    return utc(year, month, day, hour, minute, second)


def utc(year: int, month: int, day: int, hour: int, minute: int, second: int = 0) -> datetime:
    """The moment, or a GribError when there is no such date."""
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        text = f"{year}-{month}-{day} {hour}:{minute}:{second}"
        raise GribError(f"its time {text} is no date") from None
