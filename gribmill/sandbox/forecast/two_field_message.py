"""Two fields in one GRIB2 message, as NAM and RAP have the components of a wind."""

from __future__ import annotations

from collections.abc import Iterator

INDICATOR_BYTES = 16
END = b"7777"
# Sections 1 to 3 (who, when, which grid) are said once; those from here on come again for each field.
REPEATED_FROM = 4


def joined(first: bytes, second: bytes) -> bytes:
    """The first message, with the field of the second one too; both are of one run and one grid."""
    again = b"".join(section for number, section in _sections(second) if number >= REPEATED_FROM)
    body = first[INDICATOR_BYTES : -len(END)] + again
    length = INDICATOR_BYTES + len(body) + len(END)
    return first[:8] + length.to_bytes(8, "big") + body + END


def _sections(message: bytes) -> Iterator[tuple[int, bytes]]:
    place = INDICATOR_BYTES
    while message[place : place + len(END)] != END:
        length = int.from_bytes(message[place : place + 4], "big")
        yield message[place + 4], message[place : place + length]
        place += length
