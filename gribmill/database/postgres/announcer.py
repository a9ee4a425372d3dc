"""Wakes listening workers with NOTIFY after a commit that created work, at a limited rate."""

from __future__ import annotations

import contextlib
import os
import threading
import time

import psycopg

from gribmill.database.postgres.connection import Connection, connect, is_pooled

CHANNEL = "gribmill"
# Each notification costs the server a lock that all commits share, and work for every listener.
EVERY_SECONDS = 0.05
TRY_AGAIN_SECONDS = 5.0


class Announcer:
    """One connection per process, used only for notifications. A lost notification costs one poll interval."""

    def __init__(self, dsn: str, lease_seconds: float) -> None:
        self._dsn = dsn
        self._lease_seconds = lease_seconds
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._pid = os.getpid()
        self._next = 0.0
        self._late: threading.Timer | None = None

    def announce(self) -> None:
        with self._lock:
            self._after_fork()
            wait = self._next - time.monotonic()
            if wait <= 0:
                self._send()
            elif self._late is None:
                # The last notification of a burst must not be lost, so it is sent when the interval ends.
                self._late = threading.Timer(wait, self._send_late)
                self._late.daemon = True
                self._late.start()

    def close(self) -> None:
        with self._lock:
            self._after_fork()
            if self._late is not None:
                self._late.cancel()
                self._late = None
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _send_late(self) -> None:
        with self._lock:
            self._late = None
            self._send()

    def _send(self) -> None:
        self._next = time.monotonic() + EVERY_SECONDS
        try:
            if self._connection is None or self._connection.closed:
                self._connection = connect(self._dsn, self._lease_seconds)
                self._connection.execute("SET synchronous_commit = off")
            self._connection.execute(f"NOTIFY {CHANNEL}")
        except psycopg.Error:
            # The work is already committed; listeners find it when they poll.
            with contextlib.suppress(psycopg.Error):
                if self._connection is not None:
                    self._connection.close()
            self._connection = None
            self._next = time.monotonic() + TRY_AGAIN_SECONDS

    def _after_fork(self) -> None:
        if self._pid != os.getpid():
            self._pid, self._connection, self._late = os.getpid(), None, None


def can_listen(connection: Connection) -> bool:
    """Whether LISTEN works: behind a pooler, notifications would not reach this connection."""
    return not is_pooled(connection)
