"""The sections of one message, and of each field in it, cut out without decoding anything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gribmill.grib.errors import GribError
from gribmill.grib.messages import END

SECTION0_BYTES = 16
# An ensemble in one message would have some hundred fields; more than this is damage.
FIELD_LIMIT = 10_000

BITMAP_FOLLOWS = 0
BITMAP_AS_BEFORE = 254
NO_BITMAP = 255

# What each section must hold before any of its octets is read.
SHORTEST2 = {1: 21, 2: 5, 3: 14, 4: 11, 5: 11, 6: 6, 7: 5}
# What may follow what. 1: identification, 2: local, 3: grid, 4: product, 5: packing, 6: bitmap, 7: data.
MAY_FOLLOW = {1: {2, 3}, 2: {3}, 3: {4}, 4: {5}, 5: {6}, 6: {7}, 7: {2, 3, 4}}


@dataclass(frozen=True, slots=True)
class Sections2:
    """The sections of one field of a GRIB2 message, each with its length octets."""

    discipline: int
    identification: bytes
    local: bytes
    grid: bytes
    product: bytes
    packing: bytes
    bitmap: bytes
    data: memoryview

    def message(self) -> bytes:
        """A GRIB2 message with this field alone."""
        body = (self.identification, self.local, self.grid, self.product, self.packing, self.bitmap, self.data)
        length = SECTION0_BYTES + sum(map(len, body)) + len(END)
        head = b"GRIB\xff\xff" + bytes((self.discipline, 2)) + length.to_bytes(8, "big")
        return b"".join((head, *body, END))


@dataclass(frozen=True, slots=True)
class Sections1:
    """The sections of a GRIB1 message; `grid` and `bitmap` are empty where the message has none."""

    product: bytes
    grid: bytes
    bitmap: bytes
    data: memoryview


def sections2(message: bytes | memoryview) -> list[Sections2]:
    """Each field of a GRIB2 message: sections that are not repeated hold for the fields that follow."""
    parts = [b""] * 7
    last_bitmap = b""
    fields: list[Sections2] = []
    for number, section in _walk2(message):
        if number == 7:
            _, identification, local, grid, product, packing, bitmap = parts
            fields.append(Sections2(message[6], identification, local, grid, product, packing, bitmap, section))
            if len(fields) > FIELD_LIMIT:
                raise GribError(f"it holds more than {FIELD_LIMIT} fields")
        elif number == 6:
            parts[6] = _bitmap2(section, last_bitmap)
            last_bitmap = parts[6] if parts[6][5] == BITMAP_FOLLOWS else last_bitmap
        else:
            parts[number] = bytes(section)
    return fields


def sections1(message: bytes | memoryview) -> Sections1:
    """The sections of a GRIB1 message."""
    view = memoryview(message)
    product = _section1(view, 8, 28, "product")
    place = 8 + len(product)
    grid = bitmap = b""
    if product[7] & 0x80:
        grid = bytes(_section1(view, place, 32, "grid"))
        place += len(grid)
    if product[7] & 0x40:
        bitmap = bytes(_section1(view, place, 6, "bitmap"))
        place += len(bitmap)
    # In a large message the data section's length is the padding: the data reach to the end mark.
    data = view[place : len(message) - len(END)]
    if len(data) < 11:
        raise GribError("its data section is cut short")
    return Sections1(bytes(product), grid, bitmap, data)


def _walk2(message: bytes | memoryview) -> Iterator[tuple[int, memoryview]]:
    view, end = memoryview(message), len(message) - len(END)
    place, before = SECTION0_BYTES, 0
    while place < end:
        if place + 5 > end:
            raise GribError(f"{end - place} stray bytes follow its section {before}")
        length, number = int.from_bytes(view[place : place + 4], "big"), view[place + 4]
        if number not in (MAY_FOLLOW[before] if before else {1}):
            raise GribError(f"its section {before} is followed by section {number}, which cannot be")
        if not SHORTEST2[number] <= length <= end - place:
            raise GribError(f"its section {number} says it has {length} bytes, of {end - place} that are there")
        yield number, view[place : place + length]
        place, before = place + length, number
    if before != 7:
        raise GribError(f"it ends with section {before}, before any data")


def _bitmap2(section: memoryview, last_bitmap: bytes) -> bytes:
    if section[5] != BITMAP_AS_BEFORE:
        return bytes(section)
    if not last_bitmap:
        raise GribError("it refers to an earlier bitmap, but the message has none")
    return last_bitmap


def _section1(view: memoryview, place: int, shortest: int, name: str) -> memoryview:
    length = int.from_bytes(view[place : place + 3], "big")
    if not shortest <= length <= len(view) - len(END) - place:
        raise GribError(f"its {name} section says it has {length} bytes, which cannot be")
    return view[place : place + length]
