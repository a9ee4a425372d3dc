"""Where each message of a GRIB file begins and ends, read from its own headers."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gribmill.grib.errors import GribError, damaged
from gribmill.grib.sections import END, INDICATOR_BYTES, MAGIC, SHORTEST, ByteSource, message_length, read_indicator
from gribmill.grib.signatures import LONGEST_SIGNATURE, wrong_file

Data = bytes | mmap.mmap

# GFS, the longest file of one hour, has under 800 messages; a year of hourly ERA5 has 8,784.
MESSAGE_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True)
class RawMessage:
    """One whole message: its number in the file (from 1), place, size and GRIB edition."""

    number: int
    offset: int
    length: int
    edition: int


@dataclass(frozen=True, slots=True)
class DamagedMessage:
    """A place where a message starts that cannot be read, and the reason."""

    number: int
    offset: int
    reason: str


def map_file(path: Path) -> Data:
    """The file's bytes, mapped into memory for as long as they are referenced; an empty file is b""."""
    try:
        with path.open("rb") as file:
            empty = os.fstat(file.fileno()).st_size == 0
            return b"" if empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise GribError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def walk(data: Data, source: str) -> Iterator[RawMessage]:
    """Each message in turn. Raises at the first damage, and when there is no message at all."""
    found = False
    for message in scan(data):
        if isinstance(message, DamagedMessage):
            raise damaged(source, message.number, message.offset, message.reason)
        found = True
        yield message
    if not found:
        raise without_messages(data, source)


def without_messages(data: ByteSource, source: str) -> GribError:
    """The error for a file without a message, with what it is instead if its first bytes say so."""
    what = wrong_file(bytes(data[:LONGEST_SIGNATURE]))
    hint = f": it is {what}" if what else ""
    return GribError(f"{source}: no GRIB message in its {len(data)} bytes{hint}")


def scan(data: Data) -> Iterator[RawMessage | DamagedMessage]:
    """Each message or damage in turn: bytes between messages are skipped, and scanning goes on after damage."""
    number, offset, after_damage = 0, data.find(MAGIC), False
    while offset >= 0:
        try:
            message: RawMessage | DamagedMessage = message_at(data, offset, number + 1)
        except GribError as error:
            message = DamagedMessage(number + 1, offset, str(error))
        # Packed values may spell GRIB by chance: after damage, only a known edition counts.
        if isinstance(message, RawMessage) or not after_damage or _known_edition(data, offset):
            number += 1
            if number > MESSAGE_LIMIT:
                raise GribError(f"more than {MESSAGE_LIMIT} messages in one file")
            yield message
        after_damage = isinstance(message, DamagedMessage)
        past = offset + (message.length if isinstance(message, RawMessage) else len(MAGIC))
        offset = data.find(MAGIC, past)


def message_at(data: ByteSource, offset: int, number: int) -> RawMessage:
    """The message that begins at `offset`, its length and end mark checked; a GribError without its place."""
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
