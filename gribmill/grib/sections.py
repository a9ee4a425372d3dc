"""Splits a message into sections, from the indicator (section 0) to the end mark (section 8); decodes no values.

Numbers are read from a section by their octets, numbered as in the WMO manual: from 1, both ends included.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple, Protocol

from gribmill.grib.errors import GribError

MAGIC = b"GRIB"
END = b"7777"
INDICATOR_BYTES = 16

# The largest operational messages have about 50 MB (47 million points). A longer message is taken to be damaged.
MESSAGE_LIMIT_BYTES = 1 << 30
# An ensemble in one message would have about a hundred fields. A message with more than this is taken to be damaged.
FIELD_LIMIT = 10_000
# Reduced grids list a number per row, and hybrid levels their coefficients: about ten kilobytes.
HEADER_SECTION_LIMIT_BYTES = 1 << 20

# GRIB1 has three octets for a message's length. From 2^23 bytes on, this bit is set and the rest is in units of 120.
LARGE_GRIB1 = 0x800000
GRIB1_PADDING = 120

BITMAP_FOLLOWS = 0
BITMAP_AS_BEFORE = 254
NO_BITMAP = 255

# GRIB1 sections before the data: name, minimum length, and the flag that says whether the section is present.
HEADERS1 = {1: ("product", 28, 0), 2: ("grid", 32, 0x80), 3: ("bitmap", 6, 0x40)}
SHORTEST_DATA1 = 11
# GRIB2. 1: identification, 2: local, 3: grid, 4: product, 5: packing, 6: bitmap, 7: data.
SHORTEST2 = {1: 21, 2: 5, 3: 14, 4: 11, 5: 11, 6: 6, 7: 5}
HEADERS2 = {1, 3, 4, 5}
MAY_FOLLOW = {0: {1}, 1: {2, 3}, 2: {3}, 3: {4}, 4: {5}, 5: {6}, 6: {7}, 7: {2, 3, 4}}
# The shortest possible message of each edition: section 0, section 1 (GRIB1: and the data) and the end mark.
SHORTEST = {1: 8 + 28 + SHORTEST_DATA1 + 4, 2: 16 + 21 + 4}

Octets = bytes | memoryview


class ByteSource(Protocol):
    """A source of messages: bytes, a mapped file, or a file whose parts are fetched on demand."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> bytes | memoryview: ...


class Indicator(NamedTuple):
    """Section 0. If a GRIB1 message is `large`, use `message_length` instead of `length`."""

    edition: int
    length: int
    discipline: int

    @property
    def large(self) -> bool:
        """Whether a GRIB1 message may state its length in units of 120 octets."""
        return self.edition == 1 and self.length >= LARGE_GRIB1


class SectionSpan(NamedTuple):
    """The position of section `number` in its source."""

    number: int
    start: int
    end: int

    @property
    def slice(self) -> slice:
        """Selects the section's octets in its source."""
        return slice(self.start, self.end)


class Sections2(NamedTuple):
    """The sections of one field of a GRIB2 message, each with its leading length."""

    discipline: int
    identification: bytes
    local: bytes
    grid: bytes
    product: bytes
    packing: bytes
    bitmap: bytes
    data: memoryview

    def message(self) -> bytes:
        """A GRIB2 message with only this field."""
        body = (self.identification, self.local, self.grid, self.product, self.packing, self.bitmap, self.data)
        length = INDICATOR_BYTES + sum(map(len, body)) + len(END)
        head = MAGIC + b"\xff\xff" + bytes((self.discipline, 2)) + length.to_bytes(8, "big")
        return b"".join((head, *body, END))


class Sections1(NamedTuple):
    """The sections of a GRIB1 message; `grid` and `bitmap` are empty if the message has none."""

    product: bytes
    grid: bytes
    bitmap: bytes
    data: memoryview


def read_indicator(first: bytes | memoryview) -> Indicator:
    """Section 0 from the first 16 octets of a message."""
    if bytes(first[:4]) != MAGIC:
        raise GribError("it does not begin with GRIB")
    if len(first) < INDICATOR_BYTES:
        raise GribError("the file ends within its first 16 bytes: truncated, fetch it again")
    edition = first[7]
    if edition not in SHORTEST:
        raise GribError(f"GRIB edition {edition} is not supported (1 and 2 are)")
    length = int.from_bytes(first[8:16] if edition == 2 else first[4:7], "big")
    if length < SHORTEST[edition]:
        raise GribError(f"it states a length of {length} bytes, less than any message has")
    if length > MESSAGE_LIMIT_BYTES:
        raise GribError(f"it states a length of {length} bytes, more than the limit of {MESSAGE_LIMIT_BYTES}")
    return Indicator(edition, length, first[6])


def message_length(data: ByteSource, offset: int, indicator: Indicator) -> int:
    """The length of the message at `offset`."""
    if not indicator.large:
        return indicator.length
    *_, last_header = _headers1(data, offset, len(data))
    padding = int.from_bytes(data[last_header.end : last_header.end + 3], "big")
    if padding >= GRIB1_PADDING:
        return indicator.length
    return (indicator.length & (LARGE_GRIB1 - 1)) * GRIB1_PADDING - padding + len(END)


def walk1(data: ByteSource, offset: int, length: int) -> Iterator[SectionSpan]:
    """Yields sections 1 to 4 of the GRIB1 message at `offset`; sections 2 and 3 are optional."""
    place, end = offset + 8, offset + length - len(END)
    for span in _headers1(data, offset, end):
        yield span
        place = span.end
    stated, room = int.from_bytes(data[place : place + 3], "big"), end - place
    # In a large message, the data section states the padding instead of its length.
    if room < SHORTEST_DATA1 or (stated != room and stated >= GRIB1_PADDING):
        raise GribError(f"its data section states a length of {stated} bytes, and has {room}")
    yield SectionSpan(4, place, end)


def _headers1(data: ByteSource, offset: int, end: int) -> Iterator[SectionSpan]:
    """Sections 1 to 3."""
    place, flags = offset + 8, 0
    for number, (name, shortest, flag) in HEADERS1.items():
        if number > 1 and not flags & flag:
            continue
        length = int.from_bytes(data[place : place + 3], "big")
        if not shortest <= length <= end - place:
            raise GribError(f"its {name} section states a length of {length} bytes, with {end - place} left")
        if number == 1:
            flags = data[place + 7 : place + 8][0]
        yield SectionSpan(number, place, place + length)
        place += length


def walk2(data: ByteSource, offset: int, length: int) -> Iterator[SectionSpan]:
    """Yields sections 1 to 7 of the GRIB2 message at `offset`. Raises GribError if their order is not allowed."""
    place, end, before = offset + INDICATOR_BYTES, offset + length - len(END), 0
    while place < end:
        head = data[place : place + 5]
        if place + 5 > end or len(head) < 5:
            raise GribError(f"{end - place} stray bytes follow its section {before}")
        size, number = int.from_bytes(head[:4], "big"), head[4]
        if number not in MAY_FOLLOW[before]:
            raise GribError(f"section {number} may not follow section {before}")
        if not SHORTEST2[number] <= size <= end - place:
            raise GribError(f"its section {number} states a length of {size} bytes, with {end - place} left")
        if number in HEADERS2 and size > HEADER_SECTION_LIMIT_BYTES:
            raise GribError(f"its section {number} states a length of {size} bytes, more than any real one")
        yield SectionSpan(number, place, place + size)
        place, before = place + size, number
    if before != 7:
        raise GribError(f"it ends after section {before}, without data")


def sections1(message: bytes | memoryview) -> Sections1:
    """The sections of a GRIB1 message."""
    view, found = memoryview(message), dict.fromkeys((2, 3), b"")
    for span in walk1(view, 0, len(view)):
        if span.number == 4:
            return Sections1(found[1], found[2], found[3], view[span.slice])
        found[span.number] = bytes(view[span.slice])
    raise AssertionError("a data section always comes last")


def sections2(message: bytes | memoryview) -> list[Sections2]:
    """The fields of a GRIB2 message. Sections that are not repeated apply to the following fields too."""
    view, parts, last_bitmap = memoryview(message), [b""] * 7, b""
    fields: list[Sections2] = []
    for number, start, end in walk2(view, 0, len(view)):
        section = view[start:end]
        if number == 7:
            _, identification, local, grid, product, packing, bitmap = parts
            fields.append(Sections2(view[6], identification, local, grid, product, packing, bitmap, section))
            check_field_count(len(fields))
        elif number == 6:
            parts[6] = _bitmap2(section, last_bitmap)
            last_bitmap = parts[6] if parts[6][5] == BITMAP_FOLLOWS else last_bitmap
        else:
            parts[number] = bytes(section)
    return fields


def check_field_count(count: int) -> None:
    """Raise GribError if a message has more fields than the limit."""
    if count > FIELD_LIMIT:
        raise GribError(f"it has more than {FIELD_LIMIT} fields")


def _bitmap2(section: memoryview, last_bitmap: bytes) -> bytes:
    if section[5] != BITMAP_AS_BEFORE:
        return bytes(section)
    if not last_bitmap:
        raise GribError("it refers to an earlier bitmap, but the message has none")
    return last_bitmap


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
