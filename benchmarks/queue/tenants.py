"""Many tenants in one queue: fair claims with many pending jobs, and lists and counts with many finished jobs."""

from __future__ import annotations

import sqlite3
import statistics
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg

from benchmarks.queue.drivers.gribmill_worker import TYPES
from gribmill.database.postgres import PostgresDatabase
from gribmill.database.sqlite import SqliteDatabase
from gribmill.queue.model import ClaimRequest, NewTenant, Report, Succeeded
from gribmill.queue.store import Store
from gribmill.queue.store.jobs.listing import JobFilter

TENANTS = 100
CLAIMS = 300
LOOKS = 20
KIND = "stamp"
# Spread over the last thirty days. The jobs of one tenant, one in a hundred, are a job group.
FILL = """
WITH RECURSIVE row(n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM row WHERE n + 1 < :rows)
INSERT INTO jobs (type, args, status, tenant_id, group_key, group_id, created_at, completed_at)
SELECT :kind, '{}', :status, printf('t%03d', n % :tenants), printf('hour/%03d', n % 1000),
  iif(n % :tenants = 1, :group, NULL), strftime('%Y-%m-%d %H:%M:%f', 'now',
    ((n - :rows) * 2592000.0 / :rows) || ' seconds'),
  iif(:status = 'pending', NULL,
    strftime('%Y-%m-%d %H:%M:%f', 'now', ((n - :rows) * 2592000.0 / :rows) || ' seconds'))
FROM row
"""
# The same for PostgreSQL; without triggers, which would count each row.
POSTGRES_FILL = """
SET session_replication_role = replica;
INSERT INTO jobs (type, args, tenant_id, group_key, created_at)
SELECT '{kind}', '{{}}', 't' || lpad((n % {tenants})::text, 3, '0'), 'hour/' || lpad((n % 1000)::text, 3, '0'),
  now() - (({rows} - n) * 2592000.0 / {rows}) * interval '1 s'
FROM generate_series(1, {rows}) n;
INSERT INTO job_counts (tenant_id, type, status, n)
SELECT tenant_id, type, status, count(*) FROM jobs GROUP BY tenant_id, type, status;
RESET session_replication_role;
VACUUM ANALYZE jobs;
"""


def fair_claims(folder: Path, pending: int) -> float:
    """Milliseconds (median) to complete a job and claim the next, in turn between a hundred tenants."""
    return _fair_claims(_fill(folder, pending, "pending"))


def postgres_fair_claims(url: str, pending: int) -> float:
    store = Store(PostgresDatabase(url), TYPES)
    _prepare(store)
    with psycopg.connect(url, autocommit=True) as connection:
        for line in POSTGRES_FILL.format(kind=KIND, tenants=TENANTS, rows=pending).split(";"):
            connection.execute(line.encode())
    return _fair_claims(store)


def looks(folder: Path, finished: int) -> float:
    """Milliseconds (median of each, then the slowest) of the lists and counts of a tenant and of a group."""
    return _looks(_fill(folder, finished, "completed"))


def postgres_looks(url: str) -> float:
    """The same in a database that the benchmark's driver filled."""
    return _looks(Store(PostgresDatabase(url), TYPES))


def _fair_claims(store: Store) -> float:
    reports: list[Report] = []
    seconds: list[float] = []
    served: list[str] = []
    for _ in range(CLAIMS):
        began = time.perf_counter()
        found = store.exchange("w", reports, [ClaimRequest("w", (KIND,), 60.0)])
        seconds.append(time.perf_counter() - began)
        (batch,) = found.batches
        reports = [Report(job.ref, Succeeded()) for job in batch]
        served += [job.tenant_id for job in batch]
    store.close()
    assert len(set(served[:TENANTS])) == TENANTS, "each tenant is served once before any is served twice"
    return statistics.median(seconds) * 1000


def _looks(store: Store) -> float:
    handle = store.for_tenant("t001")
    group = handle.groups.find("bench")
    asked: list[Callable[[], object]] = [
        lambda: handle.jobs.list(limit=50),
        lambda: handle.jobs.list(JobFilter(status="completed"), limit=50),
        lambda: handle.jobs.list(JobFilter(status="failed"), limit=50),
        lambda: handle.jobs.list(JobFilter(group_key="hour/001"), limit=50),
        lambda: store.jobs.list(JobFilter(group_key="hour/001"), limit=50),
        lambda: handle.stats(),
        lambda: handle.groups.list(),
        lambda: handle.groups.progress(group.id),
    ]
    slowest = 0.0
    for ask in asked:
        seconds = []
        for _ in range(LOOKS):
            began = time.perf_counter()
            ask()
            seconds.append(time.perf_counter() - began)
        slowest = max(slowest, statistics.median(seconds) * 1000)
    store.close()
    return slowest


def _prepare(store: Store) -> None:
    for number in range(TENANTS):
        store.tenants.add(NewTenant(f"t{number:03d}"))
    store.workers.heartbeat("w", 60.0)


def _fill(folder: Path, rows: int, status: str) -> Store:
    """One statement for all rows: for a million, `enqueue_many` would take longer than everything else."""
    database = SqliteDatabase(folder / "jobs.db", synchronous="normal")
    store = Store(database, TYPES)
    _prepare(store)
    group = store.groups.open("bench", tenant_id="t001")
    with closing(sqlite3.connect(folder / "jobs.db")) as connection, connection:
        connection.execute(FILL, {"rows": rows, "status": status, "kind": KIND, "group": group.id, "tenants": TENANTS})
    return store
