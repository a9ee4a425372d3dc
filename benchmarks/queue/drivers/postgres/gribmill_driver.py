"""gribmill: leases, fence, attempts, tenants, dedupe and counters included; reports and claims by `store.exchange`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import psycopg

from benchmarks.queue.drivers.gribmill_driver import ECHO, TWELVE
from benchmarks.queue.drivers.postgres.driver import main
from gribmill.database.postgres import PostgresDatabase
from gribmill.queue.job_type import Registry
from gribmill.queue.model import ClaimRequest, NewJob, Report, Succeeded
from gribmill.queue.store import Store
from gribmill.queue.store.workers import new_worker_id

TYPES = Registry(ECHO, TWELVE)
TENANTS = 100
# Spread over thirty days and a hundred tenants; the jobs of one of them are a job group. Every job has its attempt.
# Without triggers, which would count each row: the counts are written at the end.
FINISHED = """
SET session_replication_role = replica;
INSERT INTO tenants (name) SELECT 't' || lpad(n::text, 3, '0') FROM generate_series(0, {tenants} - 1) n;
INSERT INTO job_groups (name, tenant_id) VALUES ('bench', 't001');
INSERT INTO jobs (type, args, status, tenant_id, group_key, group_id, attempt_no, batch_id, created_at, started_at,
                  completed_at)
SELECT 'echo', '{{"n": 1}}', 'completed', 't' || lpad((n % {tenants})::text, 3, '0'),
  'hour/' || lpad((n % 1000)::text, 3, '0'), CASE WHEN n % {tenants} = 1 THEN 1 END, 1, n, t, t, t
FROM generate_series(1, {rows}) n, LATERAL (SELECT now() - (({rows} - n) * 2592000.0 / {rows}) * interval '1 s') m(t);
INSERT INTO job_attempts (job_id, attempt_no, worker_id, started_at, finished_at, status, exit_code)
SELECT id, 1, 'w', started_at, completed_at, 'succeeded', 0 FROM jobs;
INSERT INTO job_counts (tenant_id, type, status, n)
SELECT tenant_id, type, status, count(*) FROM jobs GROUP BY tenant_id, type, status;
"""


class GribmillDriver:
    def __init__(self, url: str) -> None:
        self.url = url

    def create(self, finished: int) -> None:
        store = Store(PostgresDatabase(self.url), TYPES)
        store.close()
        with psycopg.connect(self.url, autocommit=True) as connection:
            if finished:
                connection.execute(FINISHED.format(rows=finished, tenants=TENANTS).encode())
            connection.execute("VACUUM ANALYZE")

    def pending(self, count: int, batch: int) -> None:
        """As `enqueue` writes single jobs, without a correlation id; a batch has the one of the job that it follows."""
        kind, group = ("echo", None) if batch == 1 else ("twelve", batch)
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(
                "INSERT INTO jobs (type, args, group_key, correlation_id)"
                " SELECT %s, '{\"n\": 1}', %s::text || '/' || (m.last + n) / %s, %s::text || (m.last + n) / %s"
                " FROM generate_series(1, %s - (SELECT count(*) FROM jobs WHERE type = %s AND status = 'pending')) n,"
                " (SELECT coalesce(max(id), 0) FROM jobs) m(last)",
                (kind, kind if group else None, batch, "job-" if group else None, batch, count, kind),
            )
            connection.execute("ANALYZE")

    def add(self, count: int) -> None:
        store = self._store()
        for n in range(count):
            store.jobs.enqueue(NewJob("echo", {"n": n}))

    def work(self, batch: int) -> Iterator[int]:
        store, worker_id = self._store(), new_worker_id()
        request = ClaimRequest(worker_id, ("echo" if batch == 1 else "twelve",), 60.0, os.getpid(), batch_limit=batch)
        jobs = store.claim(request)
        while jobs:
            done = store.exchange(worker_id, [Report(job.ref, Succeeded()) for job in jobs], [request])
            yield len(done.accepted)
            jobs = done.batches[0]

    def claim(self) -> Callable[[], None]:
        store = self._store()
        request = ClaimRequest(new_worker_id(), ("echo",), 60.0, os.getpid(), batch_limit=1)

        def take() -> None:
            store.claim(request)

        return take

    def _store(self) -> Store:
        if not hasattr(self, "_opened"):
            self._opened = Store(PostgresDatabase(self.url), TYPES)
        return self._opened


if __name__ == "__main__":
    main(GribmillDriver)
