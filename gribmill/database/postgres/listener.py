"""Wake-ups from other hosts: a thread listens for notifications and makes a local socket readable."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading

import psycopg

from gribmill.database.postgres.announcer import CHANNEL, can_listen
from gribmill.database.postgres.connection import connect

log = logging.getLogger("gribmill.queue")

LOOK_SECONDS = 1.0
TRY_AGAIN_SECONDS = 2.0


class NotificationListener:
    """One per supervisor. Its file descriptor stays the same however often the connection is lost."""

    def __init__(self, dsn: str, name: str) -> None:
        self._dsn = dsn
        self._name = name
        self._ours, self._theirs = socket.socketpair()
        self._ours.setblocking(False)
        self._theirs.setblocking(False)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="gribmill-listener", daemon=True)
        self._thread.start()

    def fileno(self) -> int:
        return self._ours.fileno()

    def drain(self) -> None:
        """Take every waiting byte: many notifications are one reason to look."""
        with contextlib.suppress(BlockingIOError):
            while self._ours.recv(4096):
                pass

    def close(self) -> None:
        self._ended.set()
        self._thread.join(LOOK_SECONDS * 2)
        self._ours.close()
        self._theirs.close()

    def _listen(self) -> None:
        while not self._ended.is_set():
            try:
                with connect(self._dsn) as connection:
                    if not can_listen(connection):
                        log.info("%s is behind a pooler: workers poll", self._name)
                        return
                    connection.execute(f"LISTEN {CHANNEL}")
                    self._wake()  # what was announced before counts as well
                    while not self._ended.is_set():
                        for _ in connection.notifies(timeout=LOOK_SECONDS, stop_after=1):
                            self._wake()
            except psycopg.Error:
                # The worker's own connection reports what is wrong; until it is over, this one tries again.
                self._ended.wait(TRY_AGAIN_SECONDS)

    def _wake(self) -> None:
        with contextlib.suppress(OSError):  # full: there are wake-ups enough
            self._theirs.send(b"!")
