"""Writes files atomically: they appear complete or not at all."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

from gribmill.storage.bucket import NEW, Condition
from gribmill.storage.errors import ChangedObject, StorageError
from gribmill.storage.folder_lock import locked_folder
from gribmill.storage.layout import unique_part_of
from gribmill.storage.no_space import space_for
from gribmill.storage.object_path import ObjectPath, StoredPath

# The number of buffers that every known POSIX system accepts in one call (IOV_MAX).
MOST_PIECES = 1024
Check = Callable[[], None]
Chunk = bytes | bytearray | memoryview
# An attempt fails only if another process has written the object meanwhile.
MOST_TURNS = 50


class Superseded(StorageError):
    """The file would replace a newer one."""


def write_atomic(path: StoredPath, chunks: Iterable[Chunk], check: Check | None = None) -> int:
    """Write under a temporary name beside `path`, fsync, rename; returns the size.

    `check` is called just before the rename, under the folder's lock, and can raise to prevent it. Raises NoSpace if
    the disk is full. One fsync is enough: the file system's journal orders the rename before later commits.
    """
    if isinstance(path, ObjectPath):
        return _write_object(path, list(chunks), check)
    temporary = unique_part_of(path)
    try:
        with space_for(path):
            descriptor = _created(temporary)
            try:
                written = _write(descriptor, chunks)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            _rename(temporary, path, check)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    return written


def _write_object(path: ObjectPath, chunks: list[Chunk], check: Check | None) -> int:
    """Write an object in one request, on condition that it has not changed since `check`.

    A writer that was suspended between check and write finds another ETag, and has to check again.
    """
    condition: Condition = None if check is None else NEW
    for _ in range(MOST_TURNS):
        try:
            path.write(chunks, condition)
            return sum(len(chunk) for chunk in chunks)
        except ChangedObject:
            condition = path.now() or NEW
            if check is not None:
                check()
    raise StorageError(f"{path} was replaced by other processes {MOST_TURNS} times while it was to be written")


def link_atomic(source: StoredPath, path: StoredPath, check: Check | None = None) -> bool:
    """Make `path` a hard link to `source`; False if the file system does not support it."""
    if not isinstance(source, Path) or not isinstance(path, Path):
        return False
    temporary = unique_part_of(path)
    try:
        os.link(source, temporary)
        _rename(temporary, path, check)
    except OSError:
        return False
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    return True


def _rename(temporary: Path, path: Path, check: Check | None) -> None:
    if check is None:
        temporary.replace(path)
        return
    with locked_folder(path.parent):
        check()
        temporary.replace(path)


def _created(path: Path) -> int:
    """Create and open a new file; creates its folder if that is missing, which is rare."""
    # Not tempfile, whose files are private: other accounts, such as web servers, read the tiles.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        return os.open(path, flags, 0o666)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags, 0o666)


def _write(descriptor: int, chunks: Iterable[Chunk]) -> int:
    """Write all chunks without copying them; usually in one call per tile."""
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
