"""What a message says about its fields, read without their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gribmill.grib.grid.grid import grid_of
from gribmill.grib.messages import RawMessage, message_at
from gribmill.grib.product.grib1 import keys1
from gribmill.grib.product.grib2 import keys2
from gribmill.grib.product.keys import Keys
from gribmill.grib.sections import ByteSource, check_field_count, walk1, walk2

if TYPE_CHECKING:
    from gribmill.regions.grids import Grid


@dataclass(frozen=True, slots=True)
class FieldHeader:
    """One field: its keys, and the section that describes its grid (empty where a GRIB1 message has none)."""

    keys: Keys
    grid_section: bytes

    def grid(self) -> Grid:
        """The grid of the field. GribError where gribmill does not support it."""
        return grid_of(self.keys.edition, self.grid_section)


@dataclass(frozen=True, slots=True)
class MessageHeader:
    """A whole message and its fields."""

    message: RawMessage
    fields: tuple[FieldHeader, ...]

    @property
    def offset(self) -> int:
        """Where the message begins."""
        return self.message.offset

    @property
    def length(self) -> int:
        """The bytes of the message."""
        return self.message.length


def read_header(data: ByteSource, offset: int, number: int) -> MessageHeader:
    """The message at `offset`, every section followed up to the end mark. A GribError without its place."""
    message = message_at(data, offset, number)
    fields = _fields1(data, message) if message.edition == 1 else _fields2(data, message)
    return MessageHeader(message, fields)


def _fields1(data: ByteSource, message: RawMessage) -> tuple[FieldHeader]:
    product = grid = b""
    for span in walk1(data, message.offset, message.length):
        if span.number == 1:
            product = bytes(data[span.slice])
        elif span.number == 2:
            grid = bytes(data[span.slice])
    return (FieldHeader(keys1(product), grid),)


def _fields2(data: ByteSource, message: RawMessage) -> tuple[FieldHeader, ...]:
    discipline = data[message.offset + 6 : message.offset + 7][0]
    identification = grid = b""
    fields: list[FieldHeader] = []
    for span in walk2(data, message.offset, message.length):
        if span.number == 1:
            identification = bytes(data[span.slice])
        elif span.number == 3:
            grid = bytes(data[span.slice])
        elif span.number == 4:
            fields.append(FieldHeader(keys2(discipline, identification, data[span.slice]), grid))
            check_field_count(len(fields))
    return tuple(fields)
