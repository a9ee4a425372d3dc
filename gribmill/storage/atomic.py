"""Writes files atomically: they appear complete or not at all.

A folder can be locked while a file in it is checked and replaced. A full disk is a temporary failure.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from gribmill.storage.bucket import NEW, Condition
from gribmill.storage.errors import ChangedObject, FolderBusy, NoSpace, StorageError
from gribmill.storage.layout import lock_of_folder, unique_part_of
from gribmill.storage.object_path import ObjectPath, StoredPath

# The number of buffers that every known POSIX system accepts in one call (IOV_MAX).
MOST_PIECES = 1024
Check = Callable[[], None]
Chunk = bytes | bytearray | memoryview
# An attempt fails only if another process has written the object meanwhile.
MOST_TURNS = 50
# Work under the lock takes a millisecond: a holder that needs longer is a suspended process.
PATIENCE_SECONDS = 10.0
FIRST_PAUSE_SECONDS = 0.001
LONGEST_PAUSE_SECONDS = 0.05


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
            descriptor = _open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
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


@contextmanager
def locked_folder(folder: Path, patience_seconds: float = PATIENCE_SECONDS) -> Iterator[None]:
    """Hold the folder's lock; raises FolderBusy, with the holder's process id, if it is not free in time."""
    descriptor = _acquired(folder, time.monotonic() + patience_seconds, patience_seconds)
    try:
        yield
    finally:
        os.close(descriptor)


@contextmanager
def space_for(path: Path) -> Iterator[None]:
    """Translate errors about a full disk into NoSpace, which names the file."""
    try:
        yield
    except OSError as error:
        if is_no_space(error):
            raise NoSpace(f"no space is left on the disk for {path}") from error
        raise


def is_no_space(error: OSError) -> bool:
    """Whether the disk is full, or a quota is used up."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


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


def _rename(temporary: Path, path: Path, check: Check | None) -> None:
    if check is None:
        temporary.replace(path)
        return
    with locked_folder(path.parent):
        check()
        temporary.replace(path)


def _open(path: Path, flags: int) -> int:
    """Open a file; creates its folder if that is missing, which is rare."""
    # Not tempfile, whose files are private: other accounts, such as web servers, read the tiles.
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


def _acquired(folder: Path, deadline: float, patience_seconds: float) -> int:
    path = lock_of_folder(folder)
    pause = FIRST_PAUSE_SECONDS
    while True:
        with space_for(path):
            descriptor = _open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 100, 0).decode("utf-8", "replace").strip()
            os.close(descriptor)
            if time.monotonic() > deadline:
                raise FolderBusy(_sentence(folder, holder, patience_seconds)) from None
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            continue
        # The folder may have been removed and recreated between the two calls, with another lock file.
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_ino == os.fstat(descriptor).st_ino:
                with contextlib.suppress(OSError):  # a full disk: the lock works, but does not name its holder
                    os.pwrite(descriptor, f"{os.getpid()} {os.uname().nodename}\n".encode(), 0)
                return descriptor
        os.close(descriptor)


def _sentence(folder: Path, holder: str, patience_seconds: float) -> str:
    process = holder.partition("\n")[0].split(" ")
    number = process[0] if process[0].isdigit() else ""
    where = f" on {process[1]}" if len(process) > 1 and process[1].isprintable() else ""
    who = f"process {number}{where}" if number else "another process"
    remedy = f": if it is stopped, continue it (kill -CONT {number}) or end it (kill -KILL {number})" if number else ""
    return f"{folder} has been locked by {who} for more than {patience_seconds:g} s{remedy}"
