"""One connection of gribmill to a database: `silent_session URL LEASE_SECONDS asks|waits|holds`.

It reports when it is connected and when the connection is lost. It polls, waits for one response, or holds a
lock and does nothing.
"""

from __future__ import annotations

import signal
import sys
import threading

import psycopg

from gribmill.database.postgres.connection import Connection, connect

LOCK = "7218, 1"
CONNECTED, LOST = "connected", "lost"


def ask(connection: Connection) -> None:
    pause = threading.Event()
    while True:
        connection.execute("SELECT 1")
        pause.wait(0.05)


def wait(connection: Connection) -> None:
    connection.execute("SELECT pg_sleep(100)")


def hold(_: Connection) -> None:
    signal.pause()


ACTS = {"asks": ask, "waits": wait, "holds": hold}


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def main(url: str, lease_seconds: str, act: str) -> None:
    connection = connect(url, float(lease_seconds))
    if act == "holds":
        # Only the silence of its host may end this session.
        connection.execute("SET idle_in_transaction_session_timeout = 0")
        connection.execute("BEGIN")
        connection.execute(f"SELECT pg_advisory_xact_lock({LOCK})".encode())
    say(CONNECTED)
    try:
        ACTS[act](connection)
    except psycopg.OperationalError:
        say(LOST)


if __name__ == "__main__":
    main(*sys.argv[1:])
