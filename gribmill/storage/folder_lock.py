"""A lock on one folder: held while a file in it is checked and replaced."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gribmill.storage.errors import StorageError
from gribmill.storage.layout import lock_of_folder
from gribmill.storage.no_space import space_for

# Work under the lock takes a millisecond: a holder that needs longer is a suspended process.
PATIENCE_SECONDS = 10.0
FIRST_PAUSE_SECONDS = 0.001
LONGEST_PAUSE_SECONDS = 0.05


class FolderBusy(StorageError):
    """Another process held the lock for too long."""


@contextmanager
def locked_folder(folder: Path, patience_seconds: float = PATIENCE_SECONDS) -> Iterator[None]:
    """Hold the folder's lock; raises FolderBusy, with the holder's process id, if it is not free in time."""
    descriptor = _acquired(folder, time.monotonic() + patience_seconds, patience_seconds)
    try:
        yield
    finally:
        os.close(descriptor)


def _acquired(folder: Path, deadline: float, patience_seconds: float) -> int:
    path = lock_of_folder(folder)
    pause = FIRST_PAUSE_SECONDS
    while True:
        with space_for(path):
            descriptor = _opened(path)
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


def _opened(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    try:
        return os.open(path, flags, 0o666)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags, 0o666)


def _sentence(folder: Path, holder: str, patience_seconds: float) -> str:
    process = holder.partition("\n")[0].split(" ")
    number = process[0] if process[0].isdigit() else ""
    where = f" on {process[1]}" if len(process) > 1 and process[1].isprintable() else ""
    who = f"process {number}{where}" if number else "another process"
    remedy = f": if it is stopped, continue it (kill -CONT {number}) or end it (kill -KILL {number})" if number else ""
    return f"{folder} has been locked by {who} for more than {patience_seconds:g} s{remedy}"
