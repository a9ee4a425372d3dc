"""A lock of the whole host in front of write transactions.

SQLite's own busy timeout is polling with back-off: with many writers the unlucky one starves. The kernel's `flock`
queue is fair, and a checkpoint that runs under it can never meet a commit (SQLite before 3.51.3 may corrupt then).
"""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

from gribmill.queue.errors import StoreBusy, StoreReadOnly

# Past this the holder is stuck (a stopped process), not slow: a write transaction takes milliseconds.
PATIENCE_SECONDS = 30.0


class HostLock:
    """One thread's handle on the lock file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd = -1
        self._waiter: _Waiter | None = None
        self._fd = self._open()

    def acquire(self, patience_seconds: float = PATIENCE_SECONDS) -> None:
        """Wait for this thread's turn; StoreBusy when it does not come."""
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._queue_up(patience_seconds)

    def release(self) -> None:
        fcntl.flock(self._fd, fcntl.LOCK_UN)

    def close(self) -> None:
        if self._waiter is not None:
            self._waiter.dismiss()
            self._waiter = None
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def __del__(self) -> None:
        # A thread that ended, or an opening that failed: nobody else will close it.
        self.close()

    def _open(self) -> int:
        try:
            return os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise StoreReadOnly(f"cannot open the lock file {self.path}: {error.strerror}") from None

    def _queue_up(self, patience_seconds: float) -> None:
        """Wait in the kernel's queue. Only a thread can do that and still be given up on."""
        if self._waiter is None:
            self._waiter = _Waiter(self._fd)
        if not self._waiter.given_within(patience_seconds):
            # The waiting thread keeps the old descriptor: a lock it gets late must not be ours.
            self._waiter = None
            self._fd = self._open()
            raise StoreBusy(
                f"{self.path} was locked by another process for more than {patience_seconds:g} s;"
                " is one of the workers stopped (Ctrl-Z)? Nothing was written"
            )


class _Waiter:
    """A thread that waits in the kernel's queue, again and again, for an owner who may give up."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._guard = threading.Lock()
        self._wanted = threading.Lock()
        self._given = threading.Lock()
        self._abandoned = False
        self._wanted.acquire()
        self._given.acquire()
        threading.Thread(target=self._serve, daemon=True, name="host-lock").start()

    def given_within(self, seconds: float) -> bool:
        """Ask for the lock; False when it did not come, and this waiter is of no more use."""
        self._wanted.release()
        if self._given.acquire(timeout=seconds):
            return True
        with self._guard:
            self._abandoned = not self._given.acquire(blocking=False)
            return not self._abandoned

    def dismiss(self) -> None:
        """The owner waits no more, and keeps the descriptor."""
        self._fd = -1
        self._wanted.release()

    def _serve(self) -> None:
        while True:
            self._wanted.acquire()
            if self._fd < 0:
                return
            fcntl.flock(self._fd, fcntl.LOCK_EX)
            with self._guard:
                if self._abandoned:
                    os.close(self._fd)
                    return
                self._given.release()
