"""Wake-ups from other hosts: a thread waits for notifications and makes a local socket readable."""

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
    """One per supervisor. Its file descriptor stays the same when the connection is reopened."""

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
        """Read all waiting bytes: many notifications count as one."""
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
                    self._wake()  # there may have been notifications before LISTEN
                    while not self._ended.is_set():
                        for _ in connection.notifies(timeout=LOOK_SECONDS, stop_after=1):
                            self._wake()
            except psycopg.Error:
                # The worker's own connection reports the problem; this one just retries.
                self._ended.wait(TRY_AGAIN_SECONDS)

    def _wake(self) -> None:
        with contextlib.suppress(OSError):  # the buffer is full: a wake-up is pending anyway
            self._theirs.send(b"!")
