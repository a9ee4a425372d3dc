"""Wake-ups between the processes of one host: a datagram on a Unix socket after each commit that makes work.

Each listener binds a socket of its own in `<database>.wake/`; whoever commits sends one byte to all of them. A lost
datagram costs a poll interval and nothing else.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import time
from collections.abc import Iterator
from pathlib import Path

SETTLED_NS = 1_000_000_000


class WakeFolder:
    """The folder of sockets beside a database."""

    def __init__(self, database: Path) -> None:
        self.path = database.with_name(database.name + ".wake")
        self._empty_since = -1

    def announce(self) -> None:
        """Send to every listener; remove the sockets of those that died."""
        names = self._listeners()
        if not names:
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender, _short(self.path) as folder:
            sender.setblocking(False)
            for name in names:
                try:
                    sender.sendto(b"!", f"{folder}/{name}")
                except (ConnectionRefusedError, FileNotFoundError):
                    with contextlib.suppress(OSError):
                        (self.path / name).unlink()
                except OSError:
                    # A full buffer: that listener has wake-ups enough.
                    continue

    def _listeners(self) -> list[str]:
        """Asked after every enqueue: a folder that was seen empty, and has not changed since, is not read again."""
        try:
            changed = os.stat(self.path).st_mtime_ns  # noqa: PTH116
            if changed == self._empty_since:
                return []
            names = os.listdir(self.path)  # noqa: PTH208
        except OSError:
            return []
        # Times of files are coarse: an entry made in the same instant would not show as a change.
        if not names and time.time_ns() - changed > SETTLED_NS:
            self._empty_since = changed
        return names

    def listen(self) -> WakeSocket:
        """A socket to wait on."""
        self.make()
        return WakeSocket(self.path)

    def make(self) -> None:
        """Asking a folder that is there costs an enqueue less than finding that it is not."""
        self.path.mkdir(mode=0o777, exist_ok=True)


class WakeSocket:
    """A listener's own socket."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / f"{os.getpid()}-{secrets.token_hex(4)}"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        with _short(folder) as short:
            self._socket.bind(f"{short}/{self._path.name}")

    def fileno(self) -> int:
        return self._socket.fileno()

    def drain(self) -> None:
        """Take every waiting datagram: many announcements are one reason to look."""
        with contextlib.suppress(BlockingIOError):
            while True:
                self._socket.recv(16)

    def close(self) -> None:
        self._socket.close()
        with contextlib.suppress(OSError):
            self._path.unlink()


@contextlib.contextmanager
def _short(folder: Path) -> Iterator[str]:
    """The folder by a path that fits into a socket address (108 bytes), however deep it lies."""
    if len(os.fsencode(folder)) < 70 or not Path("/proc/self/fd").is_dir():
        yield str(folder)
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{handle}"
    finally:
        os.close(handle)
