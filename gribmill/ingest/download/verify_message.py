"""Whether bytes are the message that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gribmill.grib.header import BadMessage, FieldHead, MessageHead, ReadAt, read_indicator, read_message
from gribmill.ingest.download.check_index_entry import Claim


@dataclass(frozen=True, slots=True)
class Expected:
    """The run and the moment that fields end at, counted from it; None where any will do."""

    run: datetime | None = None
    end: timedelta | None = None

    def fits(self, field: FieldHead) -> bool:
        """Whether a field is of that run and moment; a template whose time is not known passes."""
        right_end = self.end is None or field.end is None or field.end == self.end
        return (self.run is None or field.reference == self.run) and right_end


def prove_beginning(first: bytes, offset: int, length: int) -> None:
    """From the first 16 bytes: a message of that length begins here. Spares the rest of a range that is wrong."""
    indicator = read_indicator(first, offset)
    # Large messages of edition 1 state their length elsewhere.
    if indicator.length != length and not (indicator.edition == 1 and indicator.length >= 0x800000):
        raise BadMessage(f"the message at byte {offset} has {indicator.length} bytes, the index says {length}")


def prove_message(
    read: ReadAt,
    place: int,
    length: int,
    expected: Expected,
    *,
    fields: int | None,
    fitting: int,
    claims: Sequence[Claim] = (),
) -> MessageHead:
    """The message at `place`, or a BadMessage unless it is whole, so long, and of the run and time asked for.

    `fields` is how many it must have (None: any), `fitting` how many of them at least are of that moment. For each of
    `claims` one of these has to be what the index says.
    """
    head = read_message(read, place, place + length)
    if head.length != length:
        raise BadMessage(f"a message has {head.length} bytes where {length} were expected")
    if fields is not None and len(head.fields) != fields:
        raise BadMessage(f"a message has {len(head.fields)} fields, the index says {fields}")
    if sum(expected.fits(field) for field in head.fields) < fitting:
        field = head.fields[0]
        raise BadMessage(
            f"a message is of the run {field.reference:%Y-%m-%d %H:%M} and its time {field.end}, "
            f"not of {expected.run and f'{expected.run:%Y-%m-%d %H:%M}'} and {expected.end}"
        )
    for claim in claims:
        if not any(expected.fits(field) and claim.fits(field) for field in head.fields):
            raise BadMessage(f"a message holds {_words(head)}, which is not {claim.name}, as the index says")
    return head


def _words(head: MessageHead) -> str:
    """The first field as its numbers: `parameter 0.0.6 at 103, 2`."""
    field = head.fields[0]
    surface = "" if field.surface is None else f" at {field.surface.kind}, {field.surface.value}"
    return f"parameter {'.'.join(map(str, field.parameter))}{surface}"
