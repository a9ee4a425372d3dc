"""Rate limits towards publishers: kept in files for one machine, in the database for several."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import NamedTuple

from gribmill.database.protocol import Database
from gribmill.ingest.http.rate_limit import RateLimit, SharedRateLimit, TurnsTaken
from gribmill.pipeline.open_queue import open_database
from gribmill.queue.errors import QueueError
from gribmill.settings.schema import Settings
from gribmill.storage.layout import DataRoot

# The delay after the database could not be reached.
RETRY_SECONDS = 5.0


class _Seconds(NamedTuple):
    seconds: float


class DatabaseTurns:
    """Turns from the database. One thread asks for all threads of the process, on one connection."""

    def __init__(self, open_it: Callable[[], Database]) -> None:
        self._open = open_it

    @cached_property
    def _database(self) -> Database:
        return self._open()

    @cached_property
    def _thread(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(1, thread_name_prefix="turns")

    def take(self, host: str, count: int, interval: float, late: float, longest_wait: float) -> TurnsTaken:
        asked = {"host": host, "count": count, "interval": interval, "late": late, "longest_wait": longest_wait}
        try:
            return self._thread.submit(self._take, asked).result()
        except QueueError as error:
            reason = f"the rate limit of {host} is kept in the database, which cannot be used: {error}"
            return TurnsTaken(RETRY_SECONDS, granted=False, reason=reason)

    def _take(self, asked: dict[str, object]) -> TurnsTaken:
        with self._database.write() as tx:
            tx.lasting = False  # after a power cut of the server, no requests were sent for a while
            taken = tx.first(_Seconds, "publishers/reserve_turns", asked)
            if taken is not None:
                return TurnsTaken(taken.seconds, granted=True)
            later = tx.first(_Seconds, "publishers/next_turn", {"host": asked["host"]})
        return TurnsTaken(later.seconds if later else RETRY_SECONDS, granted=False)


def rate_limit(settings: Settings, database: Callable[[], Database] | None = None) -> RateLimit:
    """The rate limit of all processes that share the data root; with PostgreSQL, of all hosts that share the
    database."""
    folder = DataRoot(settings.data_root).rates
    if settings.database is None:
        return RateLimit(folder)
    return SharedRateLimit(folder, DatabaseTurns(database or (lambda: open_database(settings))))
