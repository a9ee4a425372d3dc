"""pgqueuer on asyncpg: dequeue and log, as its queue manager calls them. Finished jobs move to another table."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta

import asyncpg
from pgqueuer.models import Job
from pgqueuer.ports.repository import EntrypointExecutionParameter
from pgqueuer.queries import Queries

from benchmarks.queue.drivers.postgres.driver import main

HEARTBEAT_TIMEOUT = timedelta(seconds=60)
FINISHED = """
INSERT INTO pgqueuer_log (job_id, status, priority, entrypoint, aggregated)
SELECT n, 'successful', 0, 'echo', true FROM generate_series(1, %d) n
"""


class PgqueuerDriver:
    def __init__(self, url: str) -> None:
        self.url = url
        self.loop = asyncio.new_event_loop()
        self.manager = uuid.uuid4()

    def create(self, finished: int) -> None:
        async def install() -> None:
            connection = await asyncpg.connect(self.url)
            await Queries.from_asyncpg_connection(connection).install()
            if finished:
                await connection.execute(FINISHED % finished)
            await connection.execute("VACUUM ANALYZE")
            await connection.close()

        self.loop.run_until_complete(install())

    def pending(self, count: int, batch: int) -> None:
        name = _entrypoint(batch)

        async def put() -> None:
            connection = await asyncpg.connect(self.url)
            there = await connection.fetchval(
                "SELECT count(*) FROM pgqueuer WHERE status = 'queued' AND entrypoint = $1", name
            )
            queries = Queries.from_asyncpg_connection(connection)
            for at in range(0, count - there, 1000):
                more = min(1000, count - there - at)
                await queries.enqueue([name] * more, [b'{"n": 1}'] * more, [0] * more)
            await connection.execute("ANALYZE")
            await connection.close()

        self.loop.run_until_complete(put())

    def add(self, count: int) -> None:
        queries = self._queries()

        async def add() -> None:
            for n in range(count):
                await queries.enqueue("echo", b'{"n": %d}' % n)

        self.loop.run_until_complete(add())

    def work(self, batch: int) -> Iterator[int]:
        queries = self._queries()

        async def turn() -> int:
            jobs = await self._dequeue(queries, batch)
            if jobs:
                await queries.log_jobs([(job, "successful", None) for job in jobs])
            return len(jobs)

        while jobs := self.loop.run_until_complete(turn()):
            yield jobs

    def claim(self) -> Callable[[], None]:
        queries = self._queries()

        def take() -> None:
            self.loop.run_until_complete(self._dequeue(queries, 1))

        return take

    async def _dequeue(self, queries: Queries, batch: int) -> list[Job]:
        found: list[Job] = await queries.dequeue(
            batch_size=batch,
            entrypoints={_entrypoint(batch): EntrypointExecutionParameter(concurrency_limit=0)},
            queue_manager_id=self.manager,
            global_concurrency_limit=None,
            heartbeat_timeout=HEARTBEAT_TIMEOUT,
        )
        return found

    def _queries(self) -> Queries:
        if not hasattr(self, "_opened"):
            self._opened = Queries.from_asyncpg_connection(self.loop.run_until_complete(asyncpg.connect(self.url)))
        return self._opened


def _entrypoint(batch: int) -> str:
    return "echo" if batch == 1 else "twelve"


if __name__ == "__main__":
    main(PgqueuerDriver)
