"""A host-wide lock that write transactions acquire first.

SQLite's own busy timeout polls with backoff, so with many writers some starve. The kernel's `flock` queue is fair, and
a checkpoint under this lock never coincides with a commit (which may corrupt the file before SQLite 3.51.3).
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gribmill.database.sqlite.files import FILE_MODE
from gribmill.queue.errors import StoreBusy, StoreReadOnly

log = logging.getLogger("gribmill.queue")

# A write transaction takes milliseconds: after this time the holder is stuck, for example suspended.
PATIENCE_SECONDS = 30.0
# After this time, the holder is logged.
NAME_HOLDER_SECONDS = 3.0
# Waking the next in the queue takes about as long as a short transaction. So that each process can write several times
# in a row, one that finds the lock taken looks again after these times, and joins the queue only then.
PAUSES_SECONDS = (0.001, 0.002, 0.004, 0.008)
PROC = Path("/proc")
LONGEST_NAME = 60


class HostLock:
    """One thread's handle on the lock file."""

    def __init__(self, path: Path, pauses_seconds: Sequence[float] = ()) -> None:
        self.path = path
        self._pauses_seconds = pauses_seconds
        self._fd = -1
        self._waiter: _Waiter | None = None
        self._fd = self._open()

    def acquire(self, patience_seconds: float = PATIENCE_SECONDS) -> None:
        """Wait for this thread's turn; StoreBusy if it does not come."""
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not self._acquired_after_a_pause():
                self._queue_up(patience_seconds)

    def holder(self) -> LockHolder | None:
        """The process that holds the lock, if known."""
        return lock_holder(self._fd)

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
        # Closes the file of a thread that has ended, or of a failed open.
        self.close()

    def _open(self) -> int:
        try:
            return os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        except OSError as error:
            remedy = ": use the account of the workers" if isinstance(error, PermissionError) else ""
            raise StoreReadOnly(
                f"cannot open the lock file {self.path}: {error.strerror}; reading the queue needs"
                f" write access to its folder{remedy}"
            ) from None

    def _acquired_after_a_pause(self) -> bool:
        for pause in self._pauses_seconds:
            time.sleep(pause)
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
        return False

    def _queue_up(self, patience_seconds: float) -> None:
        """Wait in the kernel's queue, in a helper thread, because flock itself has no timeout."""
        waiter, self._waiter = self._waiter or _Waiter(self._fd), None
        given = False
        holder: LockHolder | None = None
        try:
            given = waiter.given_within(min(patience_seconds, NAME_HOLDER_SECONDS))
            if not given:
                holder = self.holder()
                if patience_seconds > NAME_HOLDER_SECONDS:
                    log.warning("waiting for %s, held by %s", self.path, holder or "another process")
                    given = waiter.wait(patience_seconds - NAME_HOLDER_SECONDS)
        finally:
            if given:
                self._waiter = waiter
            else:
                # Timed out or interrupted. A lock granted to a closed descriptor is released at once.
                waiter.dismiss()
                os.close(self._fd)
                self._fd = self._open()
        if not given:
            raise StoreBusy(
                f"{self.path} was locked for more than {patience_seconds:g} s by {holder or 'another process'}."
                " Nothing was written"
            )


class _Waiter:
    """A reusable thread that waits in the kernel's queue on behalf of an owner that may give up."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._wanted = threading.Lock()
        self._given = threading.Lock()
        self._dismissed = False
        self._wanted.acquire()
        self._given.acquire()
        threading.Thread(target=self._serve, daemon=True, name="host-lock").start()

    def given_within(self, seconds: float) -> bool:
        """Request the lock; False if it was not granted in time."""
        self._wanted.release()
        return self.wait(seconds)

    def wait(self, seconds: float) -> bool:
        """Wait for the requested lock; False if it was not granted in time."""
        return self._given.acquire(timeout=seconds)

    def dismiss(self) -> None:
        """End the thread; the owner may then close the descriptor."""
        self._dismissed = True
        with contextlib.suppress(RuntimeError):  # already requested
            self._wanted.release()

    def _serve(self) -> None:
        while self._wanted.acquire() and not self._dismissed:
            fcntl.flock(self._fd, fcntl.LOCK_EX)
            self._given.release()


@dataclass(frozen=True, slots=True)
class LockHolder:
    """The process that holds a lock."""

    pid: int
    name: str
    stopped: bool
    """Whether it is suspended by a signal (Ctrl-Z, kill -STOP) or a debugger."""

    def __str__(self) -> str:
        name = f"process {self.pid} ({self.name})" if self.name else f"process {self.pid}"
        if self.stopped:
            return f"{name}, which is stopped: continue it with `kill -CONT {self.pid}`, or end it"
        return name


def lock_holder(fd: int) -> LockHolder | None:
    """The holder of the `flock` on this open file, found in /proc; None if it is free or unknown."""
    try:
        facts = os.fstat(fd)
        lines = (PROC / "locks").read_text().splitlines()
    except OSError:
        return None
    pids = [int(words[4]) for words in map(str.split, lines) if _is_held(words, facts.st_ino)]
    return _described(pids[0]) if pids and pids[0] > 0 else None


def _is_held(words: list[str], inode: int) -> bool:
    """`1: FLOCK ADVISORY WRITE 4711 fe:00:2154999 0 EOF`; a waiting process has `->` in the second place."""
    return len(words) > 5 and words[1] == "FLOCK" and words[5].rpartition(":")[2] == str(inode)


def _described(pid: int) -> LockHolder:
    try:
        name = (PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        # The program's name may contain spaces and brackets: the state follows the last bracket.
        state = (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return LockHolder(pid, "", stopped=False)
    shown = "".join(one if one.isprintable() else "?" for one in name)
    return LockHolder(pid, shown[:LONGEST_NAME], stopped=state in ("T", "t"))
