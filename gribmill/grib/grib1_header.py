"""The sections of a GRIB1 message: everything of its one field is in section 1."""

from __future__ import annotations

from datetime import timedelta

from gribmill.grib.header import BadMessage, FieldHead, ReadAt, moment, span

UNIT_SECONDS = {0: 60, 1: 3600, 2: 86400, 10: 10800, 11: 21600, 12: 43200, 13: 900, 14: 1800, 254: 1}
PRODUCT_BYTES = 50
SHORTEST_PRODUCT = 28
# Three octets hold no more than 2^23 bytes: larger messages set this bit and count in 120s, less a padding.
LARGE = 0x800000
PADDED_TO = 120
ECMWF = 98
# ECMWF's local definitions that hold a member in octet 50, and the types (mean, spread) that are none.
WITH_MEMBER = (1, 30)
OF_ALL_MEMBERS = (17, 18)
# Time ranges that are a moment, and those of many forecasts, each as far ahead as the first number says.
AT_FIRST = (0, 1, 113, 114, 123, 124, 125)


def read_fields1(read: ReadAt, offset: int, length: int, size: int) -> tuple[int, tuple[FieldHead, ...]]:
    """The true length and the field; a BadMessage unless its sections follow each other up to the end mark."""
    product = read(offset + 8, PRODUCT_BYTES)
    if len(product) < SHORTEST_PRODUCT:
        raise BadMessage(f"the message at byte {offset} is cut off in its section 1")
    place = 8
    for present in (True, product[7] & 0x80, product[7] & 0x40):
        if present:
            place += _section(read, offset, place, size)
    data = int.from_bytes(read(offset + place, 3), "big")
    if length & LARGE and data < PADDED_TO:
        length = (length & (LARGE - 1)) * PADDED_TO - data + 4
    elif place + data + 4 != length:
        raise BadMessage(f"the sections of the message at byte {offset} do not add up to its {length} bytes")
    return length, (_field(product, offset),)


def _section(read: ReadAt, offset: int, place: int, size: int) -> int:
    length = int.from_bytes(read(offset + place, 3), "big")
    if length < 6 or offset + place + length > size:
        raise BadMessage(f"the message at byte {offset} has no section where one must be, {place} bytes in")
    return length


def _field(product: bytes, offset: int) -> FieldHead:
    year = (product[24] - 1) * 100 + product[12]
    labelled = product[4] == ECMWF and int.from_bytes(product[:3], "big") >= PRODUCT_BYTES <= len(product)
    counted = labelled and product[40] in WITH_MEMBER and product[42] not in OF_ALL_MEMBERS
    member = product[49] if counted else None
    return FieldHead((product[3], product[8]), moment(offset, year, *product[13:17]), _end(product), member)


def _end(product: bytes) -> timedelta | None:
    unit, first, second, indicator = UNIT_SECONDS.get(product[17]), product[18], product[19], product[20]
    if indicator == 10:
        return span(unit, first * 256 + second)
    return span(unit, first if indicator in AT_FIRST else second)
