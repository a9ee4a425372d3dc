"""Reads numbers from a section. Octets are numbered as in the WMO manual: from 1, both ends included."""

from __future__ import annotations

import struct
from datetime import UTC, datetime

from gribmill.grib.errors import GribError

Octets = bytes | memoryview


def unsigned(section: Octets, first: int, last: int) -> int:
    """The octets as one unsigned number."""
    if last > len(section):
        raise GribError(f"a section of {len(section)} bytes ends before its octet {last}")
    return int.from_bytes(section[first - 1 : last], "big")


def signed(section: Octets, first: int, last: int) -> int:
    """The octets as sign and magnitude: GRIB does not use two's complement."""
    number, sign = unsigned(section, first, last), 1 << (8 * (last - first + 1) - 1)
    return -(number - sign) if number & sign else number


def optional(section: Octets, first: int, last: int) -> int | None:
    """Like `unsigned`, but None if all bits are set, which means missing in GRIB2."""
    number = unsigned(section, first, last)
    return None if number == (1 << (8 * (last - first + 1))) - 1 else number


def scaled(section: Octets, first: int) -> float | None:
    """value × 10^-scale, from a scale factor (1 octet) and a scaled value (4 octets); None if missing."""
    both = unsigned(section, first, first + 4)
    if both >> 32 == 0xFF or both & 0xFFFFFFFF == 0xFFFFFFFF:
        return None
    scale, value = signed(section, first, first), signed(section, first + 1, first + 4)
    return value / 10**scale if scale >= 0 else float(value * 10**-scale)


def date(section: Octets, first: int) -> datetime:
    """Year (2 octets), month, day, hour, minute, second."""
    year = unsigned(section, first, first + 6) >> 40
    month, day, hour, minute, second = section[first + 1 : first + 6]
    return utc(year, month, day, hour, minute, second)


def utc(year: int, month: int, day: int, hour: int, minute: int, second: int = 0) -> datetime:
    """The time in UTC. Raises GribError if it is not valid."""
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        text = f"{year}-{month}-{day} {hour}:{minute}:{second}"
        raise GribError(f"its time {text} is not valid") from None


def ieee32(section: Octets, first: int) -> float:
    """A four-byte IEEE float."""
    value: float = struct.unpack(">f", unsigned(section, first, first + 3).to_bytes(4, "big"))[0]
    return value


def ibm32(section: Octets, first: int) -> float:
    """A four-byte IBM 360 float, as GRIB1 uses."""
    word = unsigned(section, first, first + 3)
    sign = -1.0 if word & 0x80000000 else 1.0
    return float(sign * (word & 0xFFFFFF) * 16.0 ** (((word >> 24) & 0x7F) - 70))
