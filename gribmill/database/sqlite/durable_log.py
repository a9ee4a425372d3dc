"""Flushing the write-ahead log, so that commits survive a power failure."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from gribmill.queue.errors import StoreError

# A process that flushes this often is not a short command, and benefits from a preallocated log.
FLUSHES_BEFORE_ROOM = 16
# Shared: allocating a buffer for each piece would take longer than writing it.
ZEROS = bytes(65_536)


class DurableLog:
    """One thread's handle on `jobs.db-wal`. The open connection keeps that file in place."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd = -1
        self._flushes = 0
        self.wants_room = False

    def flush(self) -> None:
        """Return once everything committed so far, by any process, is on disk."""
        try:
            if self._fd < 0:
                self._fd = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
                _flush_folder(self._path.parent)
            os.fdatasync(self._fd)
            self._flushes += 1
            self.wants_room = self._flushes == FLUSHES_BEFORE_ROOM
        except OSError as error:
            raise StoreError(
                f"{self._path}: what was just written cannot be put on the disk ({error.strerror});"
                " it is there now, and may be gone after a power cut"
            ) from None

    def make_room(self, size: int) -> None:
        """Extend the file with zeros, which SQLite takes for the end of the log.

        A flush after the file has grown also waits for the file system's journal, which doubles its time. Call this
        inside a write transaction, when no other process appends.
        """
        self.wants_room = False
        with contextlib.suppress(OSError):  # a full disk is reported by the next write
            end = os.fstat(self._fd).st_size
            while end < size:
                end += os.pwrite(self._fd, ZEROS[: size - end], end)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        # Closes the file of a thread that has ended.
        self.close()


def _flush_folder(folder: Path) -> None:
    """Sync the folder, so that the file's name is durable too."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
