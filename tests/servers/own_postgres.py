"""A PostgreSQL server that a test may stop, crash and fill."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.servers.postgres import NoServer, PostgresServer, make_home
from tests.servers.required import unavailable
from tests.servers.this_run import RUN_PID


@contextmanager
def own_postgres(home: Path | None = None, settings: Mapping[str, str] = {}) -> Iterator[PostgresServer]:
    """A running server whose commits wait for the disk, as in production."""
    place = home or make_home(RUN_PID)
    try:
        server = PostgresServer(place, settings={"synchronous_commit": "on", **settings})
        server.create()
        server.start()
    except NoServer as error:
        shutil.rmtree(place, ignore_errors=True)
        unavailable(str(error))
    try:
        yield server
    finally:
        end_server(server)


def end_server(server: PostgresServer) -> None:
    if server.running:
        server.stop("immediate")
    shutil.rmtree(server.home, ignore_errors=True)
