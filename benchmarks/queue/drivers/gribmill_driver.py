"""gribmill: leases, fence, attempts, dedupe and counters included."""

from __future__ import annotations

from pathlib import Path

from benchmarks.queue.drivers.driver import main
from gribmill.database.sqlite import SqliteDatabase
from gribmill.queue.arguments import Args
from gribmill.queue.job_type import JobType, Registry
from gribmill.queue.model import ClaimRequest, NewJob, Report, Succeeded
from gribmill.queue.store import Store
from gribmill.queue.store.workers import new_worker_id


class EchoArgs(Args):
    """A number."""

    n: int


ECHO = JobType("echo", "Does nothing.", EchoArgs, "fetch", "no:handler")
TWELVE = JobType(
    "twelve", "Twelve share a group.", EchoArgs, "build", "no:handler", batch_max=12, group_by=lambda a: str(a.n // 12)
)


class GribmillDriver:
    def __init__(self, path: str, durability: str) -> None:
        database = SqliteDatabase(Path(path), synchronous="full" if durability == "full" else "normal")
        self.store = Store(database, Registry(ECHO, TWELVE))
        self.worker_id = new_worker_id()

    def put(self, n: int) -> None:
        self.store.jobs.enqueue(NewJob("echo", {"n": n}))

    def put_many(self, count: int, batch: int) -> None:
        self.store.jobs.enqueue_many(NewJob(_kind(batch), {"n": n}) for n in range(count))

    def work(self, batch: int, most: int | None = None) -> int:
        request = ClaimRequest(self.worker_id, (_kind(batch),), 60.0, batch_limit=batch)
        jobs = self.store.claim(request)
        done = 0
        while jobs:
            reports = [Report(job.ref, Succeeded()) for job in jobs]
            goes_on = most is None or done + len(jobs) < most
            exchange = self.store.exchange(self.worker_id, reports, [request] if goes_on else [])
            done += len(exchange.accepted)
            jobs = exchange.batches[0] if goes_on else ()
        return done

    def claim(self) -> None:
        self.store.claim(ClaimRequest(self.worker_id, ("echo",), 60.0, batch_limit=1))

    def finished_rows(self, count: int) -> bool:
        handle = self.store.database._handle()  # type: ignore[attr-defined]
        handle.connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
            " INSERT INTO jobs (type, args, status, completed_at) SELECT 'echo', '{}', 'completed',"
            " strftime('%Y-%m-%d %H:%M:%f','now') FROM n WHERE ? > 0",
            (count, count),
        )
        return True


def _kind(batch: int) -> str:
    return "echo" if batch == 1 else "twelve"


if __name__ == "__main__":
    main(GribmillDriver)
