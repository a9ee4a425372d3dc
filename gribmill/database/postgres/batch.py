"""Statements that are sent together within a transaction, without stopping the server's timer for idle transactions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg.abc import PQGen

from gribmill.database.postgres.connection import Connection


class _SyncedPipeline(psycopg.Pipeline):
    """Ends with a Sync message alone.

    psycopg's own pipeline sends a Flush after the Sync. The server stops its timer at every message and starts it
    again only after a Sync: with the Flush, a client that vanished would keep its locks for as long as TCP allows.
    """

    def _exit_gen(self) -> PQGen[None]:
        try:
            self._enqueue_sync()
            yield from self._communicate_gen()
        finally:
            yield from self._fetch_gen(flush=False)


@contextmanager
def batch(connection: Connection) -> Iterator[None]:
    """What is executed within is sent together; results can be read afterwards."""
    connection._pipeline = _SyncedPipeline(connection)
    with connection.pipeline():
        yield
