"""The sections of a GRIB2 message: run in section 1, parameter and time of each field in a section 4."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from gribmill.grib.header import MOST_FIELDS, BadMessage, FieldHead, Indicator, ReadAt, Surface, moment, span

UNIT_SECONDS = {0: 60, 1: 3600, 2: 86400, 10: 10800, 11: 21600, 12: 43200, 13: 1}
HEAD_BYTES = 5
IDENTIFICATION_BYTES = 21
# The longest template read here ends before; lists of levels may follow.
PRODUCT_BYTES = 160
LARGEST_EXPONENT = 20
# Which section may follow which: fields of one message repeat from section 2, 3 or 4 on.
FOLLOWS = {1: (2, 3), 2: (3,), 3: (4,), 4: (5,), 5: (6,), 6: (7,), 7: (2, 3, 4)}


@dataclass(frozen=True, slots=True)
class Shape:
    """How a template differs from 4.0: octets put in before, octets after the surfaces, the member's place there."""

    before: int = 0
    after: int = 0
    member: bool = False
    window: bool = False
    time: int = 4


SHAPES = {
    0: Shape(), 1: Shape(0, 3, True), 2: Shape(0, 2), 5: Shape(0, 13), 6: Shape(0, 1), 7: Shape(),
    8: Shape(window=True), 9: Shape(0, 13, window=True), 10: Shape(0, 1, window=True),
    11: Shape(0, 3, True, True), 12: Shape(0, 2, window=True), 15: Shape(),
    # A constituent (2 octets), an aerosol (13, or 24 with its wavelength), a range of wave periods (11). Template 4.44
    # alone has two octets for its time.
    40: Shape(2), 41: Shape(2, 3, True), 42: Shape(2, window=True), 43: Shape(2, 3, True, True),
    44: Shape(13, time=2), 45: Shape(13, 3, True), 46: Shape(13, window=True), 48: Shape(24), 49: Shape(24, 3, True),
    60: Shape(0, 10, True), 61: Shape(0, 10, True, True), 103: Shape(11), 104: Shape(11, 3, True),
}  # fmt: skip


def read_fields2(read: ReadAt, offset: int, indicator: Indicator) -> tuple[FieldHead, ...]:
    """The fields of a message; a BadMessage unless its sections follow each other up to the end mark."""
    place, last = 16, offset + indicator.length - 4
    before, reference = 0, None
    fields: list[FieldHead] = []
    while offset + place < last:
        head = read(offset + place, HEAD_BYTES)
        length, number = int.from_bytes(head[:4], "big"), head[4] if len(head) == HEAD_BYTES else -1
        if length < HEAD_BYTES or offset + place + length > last or number not in FOLLOWS.get(before, (1,)):
            raise BadMessage(f"the message at byte {offset} has no section where one must be, {place} bytes in")
        if number == 1:
            reference = _reference(read(offset + place, IDENTIFICATION_BYTES), offset)
        elif number == 4 and reference is not None:
            product = read(offset + place, min(length, PRODUCT_BYTES))
            fields.append(_field(product, indicator.discipline, reference, offset))
            if len(fields) > MOST_FIELDS:
                raise BadMessage(f"the message at byte {offset} has more than {MOST_FIELDS} fields")
        before, place = number, place + length
    if before != 7:
        raise BadMessage(f"the message at byte {offset} ends after its section {before}")
    return tuple(fields)


def _reference(section: bytes, offset: int) -> datetime:
    if len(section) < IDENTIFICATION_BYTES:
        raise BadMessage(f"the message at byte {offset} has a section 1 of {len(section)} bytes")
    return moment(offset, int.from_bytes(section[12:14], "big"), *section[14:19])


def _field(product: bytes, discipline: int, reference: datetime, offset: int) -> FieldHead:
    if len(product) < 11:
        raise BadMessage(f"the message at byte {offset} has a section 4 of {len(product)} bytes")
    parameter = (discipline, product[9], product[10])
    shape = SHAPES.get(int.from_bytes(product[7:9], "big"))
    if shape is None:
        return FieldHead(parameter, reference, None)
    base = 11 + shape.before
    after = base + 19 + shape.time
    needed = after + shape.after + (19 if shape.window else 0)
    if len(product) < needed:
        raise BadMessage(f"the message at byte {offset} has a section 4 of {len(product)} bytes, {needed} are needed")
    end = span(UNIT_SECONDS.get(product[base + 6]), _signed(product[base + 7 : base + 7 + shape.time]))
    if shape.window:
        end = _window_end(product, after + shape.after, reference, end, offset)
    surface = _surface(product[after - 12 : after - 6])
    return FieldHead(parameter, reference, end, product[after + 1] if shape.member else None, surface)


def _surface(octets: bytes) -> Surface:
    kind, scale, value = octets[0], octets[1], octets[2:]
    exponent = scale if scale < 128 else 128 - scale
    # Nothing is so small or large: the scale is missing, or written in another way.
    if abs(exponent) > LARGEST_EXPONENT or value == b"\xff" * 4:
        return Surface(kind, None)
    return Surface(kind, _signed(value) / 10.0**exponent)


def _window_end(
    product: bytes, first: int, reference: datetime, start: timedelta | None, offset: int
) -> timedelta | None:
    """From the length of the window, as wgrib2 does; nested windows have only the stated end."""
    if product[first + 7] == 1:
        length = span(UNIT_SECONDS.get(product[first + 14]), _signed(product[first + 15 : first + 19]))
        return None if start is None or length is None else start + length
    return (
        moment(offset, int.from_bytes(product[first : first + 2], "big"), *product[first + 2 : first + 7]) - reference
    )


def _signed(octets: bytes) -> int:
    """Sign and magnitude by the manual, but some write two's complement."""
    number = int.from_bytes(octets, "big")
    if number < 1 << 31:
        return number
    magnitude = number - (1 << 31)
    return number - (1 << 32) if magnitude > 1 << 30 else -magnitude
