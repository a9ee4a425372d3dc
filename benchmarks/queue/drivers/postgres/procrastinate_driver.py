"""procrastinate: a worker's own fetch and finish, through its job manager. It has no batches: each job is fetched."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import psycopg
from procrastinate import App, PsycopgConnector
from procrastinate.jobs import Status

from benchmarks.queue.drivers.postgres.driver import main

FINISHED = """
ALTER TABLE procrastinate_jobs DISABLE TRIGGER USER;
INSERT INTO procrastinate_jobs (queue_name, task_name, args, status, attempts)
SELECT 'echo', 'echo', '{"n": 1}', 'succeeded', 1 FROM generate_series(1, %d);
INSERT INTO procrastinate_events (job_id, type)
SELECT id, e::procrastinate_job_event_type FROM procrastinate_jobs, unnest(ARRAY['deferred', 'started', 'succeeded']) e;
ALTER TABLE procrastinate_jobs ENABLE TRIGGER USER;
"""


class ProcrastinateDriver:
    def __init__(self, url: str) -> None:
        self.url = url
        self.loop = asyncio.new_event_loop()

    def create(self, finished: int) -> None:
        async def apply() -> None:
            async with self._app().open_async() as app:
                await app.schema_manager.apply_schema_async()

        self.loop.run_until_complete(apply())
        with psycopg.connect(self.url, autocommit=True) as connection:
            if finished:
                connection.execute((FINISHED % finished).encode())
            connection.execute("VACUUM ANALYZE")

    def pending(self, count: int, batch: int) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(
                "INSERT INTO procrastinate_jobs (queue_name, task_name, args) SELECT 'echo', 'echo', '{\"n\": 1}'"
                " FROM generate_series(1, %s - (SELECT count(*) FROM procrastinate_jobs WHERE status = 'todo'))",
                (count,),
            )
            connection.execute("ANALYZE")

    def add(self, count: int) -> None:
        if not hasattr(self, "_adding"):
            self._adding = self._app()
            self.loop.run_until_complete(self._adding.connector.open_async())
        echo = self._adding.configure_task("echo", queue="echo")

        async def add() -> None:
            for n in range(count):
                await echo.defer_async(n=n)

        self.loop.run_until_complete(add())

    def work(self, batch: int) -> Iterator[int]:
        app = self._app()
        self.loop.run_until_complete(app.connector.open_async())
        manager = app.job_manager
        worker_id = self.loop.run_until_complete(manager.register_worker())

        async def one() -> bool:
            job = await manager.fetch_job(["echo"], worker_id)
            if job is not None:
                await manager.finish_job(job, Status.SUCCEEDED, delete_job=False)
            return job is not None

        while self.loop.run_until_complete(one()):
            yield 1

    def claim(self) -> Callable[[], None]:
        app = self._app()
        self.loop.run_until_complete(app.connector.open_async())
        worker_id = self.loop.run_until_complete(app.job_manager.register_worker())

        def take() -> None:
            self.loop.run_until_complete(app.job_manager.fetch_job(["echo"], worker_id))

        return take

    def _app(self) -> App:
        return App(connector=PsycopgConnector(conninfo=self.url, min_size=1, max_size=1))


if __name__ == "__main__":
    main(ProcrastinateDriver)
