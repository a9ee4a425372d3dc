"""Whether bytes are the message that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gribmill.grib.errors import GribError
from gribmill.grib.message_header import MessageHeader, read_header
from gribmill.grib.product.keys import Keys
from gribmill.grib.sections import ByteSource, read_indicator
from gribmill.ingest.download.check_index_entry import Claim


@dataclass(frozen=True, slots=True)
class Expected:
    """The run and the end of the fields' time, counted from it; None where any will do."""

    run: datetime | None = None
    end: timedelta | None = None

    def fits(self, keys: Keys) -> bool:
        """Whether a field is of that run and time; a template whose time is not known passes."""
        right_end = self.end is None or keys.end is None or keys.end == self.end
        return (self.run is None or keys.reference == self.run) and right_end


def verify_beginning(first: bytes, length: int) -> None:
    """Raise GribError unless these 16 bytes begin a message of that length, so that no more of a wrong range comes."""
    indicator = read_indicator(first)
    if indicator.length != length and not indicator.large:
        raise GribError(f"its length is {indicator.length} bytes, the index says {length}")


def verify_message(
    data: ByteSource,
    offset: int,
    number: int,
    expected: Expected,
    *,
    fields: int | None,
    fitting: int,
    claims: Sequence[Claim] = (),
) -> MessageHeader:
    """The message from `offset` to the end of `data`; a GribError unless it is whole, and of the expected run and time.

    `fields` is how many fields it must have (None: any), `fitting` how many of them at least are of that time. Each of
    `claims` must be true of one of these.
    """
    header = read_header(data, offset, number)
    if header.length != len(data) - offset:
        raise GribError(f"its length is {header.length} bytes, {len(data) - offset} were expected")
    if fields is not None and len(header.fields) != fields:
        raise GribError(f"it has {len(header.fields)} fields, the index says {fields}")
    timely = [field.keys for field in header.fields if expected.fits(field.keys)]
    first = header.fields[0].keys
    if len(timely) < fitting:
        raise GribError(
            f"it is of the run {first.reference:%Y-%m-%d %H:%M} and its time {first.end}, "
            f"not of {expected.run and f'{expected.run:%Y-%m-%d %H:%M}'} and {expected.end}"
        )
    for claim in claims:
        if not any(claim.fits(keys) for keys in timely):
            raise GribError(f"it holds {_words(first)}, which is not {claim.name}, as the index says")
    return header


def _words(keys: Keys) -> str:
    """A field as its numbers: `parameter 0.0.6 at level 103, 2`."""
    level = "" if keys.level is None else f" at level {keys.level.kind}, {keys.level.value}"
    return f"parameter {'.'.join(map(str, keys.parameter))}{level}"
