"""GRIB2 messages as octets: sections, whole messages, several fields in one message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

INDICATOR_OCTETS = 16
END = b"7777"
# Sections 1 to 3 (origin, time, grid) are written once; those from here on are repeated for each field.
REPEATED_FROM = 4
# Code table 6.0: the bitmap of the field before.
PREVIOUS_BITMAP = 254


def section(number: int, body: bytes) -> bytes:
    """One section: its length, number and body."""
    return (len(body) + 5).to_bytes(4, "big") + bytes([number]) + body


def message(sections: Iterable[bytes], discipline: int = 0, reserved: bytes = b"\0\0") -> bytes:
    """A message with these sections between the indicator section and 7777."""
    body = b"".join(sections)
    length = INDICATOR_OCTETS + len(body) + len(END)
    return b"GRIB" + reserved + bytes([discipline, 2]) + length.to_bytes(8, "big") + body + END


def split_sections(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The sections of a message by number, each with its length and number."""
    place = INDICATOR_OCTETS
    while data[place : place + len(END)] != END:
        length = int.from_bytes(data[place : place + 4], "big")
        yield data[place + 4], data[place : place + length]
        place += length


def multi_field(messages: Sequence[bytes], *, reuse_bitmap: bool = False, repeat_from: int = REPEATED_FROM) -> bytes:
    """One message with the fields of several, which share the sections before `repeat_from`."""
    first, *others = messages
    sections = [one for _, one in split_sections(first)]
    for number, one in (row for other in others for row in split_sections(other) if row[0] >= repeat_from):
        shared = reuse_bitmap and number == 6
        sections.append(section(6, bytes([PREVIOUS_BITMAP])) if shared else one)
    return message(sections, discipline=first[6], reserved=first[4:6])
