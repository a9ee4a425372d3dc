"""Sends statements of a transaction together, without disabling the server's idle-in-transaction timeout."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg.abc import PQGen

from gribmill.database.postgres.connection import Connection


class _SyncedPipeline(psycopg.Pipeline):
    """Ends with a Sync message and no Flush.

    psycopg's own pipeline sends a Flush after the Sync. The server stops the timer at every message and restarts it
    only after a Sync, so after a Flush a vanished client would keep its locks until TCP times out.
    """

    def _exit_gen(self) -> PQGen[None]:
        try:
            self._enqueue_sync()
            yield from self._communicate_gen()
        finally:
            yield from self._fetch_gen(flush=False)


@contextmanager
def batch(connection: Connection) -> Iterator[None]:
    """Statements executed in this context are sent together; their results can be read after it."""
    connection._pipeline = _SyncedPipeline(connection)
    with connection.pipeline():
        yield
