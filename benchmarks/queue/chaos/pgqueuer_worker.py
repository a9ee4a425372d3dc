"""A pgqueuer worker that picks two jobs at a time: `add URL FILE COUNT`, `work URL FILE`."""

from __future__ import annotations

import asyncio
import sys
import uuid
from datetime import timedelta

import asyncpg
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries

from benchmarks.queue.chaos.executions import JOB_SECONDS, TIMEOUT_SECONDS, write


async def add(url: str, count: int) -> None:
    connection = await asyncpg.connect(url)
    queries = Queries.from_asyncpg_connection(connection)
    await queries.install()
    await queries.enqueue(["mark"] * count, [b"%d" % n for n in range(count)], [0] * count)
    await connection.close()


async def work(url: str, file: str) -> None:
    queuer = PgQueuer(AsyncpgDriver(await asyncpg.connect(url)))

    @queuer.entrypoint("mark")  # type: ignore[untyped-decorator]
    async def mark(job: Job) -> None:
        token, n = uuid.uuid4().hex, int(job.payload or b"0")
        write(file, token, n, "began")
        await asyncio.sleep(JOB_SECONDS)
        write(file, token, n, "ended")

    await queuer.qm.run(
        batch_size=1,
        max_concurrent_tasks=2,
        dequeue_timeout=timedelta(seconds=1),
        heartbeat_timeout=timedelta(seconds=TIMEOUT_SECONDS),
    )


if __name__ == "__main__":
    command, where, lines = sys.argv[1:4]
    asyncio.run(work(where, lines) if command == "work" else add(where, int(sys.argv[4])))
