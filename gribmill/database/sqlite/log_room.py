"""Room in the write-ahead log of a busy process that does not flush it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

# Written in pieces of this size, a file grows at two fifths of the cost of SQLite's own small writes.
PIECE = bytes(65_536)
STEP_BYTES = 32 * len(PIECE)
# A process that writes this often is not a short command. Looking less often would let SQLite extend the file itself.
WRITES_PER_LOOK = 16


class LogRoom:
    """One thread's handle on `jobs.db-wal`, which it extends with zeros: SQLite takes them for the end of the log."""

    def __init__(self, path: Path, limit: int) -> None:
        self._path = path
        self._limit = limit
        self._fd = -1
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

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        # Closes the file of a thread that has ended.
        self.close()
