"""Wake-ups between the processes of one host: a datagram on a Unix socket after each commit that makes work.

Each listener binds its own socket in `<database>.wake/`; a process that commits sends one byte to all of them.
A lost datagram costs a poll interval and nothing else.

The file `joined` in that folder holds a few bytes that every new listener replaces. A process that
commits has them mapped into its memory, and sees without a system call whether a listener has joined since it last read
the folder. Removing the folder under running processes costs them wake-ups, and nothing else.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path

from gribmill.database.sqlite.private_files import FILE_MODE, FOLDER_MODE

JOINED = "joined"
JOINED_BYTES = 16


class WakeFolder:
    """The folder of sockets beside a database."""

    def __init__(self, database: Path) -> None:
        self.path = database.with_name(database.name + ".wake")
        self._joined: mmap.mmap | None = None
        self._known: tuple[bytes, list[str]] = (b"", [])
        """What `joined` held before the folder was read, and the names that were there."""

    def announce(self) -> None:
        """Send to every listener; remove the sockets of those that died."""
        names = self._listeners()
        if not names:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender, _short(self.path) as folder:
                sender.setblocking(False)
                for name in names:
                    self._send(sender, folder, name)
        except OSError:  # the folder is gone, or there are no sockets left: listeners poll
            self._forget()

    def _send(self, sender: socket.socket, folder: str, name: str) -> None:
        try:
            sender.sendto(b"!", f"{folder}/{name}")
        except (ConnectionRefusedError, FileNotFoundError):
            self._forget()
            with contextlib.suppress(OSError):
                (self.path / name).unlink()
        except OSError:
            # A full buffer: that listener has wake-ups enough.
            return

    def _forget(self) -> None:
        """Read the folder and map the file again next time: it may be another one."""
        self._joined, self._known = None, (b"", [])

    def listen(self) -> WakeSocket:
        """A socket to wait on. A process that looks for work after this misses none."""
        self.path.mkdir(mode=FOLDER_MODE, exist_ok=True)
        listener = WakeSocket(self.path)
        # By a write, not through the map: a disk that is full is then an error, and no signal.
        with contextlib.suppress(OSError):  # no one learns of it: it is left with polling
            fd = os.open(self.path / JOINED, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
            try:
                os.pwrite(fd, secrets.token_bytes(JOINED_BYTES), 0)
            finally:
                os.close(fd)
        return listener

    def _listeners(self) -> list[str]:
        """Asked after every enqueue: the folder is read again only when a listener has joined since."""
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
            if os.fstat(fd).st_size < JOINED_BYTES:  # reading beyond a file's end through a map is a signal
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
    """The folder by a path that fits into a socket address (108 bytes), however deep it is."""
    if len(os.fsencode(folder)) < 70 or not Path("/proc/self/fd").is_dir():
        yield str(folder)
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{handle}"
    finally:
        os.close(handle)
