"""Wake-ups between hosts: NOTIFY after a commit that created work, at a limited rate, and LISTEN in workers."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import threading
import time

import psycopg

from gribmill.database.postgres.connection import Connection, connect, is_pooled

log = logging.getLogger("gribmill.queue")

CHANNEL = "gribmill"
# Each notification costs the server a lock that all commits share, and work for every listener.
EVERY_SECONDS = 0.05
ANNOUNCE_AGAIN_SECONDS = 5.0
LISTEN_AGAIN_SECONDS = 2.0
LOOK_SECONDS = 1.0


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
            self._next = time.monotonic() + ANNOUNCE_AGAIN_SECONDS

    def _after_fork(self) -> None:
        if self._pid != os.getpid():
            self._pid, self._connection, self._late = os.getpid(), None, None


class NotificationListener:
    """One per supervisor: a thread waits for notifications and makes a local socket readable.

    Its file descriptor stays the same when the connection is reopened.
    """

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
                    if is_pooled(connection):  # notifications would not reach this connection
                        log.info("%s is behind a pooler: workers poll", self._name)
                        return
                    connection.execute(f"LISTEN {CHANNEL}")
                    self._wake()  # there may have been notifications before LISTEN
                    while not self._ended.is_set():
                        for _ in connection.notifies(timeout=LOOK_SECONDS, stop_after=1):
                            self._wake()
            except psycopg.Error:
                # The worker's own connection reports the problem; this one just retries.
                self._ended.wait(LISTEN_AGAIN_SECONDS)

    def _wake(self) -> None:
        with contextlib.suppress(OSError):  # the buffer is full: a wake-up is pending anyway
            self._theirs.send(b"!")
