"""Wake-ups between the processes of one host: a datagram on a Unix socket after each commit that creates work.

Each listener binds its own socket in `<database>.wake/`; a process that commits sends one byte to each of them.
A lost datagram only delays work by a poll interval.

The file `joined` in that folder holds a few bytes that every new listener replaces. Committing processes map it into
memory, and so see without a system call whether a listener has joined since they last read the folder. Removing the
folder while processes run only costs them wake-ups.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path

from gribmill.database.sqlite.files import FILE_MODE, FOLDER_MODE

JOINED = "joined"
JOINED_BYTES = 16


class WakeFolder:
    """The folder of sockets next to a database."""

    def __init__(self, database: Path) -> None:
        self.path = database.with_name(database.name + ".wake")
        self._joined: mmap.mmap | None = None
        self._known: tuple[bytes, list[str]] = (b"", [])
        """The content of `joined` before the folder was read, and the names found in it."""

    def announce(self) -> None:
        """Wake every listener, and remove sockets of dead ones."""
        names = self._listeners()
        if not names:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender, _short(self.path) as folder:
                sender.setblocking(False)
                for name in names:
                    self._send(sender, folder, name)
        except OSError:  # the folder is gone or sockets are unavailable: listeners poll
            self._forget()

    def _send(self, sender: socket.socket, folder: str, name: str) -> None:
        try:
            sender.sendto(b"!", f"{folder}/{name}")
        except (ConnectionRefusedError, FileNotFoundError):
            self._forget()
            with contextlib.suppress(OSError):
                (self.path / name).unlink()
        except OSError:
            # The buffer is full: that listener has pending wake-ups anyway.
            return

    def _forget(self) -> None:
        """Read the folder and map the file again next time, because it may have been replaced."""
        self._joined, self._known = None, (b"", [])

    def listen(self) -> WakeSocket:
        """Create a socket to wait on. To miss no work, check for it after this call."""
        self.path.mkdir(mode=FOLDER_MODE, exist_ok=True)
        listener = WakeSocket(self.path)
        # A write instead of the memory map: a full disk then raises an error rather than a signal.
        with contextlib.suppress(OSError):  # no process will notice this listener, so it has to poll
            fd = os.open(self.path / JOINED, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
            try:
                os.pwrite(fd, secrets.token_bytes(JOINED_BYTES), 0)
            finally:
                os.close(fd)
        return listener

    def _listeners(self) -> list[str]:
        """The sockets of all listeners. Runs after every enqueue, so it reads the folder only if one has joined."""
        try:
            joined, known = (self._joined or self._map())[:], self._known
            if joined != known[0]:
                names = os.listdir(self.path)  # noqa: PTH208
                known = self._known = (joined, [name for name in names if name != JOINED])
        except OSError:
            return []
        return known[1]

    def _map(self) -> mmap.mmap:
        self.path.mkdir(mode=FOLDER_MODE, exist_ok=True)
        fd = os.open(self.path / JOINED, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        try:
            if os.fstat(fd).st_size < JOINED_BYTES:  # reading past the end of a mapped file raises a signal
                os.pwrite(fd, bytes(JOINED_BYTES), 0)
            self._joined = mmap.mmap(fd, JOINED_BYTES, access=mmap.ACCESS_READ)
        finally:
            os.close(fd)
        return self._joined


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
        """Read all waiting datagrams: many announcements count as one."""
        with contextlib.suppress(BlockingIOError):
            while True:
                self._socket.recv(16)

    def close(self) -> None:
        self._socket.close()
        with contextlib.suppress(OSError):
            self._path.unlink()


@contextlib.contextmanager
def _short(folder: Path) -> Iterator[str]:
    """A path to the folder that fits into a socket address (108 bytes)."""
    if len(os.fsencode(folder)) < 70 or not Path("/proc/self/fd").is_dir():
        yield str(folder)
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{handle}"
    finally:
        os.close(handle)
