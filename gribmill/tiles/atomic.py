"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

TEMPORARY_SUFFIX = ".part"
# Small tiles are handed to the system in one piece; larger pieces pass the buffer by.
BUFFER_BYTES = 2**18


def write_atomic(path: Path, chunks: Iterable[bytes | bytearray | memoryview]) -> int:
    """Write under a temporary name beside `path`, fsync, rename; returns the size.

    One fsync: the name itself is the file system's journal's to keep, in order with every later commit there.
    """
    temporary = _temporary(path)
    written = 0
    try:
        with os.fdopen(_created(temporary), "wb", BUFFER_BYTES) as file:
            for chunk in chunks:
                written += file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    return written


def link_atomic(source: Path, path: Path) -> bool:
    """Let `path` be a second name of the file `source`; False where the file system cannot do that."""
    temporary = _temporary(path)
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


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}{TEMPORARY_SUFFIX}")
