"""Where each message of a GRIB file begins and ends, read from its own headers."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gribmill.grib.errors import GribError, damaged

Data = bytes | mmap.mmap

MAGIC = b"GRIB"
END = b"7777"
# The largest operational messages are some 50 MB (47 million points). A length beyond this is damage.
MESSAGE_LIMIT_BYTES = 1 << 30
# GFS, the longest file of one hour, has under 800 messages; a year of hourly ERA5 has 8,784.
MESSAGE_LIMIT = 1_000_000
# Section 0 and the end mark, with at least one byte between.
SHORTEST = {1: 8 + 28 + 11 + 4, 2: 16 + 21 + 4}
# GRIB1 has three octets for its length. Beyond 2^23 bytes this bit is set and the rest counts 120s.
LARGE_GRIB1 = 0x800000
GRIB1_PADDING = 120


# What comes in the place of GRIB, by its first bytes. The German and the American weather services compress theirs.
IMPOSTORS = (
    (b"\x1f\x8b", "it is compressed (gzip): unpack it first"),
    (b"BZh", "it is compressed (bzip2): unpack it first"),
    (b"\xfd7zXZ", "it is compressed (xz): unpack it first"),
    (b"\x28\xb5\x2f\xfd", "it is compressed (zstd): unpack it first"),
    (b"PK\3\4", "it is a ZIP archive: unpack it first"),
    (b"\x89HDF", "it is HDF5 or NetCDF"),
    (b"CDF", "it is NetCDF"),
    (b"BUFR", "it is BUFR"),
    (b"<", "it is a web page or an error message"),
    (b"version https://git-lfs", "it is a pointer to a file in Git LFS"),
)


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
    """The file's bytes, mapped into memory for as long as someone holds them; an empty file is b""."""
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


def without_messages(data: Data, source: str) -> GribError:
    """The error for a file that has no message, with what it is instead where that can be told."""
    what = next((f": {words}" for first, words in IMPOSTORS if data[: len(first)] == first), "")
    return GribError(f"{source}: no GRIB message in its {len(data)} bytes{what}")


def scan(data: Data) -> Iterator[RawMessage | DamagedMessage]:
    """Each message or damage in turn: bytes between messages are skipped, a damage is walked past."""
    number, offset, after_damage = 0, data.find(MAGIC), False
    while offset >= 0:
        message = _message_at(data, offset, number + 1)
        # Packed values may spell GRIB by chance: after damage, only a known edition counts.
        if isinstance(message, RawMessage) or not after_damage or _edition(data, offset) in SHORTEST:
            number += 1
            if number > MESSAGE_LIMIT:
                raise GribError(f"more than {MESSAGE_LIMIT} messages in one file")
            yield message
        after_damage = isinstance(message, DamagedMessage)
        past = offset + (message.length if isinstance(message, RawMessage) else len(MAGIC))
        offset = data.find(MAGIC, past)


def _message_at(data: Data, offset: int, number: int) -> RawMessage | DamagedMessage:
    try:
        edition, length = _edition_and_length(data, offset)
    except GribError as error:
        return DamagedMessage(number, offset, str(error))
    left = len(data) - offset
    if length > left:
        reason = f"it says it has {length} bytes but the file ends after {left}: truncated, fetch it again"
        return DamagedMessage(number, offset, reason)
    if data[offset + length - 4 : offset + length] != END:
        reason = f"its {length} bytes do not end with 7777: its length or its content is wrong"
        return DamagedMessage(number, offset, reason)
    return RawMessage(number, offset, length, edition)


def _edition(data: Data, offset: int) -> int | None:
    return data[offset + 7] if offset + 7 < len(data) else None


def _edition_and_length(data: Data, offset: int) -> tuple[int, int]:
    edition = _edition(data, offset)
    if edition is None:
        raise GribError("the file ends within its first 8 bytes: truncated, fetch it again")
    if edition not in SHORTEST:
        raise GribError(f"GRIB edition {edition} is unknown (1 and 2 are)")
    length = _length2(data, offset) if edition == 2 else _length1(data, offset)
    if length < SHORTEST[edition]:
        raise GribError(f"it says it has {length} bytes, fewer than any message can have")
    if length > MESSAGE_LIMIT_BYTES:
        raise GribError(f"it says it has {length} bytes, more than the limit of {MESSAGE_LIMIT_BYTES}")
    return edition, length


def _length2(data: Data, offset: int) -> int:
    if offset + 16 > len(data):
        raise GribError("the file ends within its first 16 bytes: truncated, fetch it again")
    return int.from_bytes(data[offset + 8 : offset + 16], "big")


def _length1(data: Data, offset: int) -> int:
    length = int.from_bytes(data[offset + 4 : offset + 7], "big")
    if not length & LARGE_GRIB1:
        return length
    padding = _section4_length(data, offset)
    if padding >= GRIB1_PADDING:
        return length
    return (length & (LARGE_GRIB1 - 1)) * GRIB1_PADDING - padding + 4


def _section4_length(data: Data, offset: int) -> int:
    """What a GRIB1 message says in its data section's length: in a large message, the padding."""
    place = offset + 8
    flags = data[place + 7] if place + 7 < len(data) else 0
    for present in (True, flags & 0x80, flags & 0x40):
        if present:
            place += int.from_bytes(data[place : place + 3], "big")
    if place + 3 > len(data):
        raise GribError("the file ends before its data section: truncated, fetch it again")
    return int.from_bytes(data[place : place + 3], "big")
