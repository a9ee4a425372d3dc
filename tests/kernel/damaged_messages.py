"""Damages small messages and decodes them twice: `python -m tests.kernel.damaged_messages KIND FIRST LAST`.

Prints one line and exits 1 where the kernel and ecCodes differ; a crash ends the process.
"""

from __future__ import annotations

import faulthandler
import random
import sys
from collections.abc import Iterator

from gribmill.grib.decode.field import fields
from gribmill.grib.decode.native import decode_windows
from gribmill.grib.errors import GribError
from gribmill.grib.sections import Sections2
from tests.kernel.message_variants import small_messages


def outcome(message: bytes, *, native: bool) -> list[bytes | str]:
    """The bytes of each field, or that it was refused; fields that the kernel declines are decoded by ecCodes."""
    found: list[bytes | str] = []
    try:
        for field in fields(message, "damaged"):
            if field.layout is None or not isinstance(field.sections, Sections2):
                found.append("not covered by the kernel")
                continue
            mine = decode_windows(field.sections, field.packing.points, field.layout, None) if native else None
            found.append((field._normalised() if mine is None else mine[0]).tobytes())
    except GribError:
        found.append("refused")
    return found


def truncated(message: bytes, seed: int) -> bytes:
    """The last section cut at any byte, with lengths that agree."""
    # Section 7 is the last one but for the end mark.
    place = len(message) - 4 - _last_length(message)
    keep = place + 5 + seed % max(1, len(message) - 4 - place - 5)
    cut = bytearray(message[:keep] + b"7777")
    cut[place : place + 4] = (keep - place).to_bytes(4, "big")
    cut[8:16] = len(cut).to_bytes(8, "big")
    return bytes(cut)


def flipped(message: bytes, seed: int) -> bytes:
    """One to eight bits flipped, anywhere after section 1."""
    chance, damaged = random.Random(seed), bytearray(message)
    for _ in range(chance.choice((1, 1, 1, 2, 8))):
        place = chance.randrange(37, len(message) - 4)
        damaged[place] ^= 1 << chance.randrange(8)
    return bytes(damaged)


def rewritten(message: bytes, seed: int) -> bytes:
    """Random bytes in section 5, after its template number, and in section 7."""
    chance, damaged = random.Random(seed), bytearray(message)
    for section, first, room in _sections(message):
        if section == 5:
            for _ in range(chance.choice((1, 1, 2, 3))):
                damaged[chance.randrange(first + 11, first + room)] = chance.choice((0, 1, 255, chance.randrange(256)))
        if section == 7 and room > 5 and chance.random() < 0.5:
            place = chance.randrange(first + 5, first + room)
            damaged[place] = chance.randrange(256)
    return bytes(damaged)


def random_data(message: bytes, seed: int) -> bytes:
    """Section 7 filled with random bytes."""
    chance, damaged = random.Random(seed), bytearray(message)
    for section, first, room in _sections(message):
        if section == 7:
            damaged[first + 5 : first + room] = chance.randbytes(room - 5)
    return bytes(damaged)


KINDS = {"truncated": truncated, "flipped": flipped, "rewritten": rewritten, "random_data": random_data}


def _sections(message: bytes) -> Iterator[tuple[int, int, int]]:
    place = 16
    while message[place : place + 4] != b"7777":
        length = int.from_bytes(message[place : place + 4], "big")
        yield message[place + 4], place, length
        place += length


def _last_length(message: bytes) -> int:
    return [room for _, _, room in _sections(message)][-1]


def main(kind: str, first: int, last: int) -> int:
    faulthandler.enable()
    messages = list(small_messages().items())
    for seed in range(first, last):
        name, message = messages[seed % len(messages)]
        damaged = KINDS[kind](message, seed // len(messages) if kind == "truncated" else seed)
        native, plain = outcome(damaged, native=True), outcome(damaged, native=False)
        if native != plain:
            print(f"{kind} {seed} ({name}): the kernel and ecCodes differ")
            return 1
    print("equal")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
