"""The write-ahead log on the disk: what makes a commit survive a power cut."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from gribmill.queue.errors import StoreError

# A process that has flushed this often is not a short command: from now on a log that need not grow pays.
FLUSHES_BEFORE_ROOM = 16
# Memory that is fresh for every piece would take longer to get than the piece to write.
ZEROS = bytes(65_536)


class DurableLog:
    """One thread's hold on `jobs.db-wal`. Its connection, while open, keeps that file in place."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd = -1
        self._flushes = 0
        self.wants_room = False

    def flush(self) -> None:
        """Return when everything committed so far, by any process, is on the disk."""
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
        """Fill the file up with zeros. SQLite takes what was never written for the log's end.

        A flush that finds the file longer than the last one did waits for the file system's journal too, which takes
        as long again. To be called inside a write transaction: no other process appends then.
        """
        self.wants_room = False
        with contextlib.suppress(OSError):  # a full disk: the next write reports it
            end = os.fstat(self._fd).st_size
            while end < size:
                end += os.pwrite(self._fd, ZEROS[: size - end], end)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        # A thread that ended: nothing else closes it.
        self.close()


def _flush_folder(folder: Path) -> None:
    """A file is only as safe as its name in the folder."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
