"""What a message says about its fields, read without their values."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gribmill.grib.errors import GribError, damaged
from gribmill.grib.messages import RawMessage, map_file, message_at, walk
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
    return _header(data, message_at(data, offset, number))


def read_headers(path: Path) -> Iterator[MessageHeader]:
    """The header of each message of a file. Raises GribError at the first damage, or when there is no message."""
    data = map_file(path)
    for message in walk(data, str(path)):
        try:
            yield _header(data, message)
        except GribError as error:
            raise damaged(str(path), message.number, message.offset, str(error)) from None


def supported_grids(headers: Iterable[MessageHeader]) -> set[Grid]:
    """The grids of all the fields, without those that gribmill does not support."""
    # NumPy comes with the grids: listings and downloads do without.
    from gribmill.grib.grid.grid import grid_from_section

    described = {(field.keys.edition, field.grid_section) for header in headers for field in header.fields}
    found = set()
    for edition, section in described:
        with contextlib.suppress(GribError):
            found.add(grid_from_section(edition, section))
    return found


def _header(data: ByteSource, message: RawMessage) -> MessageHeader:
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
