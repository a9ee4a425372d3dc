"""`jobs.db-wal`: flushing it, so that commits survive a power failure, and extending it with zeros.

SQLite takes zeros for the end of the log. A process with `full` durability uses a DurableLog, one with `normal` a
LogRoom.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from gribmill.queue.errors import StoreError

# Written in pieces of this size, a file grows at two fifths of the cost of SQLite's own small writes. The piece is
# shared, because allocating a buffer for each would take longer than writing it.
PIECE = bytes(65_536)
# A process that flushes this often is not a short command, and benefits from a preallocated log.
FLUSHES_BEFORE_ROOM = 16
# The same for a process that does not flush. Looking less often would let SQLite extend the file itself.
WRITES_PER_LOOK = 16
STEP_BYTES = 32 * len(PIECE)


class _LogFile:
    """One thread's handle on the log. The open connection keeps that file in place."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd = -1

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        # Closes the file of a thread that has ended.
        self.close()


class DurableLog(_LogFile):
    """Flushes the log after each commit."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
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
                f"{self._path}: the last commit cannot be flushed to disk ({error.strerror});"
                " it is visible now, but may be lost in a power failure"
            ) from None

    def make_room(self, size: int) -> None:
        """Extend the log to this size. Call this inside a write transaction, when no other process appends.

        A flush after the file has grown also waits for the file system's journal, which doubles its time.
        """
        self.wants_room = False
        with contextlib.suppress(OSError):  # a full disk is reported by the next write
            end = os.fstat(self._fd).st_size
            while end < size:
                end += os.pwrite(self._fd, PIECE[: size - end], end)


class LogRoom(_LogFile):
    """Keeps room in the log of a busy process that does not flush it."""

    def __init__(self, path: Path, limit: int) -> None:
        super().__init__(path)
        self._limit = limit
        self._writes = 0

    def used_up(self) -> bool:
        """Whether SQLite has grown the log past its room. To be called once per write transaction."""
        self._writes += 1
        if self._writes % WRITES_PER_LOOK:
            return False
        try:
            if self._fd < 0:
                self._fd = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
            size = os.fstat(self._fd).st_size
        except OSError:
            return False
        # Room ends at a whole piece, and SQLite's frames do not.
        return 0 < size < self._limit and size % len(PIECE) != 0

    def extend(self) -> None:
        """Add room. Call this inside a write transaction, when no other process appends."""
        with contextlib.suppress(OSError):  # a full disk is reported by the next write
            end = os.fstat(self._fd).st_size
            target = min(end - end % len(PIECE) + STEP_BYTES, self._limit)
            while end < target:
                # The first piece ends at a whole one.
                end += os.pwrite(self._fd, PIECE[: min(target - end, len(PIECE) - end % len(PIECE))], end)


def _flush_folder(folder: Path) -> None:
    """Sync the folder, so that the file's name is durable too."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
