"""Faulty bodies: damaged, truncated, slow or stalled."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

PIECES_PER_SECOND = 10
# A client that waits this long would wait forever.
LONGEST_STALL_SECONDS = 600


def flipped(body: Iterable[bytes], place: int) -> Iterator[bytes]:
    """The body with one bit of the byte at `place` inverted."""
    sent = 0
    for chunk in body:
        at = place - sent
        sent += len(chunk)
        yield chunk[:at] + bytes((chunk[at] ^ 0x10,)) + chunk[at + 1 :] if 0 <= at < len(chunk) else chunk


def cut_off(body: Iterable[bytes], end: int) -> Iterator[bytes]:
    """The first `end` bytes of the body."""
    left = end
    for chunk in body:
        yield chunk[:left]
        left -= len(chunk)
        if left <= 0:
            return


def slowed(body: Iterable[bytes], bytes_per_second: int) -> Iterator[bytes]:
    """The body at a limited rate."""
    piece = max(1, bytes_per_second // PIECES_PER_SECOND)
    for chunk in body:
        for place in range(0, len(chunk), piece):
            time.sleep(1 / PIECES_PER_SECOND)
            yield chunk[place : place + piece]


def stalled(body: Iterable[bytes], place: int) -> Iterator[bytes]:
    """The first `place` bytes of the body, then silence on an open connection."""
    yield from cut_off(body, place)
    for _ in range(LONGEST_STALL_SECONDS * PIECES_PER_SECOND):
        time.sleep(1 / PIECES_PER_SECOND)
        yield b""
