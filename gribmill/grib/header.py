"""What a GRIB message says of itself: its length, its sections, and the parameter and time of each of its fields.

Enough to prove that bytes are the message that was asked for; decoding is done elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from gribmill.ingest.errors import IngestError

# Gives the bytes from an offset on, as many as are asked for, fewer only at the end.
ReadAt = Callable[[int, int], bytes]

MAGIC = b"GRIB"
END = b"7777"
# The largest operational messages have some 50 MB.
LARGEST_MESSAGE = 1 << 30
# RAP has two fields in a message; a file that holds all of a model's in one has some hundreds.
MOST_FIELDS = 4096
INDICATOR_BYTES = 16


class BadMessage(IngestError):
    """Bytes that are not the GRIB message they should be; the sentence says where."""


class Surface(NamedTuple):
    """The first fixed surface of a GRIB2 field: its type, and its value where it has one."""

    kind: int
    value: float | None


@dataclass(frozen=True, slots=True)
class FieldHead:
    """One field: parameter (GRIB2: discipline, category, number; GRIB1: table, number), run, and moment it ends at.

    `end` counts from the reference time; None where the template is not known. So are `member` and `surface`.
    """

    parameter: tuple[int, ...]
    reference: datetime
    end: timedelta | None
    member: int | None = None
    surface: Surface | None = None


@dataclass(frozen=True, slots=True)
class MessageHead:
    """One whole message."""

    offset: int
    length: int
    edition: int
    fields: tuple[FieldHead, ...]


@dataclass(frozen=True, slots=True)
class Indicator:
    """Section 0."""

    edition: int
    length: int
    discipline: int = 0


def read_indicator(data: bytes, offset: int) -> Indicator:
    """Section 0 from the message's first 16 bytes; large messages of edition 1 need `grib1_length` beside."""
    if data[:4] != MAGIC:
        raise BadMessage(f"no GRIB message begins at byte {offset}")
    if len(data) < INDICATOR_BYTES:
        raise BadMessage(f"the message at byte {offset} is cut off in its first section")
    edition = data[7]
    if edition == 2:
        length = int.from_bytes(data[8:16], "big")
    elif edition == 1:
        length = int.from_bytes(data[4:7], "big")
    else:
        raise BadMessage(f"the message at byte {offset} is of edition {edition}; 1 and 2 are known")
    if not INDICATOR_BYTES + len(END) < length <= LARGEST_MESSAGE:
        raise BadMessage(f"the message at byte {offset} says that it has {length} bytes")
    return Indicator(edition, length, data[6])


def read_message(read: ReadAt, offset: int, size: int) -> MessageHead:
    """The message at that offset of a file of that size, each of its sections followed to its end mark."""
    from gribmill.grib.grib1_header import read_fields1
    from gribmill.grib.grib2_header import read_fields2

    indicator = read_indicator(read(offset, INDICATOR_BYTES), offset)
    if indicator.edition == 1:
        length, fields = read_fields1(read, offset, indicator.length, size)
    else:
        _check_room(offset, indicator.length, size)
        length, fields = indicator.length, read_fields2(read, offset, indicator)
    _check_room(offset, length, size)
    if read(offset + length - len(END), len(END)) != END:
        raise BadMessage(f"the {length} bytes of the message at byte {offset} do not end with 7777")
    return MessageHead(offset, length, indicator.edition, fields)


def _check_room(offset: int, length: int, size: int) -> None:
    if length > size - offset:
        raise BadMessage(f"the message at byte {offset} has {length} bytes, but only {size - offset} are left")


def moment(offset: int, year: int, month: int, day: int, hour: int, minute: int, second: int = 0) -> datetime:
    """A time in UTC, or a BadMessage."""
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        text = f"{year}-{month}-{day} {hour}:{minute}:{second}"
        raise BadMessage(f"the message at byte {offset} has the time {text}, which there is not") from None


def span(seconds_in_unit: int | None, count: int) -> timedelta | None:
    """So many units; None for units without a fixed length, and beyond all forecasts."""
    if seconds_in_unit is None or abs(seconds_in_unit * count) > 200 * 366 * 86400:
        return None
    return timedelta(seconds=seconds_in_unit * count)
