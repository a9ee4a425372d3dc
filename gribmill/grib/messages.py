"""Finds the messages of a GRIB file, and reads the headers of their fields."""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gribmill.grib.errors import GribError, damaged
from gribmill.grib.product.grib1 import keys1
from gribmill.grib.product.grib2 import keys2
from gribmill.grib.product.keys import LOCAL_OCTETS2, Keys
from gribmill.grib.sections import (
    END,
    INDICATOR_BYTES,
    MAGIC,
    SHORTEST,
    ByteSource,
    check_field_count,
    message_length,
    read_indicator,
    walk1,
    walk2,
)
from gribmill.regular_file import open_regular

if TYPE_CHECKING:
    from gribmill.regions.grids import Grid


# DWD and NOAA publish compressed GRIB. cfgrib leaves pickles beside the files it opens.
WRONG_FILE_SIGNATURES = (
    (b"GRIB", "a GRIB file"),
    (b"\x1f\x8b", "a gzip file"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ", "an xz file"),
    (b"\x28\xb5\x2f\xfd", "a zstd file"),
    (b"PK\3\4", "a ZIP archive"),
    (b"\x89HDF", "an HDF5 or NetCDF file"),
    (b"CDF", "a NetCDF file"),
    (b"BUFR", "a BUFR file"),
    (b"!GFHDR!", "a binary index from NCEP's grb2index"),
    *((bytes((0x80, protocol)), "a Python pickle") for protocol in (2, 3, 4, 5)),
    (b"<", "a web page or an error message"),
    (b"version https://git-lfs", "a Git LFS pointer"),
)
LONGEST_SIGNATURE = max(len(signature) for signature, _ in WRONG_FILE_SIGNATURES)


def wrong_file(first: bytes) -> str | None:
    """`a gzip file`, `a web page or an error message` …; None if the first bytes are not recognised."""
    return next((name for signature, name in WRONG_FILE_SIGNATURES if first.startswith(signature)), None)


Data = bytes | mmap.mmap

# GFS, the longest file of one hour, has under 800 messages; a year of hourly ERA5 has 8,784.
MESSAGE_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True)
class RawMessage:
    """One complete message: its number in the file (from 1), offset, length and GRIB edition."""

    number: int
    offset: int
    length: int
    edition: int


@dataclass(frozen=True, slots=True)
class DamagedMessage:
    """A message that cannot be read: its number, its offset and the reason."""

    number: int
    offset: int
    reason: str


def map_file(path: Path) -> Data:
    """The file's bytes, memory-mapped as long as they are referenced; b"" for an empty file."""
    try:
        with open_regular(path) as file:
            empty = os.fstat(file.fileno()).st_size == 0
            return b"" if empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise GribError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def walk(data: Data, source: str) -> Iterator[RawMessage]:
    """Yields each message. Raises GribError at the first damaged one, or if there is no message."""
    found = False
    for message in scan(data):
        if isinstance(message, DamagedMessage):
            raise damaged(source, message.number, message.offset, message.reason)
        found = True
        yield message
    if not found:
        raise without_messages(data, source)


def without_messages(data: ByteSource, source: str) -> GribError:
    """The error for a file without a message; names the file's type if its first bytes reveal it."""
    what = wrong_file(bytes(data[:LONGEST_SIGNATURE]))
    hint = f": it is {what}" if what else ""
    return GribError(f"{source}: no GRIB message in its {len(data)} bytes{hint}")


def scan(data: Data) -> Iterator[RawMessage | DamagedMessage]:
    """Yields each message, intact or damaged. Skips bytes between messages, and continues after damage."""
    number, offset, after_damage = 0, data.find(MAGIC), False
    while offset >= 0:
        try:
            message: RawMessage | DamagedMessage = message_at(data, offset, number + 1)
        except GribError as error:
            message = DamagedMessage(number + 1, offset, str(error))
        # Packed values may contain "GRIB" by chance: after damage, only a supported edition counts as a message.
        if isinstance(message, RawMessage) or not after_damage or _known_edition(data, offset):
            number += 1
            if number > MESSAGE_LIMIT:
                raise GribError(f"more than {MESSAGE_LIMIT} messages in one file")
            yield message
        after_damage = isinstance(message, DamagedMessage)
        past = offset + (message.length if isinstance(message, RawMessage) else len(MAGIC))
        offset = data.find(MAGIC, past)


def message_at(data: ByteSource, offset: int, number: int) -> RawMessage:
    """The message at `offset`, after checking its length and end mark. The GribError does not state the offset."""
    indicator = read_indicator(data[offset : offset + INDICATOR_BYTES])
    length, left = message_length(data, offset, indicator), len(data) - offset
    if length > left:
        raise GribError(
            f"it states a length of {length} bytes, but the file ends after {left}: truncated, fetch it again"
        )
    if bytes(data[offset + length - len(END) : offset + length]) != END:
        raise GribError(f"its {length} bytes do not end with 7777: its length or its content is wrong")
    return RawMessage(number, offset, length, indicator.edition)


def _known_edition(data: Data, offset: int) -> bool:
    return offset + 7 < len(data) and data[offset + 7] in SHORTEST


@dataclass(frozen=True, slots=True)
class FieldHeader:
    """One field: its keys, and the section that describes its grid (empty if a GRIB1 message has none)."""

    keys: Keys
    grid_section: bytes


@dataclass(frozen=True, slots=True)
class MessageHeader:
    """A complete message and its fields."""

    message: RawMessage
    fields: tuple[FieldHeader, ...]

    @property
    def offset(self) -> int:
        """The byte offset of the message in its file."""
        return self.message.offset

    @property
    def length(self) -> int:
        """The length of the message in bytes."""
        return self.message.length


def read_header(data: ByteSource, offset: int, number: int) -> MessageHeader:
    """The header of the message at `offset`, after walking all sections. The GribError does not state the offset."""
    return _header(data, message_at(data, offset, number))


def read_headers(path: Path) -> Iterator[MessageHeader]:
    """Yields the header of each message. Raises GribError at the first damaged one, or if there is no message."""
    data = map_file(path)
    for message in walk(data, str(path)):
        try:
            yield _header(data, message)
        except GribError as error:
            raise damaged(str(path), message.number, message.offset, str(error)) from None


def supported_grids(headers: Iterable[MessageHeader]) -> set[Grid]:
    """The grids of all fields, except unsupported ones."""
    # Grids import NumPy, which listings and downloads do not need.
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
    identification = local = grid = b""
    fields: list[FieldHeader] = []
    for span in walk2(data, message.offset, message.length):
        if span.number == 1:
            identification = bytes(data[span.slice])
        elif span.number == 2:
            # Only the labels are kept: the rest of a local section may contain anything, of any size.
            local = bytes(data[span.start : min(span.end, span.start + LOCAL_OCTETS2)])
        elif span.number == 3:
            grid = bytes(data[span.slice])
        elif span.number == 4:
            fields.append(FieldHeader(keys2(discipline, identification, data[span.slice], local), grid))
            check_field_count(len(fields))
    return tuple(fields)
