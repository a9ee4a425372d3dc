"""The PostgreSQL server of a test process, and a fresh database for each test."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg

from tests.servers.postgres import HOME_PREFIX, NoServer, PostgresServer, find_programs, make_home
from tests.servers.required import unavailable
from tests.servers.this_run import GIVEN_POSTGRES, POSTGRES_PID, RUN_PID
from tests.waiting import wait_until

PATIENCE_SECONDS = 120.0
LOOK_AGAIN_SECONDS = 0.02
ROOT = Path(__file__).resolve().parents[2]


def postgres_url() -> str:
    """The URL of a database whose user may create others; skips the test if there is no server."""
    try:
        return _server_url()
    except NoServer as error:
        unavailable(str(error))


@contextmanager
def fresh_database(template: str, prepare: Callable[[str], None]) -> Iterator[str]:
    """The URL of a database that only this test has: a copy of the named template, which `prepare` fills once."""
    server = postgres_url()
    name = f"test_{secrets.token_hex(6)}"
    source = _template(server, template, prepare)
    with _administrator(server) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {source} STRATEGY file_copy")
    try:
        yield with_database(server, name)
    finally:
        with _administrator(server) as connection:
            wait_until(lambda: _dropped(connection, name), what=f"the sessions of {name} to end")


def _dropped(connection: psycopg.Connection, name: str) -> bool:
    """The server itself gives its sessions five seconds to end."""
    with suppress(psycopg.errors.ObjectInUse):
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
        return True
    return False


def with_database(url: str, name: str) -> str:
    """The URL of another database of the same server."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def same_database(server: str, url: str) -> str:
    """The URL of the database of `url` at another address."""
    return urlunsplit(urlsplit(server)._replace(path=urlsplit(url).path))


def drop_templates() -> None:
    """Drop the templates at the end of the run, so that an external server keeps none."""
    if GIVEN_POSTGRES is None:
        return
    with _administrator(GIVEN_POSTGRES) as connection:
        for (name,) in connection.execute(
            "SELECT datname FROM pg_database WHERE datname LIKE %s", (f"template\\_%\\_{RUN_PID}",)
        ).fetchall():
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _administrator(server: str) -> psycopg.Connection:
    return psycopg.connect(server, autocommit=True)


@cache
def _server_url() -> str:
    if GIVEN_POSTGRES is not None:
        return GIVEN_POSTGRES
    find_programs()  # or NoServer
    with _locked() as note:
        home = Path(note.read_text()) if note.stat().st_size else _start(note)
        return _wait_until_ready(home)


@contextmanager
def _locked() -> Iterator[Path]:
    """One process of the test run at a time."""
    note = Path(tempfile.gettempdir()) / f"gribmill-tests-{os.getuid()}-{POSTGRES_PID}"
    fd = os.open(note, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield note
    finally:
        os.close(fd)


def _start(note: Path) -> Path:
    _remove_leftovers()
    home = make_home(POSTGRES_PID)
    note.write_text(str(home))
    with (home / "runner.log").open("wb") as log:
        subprocess.Popen(
            [sys.executable, "-m", "tests.servers.run_postgres", home, POSTGRES_PID, note],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    return home


def _wait_until_ready(home: Path) -> str:
    url = PostgresServer.url_of(home)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if (home / "failed").exists():
            raise NoServer(f"no PostgreSQL: {(home / 'failed').read_text()}")
        if (home / "started").exists():
            with suppress(psycopg.OperationalError):  # not yet
                psycopg.connect(url).close()
                return url
        time.sleep(LOOK_AGAIN_SECONDS)
    log = (home / "runner.log").read_text(errors="replace")
    raise NoServer(f"no PostgreSQL: the server was not ready within {PATIENCE_SECONDS:g} s. {log[-1000:]}")


def _remove_leftovers() -> None:
    """Remove folders of killed runs, whose servers have ended with them."""
    for parent in {Path("/dev/shm"), Path(tempfile.gettempdir())}:
        for home in parent.glob(f"{HOME_PREFIX}*"):
            pid = home.name.removeprefix(HOME_PREFIX).split("-")[0]
            if pid.isdecimal() and not Path(f"/proc/{pid}").exists() and home.stat().st_uid in (os.getuid(), 65534):
                shutil.rmtree(home, ignore_errors=True)


@cache
def _template(server: str, name: str, prepare: Callable[[str], None]) -> str:
    """The database to copy, created by the first process that needs it."""
    database = f"template_{name}_{RUN_PID}"
    with _locked(), _administrator(server) as connection:
        known = connection.execute("SELECT datallowconn FROM pg_database WHERE datname = %s", (database,)).fetchone()
        if known is None or known[0]:
            connection.execute(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")
            connection.execute(f"CREATE DATABASE {database}")
            prepare(with_database(server, database))
            connection.execute(f"ALTER DATABASE {database} ALLOW_CONNECTIONS false")  # whole, and stays as it is
    return database
