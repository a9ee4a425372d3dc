"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from gribmill.storage.layout import unique_part_of

# As many pieces as every POSIX system we know takes in one call.
MOST_PIECES = 1024


def write_atomic(path: Path, chunks: Iterable[bytes | bytearray | memoryview]) -> int:
    """Write under a temporary name beside `path`, fsync, rename; returns the size.

    One fsync: the name itself is the file system's journal's to keep, in order with every later commit there.
    """
    temporary = unique_part_of(path)
    try:
        descriptor = _created(temporary)
        try:
            written = _write(descriptor, chunks)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    return written


def link_atomic(source: Path, path: Path) -> bool:
    """Let `path` be a second name of the file `source`; False where the file system cannot do that."""
    temporary = unique_part_of(path)
    try:
        os.link(source, temporary)
        temporary.replace(path)
    except OSError:
        return False
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    return True


def _created(path: Path) -> int:
    """A new file, opened; its folder is made where it is not there yet, which is seldom."""
    # Not tempfile: its files are private to the user, and tiles are read by other accounts (web servers).
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        return os.open(path, flags, 0o666)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags, 0o666)


def _write(descriptor: int, chunks: Iterable[bytes | bytearray | memoryview]) -> int:
    """All of it, straight from where it lies: a tile is one call, as long as the system takes it whole."""
    left = deque(memoryview(chunk) for chunk in chunks)
    written = 0
    while left:
        done = os.writev(descriptor, list(islice(left, MOST_PIECES)))
        written += done
        while left and done >= len(left[0]):
            done -= len(left.popleft())
        if done:
            left[0] = left[0][done:]
    return written
