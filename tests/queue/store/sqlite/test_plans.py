"""The plans of the hot statements: the intended index, no scan of `jobs`, no sort; before and after ANALYZE."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gribmill.database.sqlite import SqliteDatabase
from gribmill.database.sqlite.session import statement
from gribmill.database.verbs.session import RawParams
from gribmill.queue.store import Store
from gribmill.queue.store.jobs.listing import NEWEST
from tests.queue.store.sample_types import TYPES

pytestmark = pytest.mark.slow

NOW = "2026-06-01 00:00:00.000"
FENCE = {"job_id": 5, "attempt_no": 1, "worker_id": "w"}
BY_ID = ("jobs USING INTEGER PRIMARY KEY",)
BY_ATTEMPT = ("job_attempts USING PRIMARY KEY (job_id=? AND attempt_no=?)",)

LARGE = re.compile(r"SCAN (jobs|j|job_attempts|a|job_dependencies|d)( |$)")


@dataclass(frozen=True)
class Plan:
    """The indexes that a statement must use, with values to bind; `sorts` gives the reason where a sort is intended."""

    uses: tuple[str, ...]
    params: RawParams
    sorts: str | None = None


HOT: dict[str, Plan] = {
    "triggers/due": Plan(("job_triggers_due",), {"now": NOW, "types": '["plain"]', "limit": 100}),
    "triggers/next_slot": Plan(("job_triggers_due",), {"types": '["plain"]'}),
    "triggers/for_event": Plan(
        ("job_triggers_event (event_name=?)",),
        {"event_name": "x", "tenant_id": "global"},
    ),
    "jobs/promote_due": Plan(("jobs_due", "INTEGER PRIMARY KEY"), {"now": NOW}),
    "claims/head": Plan(
        (
            "INDEX jobs_ready (type=? AND <expr>=?)",
            "jobs_ready_of",
            "j USING INTEGER PRIMARY KEY",
            "direct_reservations_one",
            "jobs_lease",
        ),
        {"types": '["plain","tile"]', "now": NOW, "worker_id": "w"},
        sorts="the best of one head per type, and the batches that run: a handful of rows",
    ),
    "claims/head_of_type": Plan(
        (
            "INDEX jobs_ready (type=? AND <expr>=?)",
            "jobs_ready_of",
            "j USING INTEGER PRIMARY KEY",
            "direct_reservations_one",
            "jobs_lease",
        ),
        {"type": "plain", "now": NOW, "worker_id": "w"},
        sorts="counts the batches that run: a handful of rows",
    ),
    "claims/may_join": Plan(
        ("job_definitions", "direct_reservations_one", "jobs_lease"),
        {"type": "limited", "batch_id": 1, "now": NOW, "worker_id": "w"},
        sorts="counts the batches that run: a handful of rows",
    ),
    "listing/counts": Plan(
        ("jobs USING INDEX jobs_ready", "jobs_due", "jobs_waiting", "jobs_lease", "job_counts"),
        {"tenant_id": None},
        sorts="the counts of each type and status: a few dozen rows, and what is delayed",
    ),
    "claims/siblings": Plan(
        ("INDEX jobs_group (type=? AND group_key=?)",),
        {"type": "tile", "group_key": "g1", "claimant": "global", "head_id": 5, "batch_id": 5, "more": 3},
    ),
    "claims/take": Plan(BY_ID, ("w", NOW, 5, NOW, 5)),
    "jobs/held": Plan(BY_ID, FENCE),
    "jobs/complete": Plan(BY_ID, (NOW, 5, 1, "w")),
    "jobs/requeue": Plan(BY_ID, {**FENCE, "now": NOW, "next_run_at": NOW, "cost": 1, "error": "x"}),
    "jobs/end": Plan(BY_ID, {**FENCE, "status": "failed", "now": NOW, "error": "x", "dead_lettered_at": None}),
    "attempts/end": Plan(BY_ATTEMPT, ("failed", NOW, 1, None, None, "x", None, None, 5, 1)),
    "attempts/end_quiet": Plan(BY_ATTEMPT, ("succeeded", NOW, 0, 5, 1)),
    "dependencies/ended_parents": Plan(("j USING INTEGER PRIMARY KEY",), ()),
    "dependencies/settled": Plan(("ended_parents USING INTEGER PRIMARY KEY",), (5,)),
    "dependencies/pending_children": Plan(("d USING PRIMARY KEY (parent_id=?)", "j USING INTEGER PRIMARY KEY"), (5,)),
    "dependencies/release": Plan(BY_ID, {"job_id": 5, "now": NOW}),
    "jobs/cancel_pending": Plan(BY_ID, {"job_id": 5, "now": NOW, "error": "x"}),
    "jobs/request_cancel": Plan(BY_ID, {"job_id": 5, "now": NOW, "error": "x"}),
    "leases/renew": Plan(("jobs_lease",), {"worker_id": "w", "lease_expires_at": NOW}),
    "leases/cancellations": Plan(("jobs_lease",), {"worker_id": "w"}),
    "leases/expired": Plan(("INDEX jobs_lease (lease_expires_at",), {"now": NOW, "limit": 500}),
    "leases/far": Plan(("INDEX jobs_lease (lease_expires_at",), {"horizon": NOW, "limit": 500}),
    "leases/abandoned_by_hand": Plan(("INDEX jobs_lease (lease_expires_at=?)",), {"now": NOW, "limit": 500}),
    "leases/recover": Plan(
        BY_ID,
        {
            **FENCE,
            "now": NOW,
            "status": "pending",
            "next_run_at": NOW,
            "cost": 1,
            "error": "x",
            "completed_at": None,
            "dead_lettered_at": None,
        },
    ),
    "jobs/next_due": Plan(("jobs_due", "direct_reservations_one"), {"now": NOW}),
    "listing/oldest_ready": Plan(
        ("INDEX jobs_ready", "INDEX jobs_due (next_run_at>? AND next_run_at<?)"),
        {"tenant_id": None, "now": NOW},
        "one row per type and one per due job",
    ),
    "jobs/find_active": Plan(
        ("INDEX jobs_dedupe (tenant_id=? AND dedupe_key=?)",), {"tenant_id": "global", "dedupe_key": "k"}
    ),
    "jobs/prune": Plan(
        ("INDEX jobs_finished (completed_at", "INTEGER PRIMARY KEY"),
        {"before": NOW, "statuses": '["completed"]', "limit": 1000},
    ),
    "attempts/prune": Plan(
        ("INDEX jobs_due", "a USING PRIMARY KEY (job_id=? AND attempt_no<?)"), {"before": NOW, "limit": 1000}
    ),
    "listing/ended_by_minute": Plan(
        ("jobs_finished (completed_at>?)", "a USING PRIMARY KEY (job_id=? AND attempt_no=?)"),
        {"since": NOW, "tenant_id": None},
        sorts="the jobs of an hour, by minute",
    ),
    "listing/count_dead": Plan(("COVERING INDEX jobs_dead",), {"tenant_id": None, "most": 1000}),
    "listing/recent_runs": Plan(
        ("INDEX jobs_finished (completed_at>?)", "a USING PRIMARY KEY (job_id=? AND attempt_no=?)"),
        {"since": NOW, "tenant_id": None},
    ),
    "metrics/ended": Plan(
        ("INDEX jobs_finished (completed_at>?)", "a USING PRIMARY KEY (job_id=?)"),
        {"since": NOW, "limit": 200_000},
    ),
    "metrics/enqueued": Plan(("jobs USING INTEGER PRIMARY KEY (rowid>?)",), {"after_id": 5, "limit": 200_000}),
    "metrics/newest_job": Plan((), {}),
    "metrics/retrying": Plan(("jobs_due",), {}, sorts="the types of what waits for another attempt: a handful of rows"),
    "metrics/depth": Plan(
        ("jobs USING INDEX jobs_ready", "jobs_due", "jobs_waiting", "jobs_lease", "job_counts"),
        {},
        sorts="the counts of each tenant, type and status: a few dozen rows, and what is delayed",
    ),
    "dependencies/parent_states": Plan(BY_ID, {"ids": "[1,2]"}),
    "jobs/get": Plan(BY_ID, {"job_id": 5}),
    "attempts/list": Plan(
        ("SEARCH a USING PRIMARY KEY (job_id=?)", "SEARCH j USING INTEGER PRIMARY KEY"), {"job_id": 5}
    ),
}

FILTER: dict[str, Any] = dict.fromkeys(
    ("status", "dead", "type", "worker_id", "source", "correlation_id", "created_after", "created_before",
     "retried", "group_key", "group_id", "tenant_id")
) | {"before": NEWEST, "oldest": 0}  # fmt: skip
HOT |= {
    "claims/no_head": Plan(("jobs_ready_of", "jobs_due", "ended_parents"), {"now": NOW}),
    "claims/open_types": Plan(
        ("direct_reservations_one", "jobs_lease"),
        {"types": '["plain","tile"]', "now": NOW, "worker_id": "w"},
        sorts="counts the batches that run: a handful of rows",
    ),
    "claims/held_tenants": Plan(
        ("tenants_disabled", "jobs_lease"), {}, sorts="counts what runs by tenant: a handful of rows"
    ),
    "claims/top_priority": Plan(("INDEX jobs_ready (type=? AND <expr>=?)",), {"types": '["plain","tile"]'}),
    "claims/in_turn": Plan(
        ("INDEX jobs_ready (type=? AND <expr>=? AND priority=? AND <expr>>?)", "j USING INTEGER PRIMARY KEY"),
        {"types": '["plain","tile"]', "priority": 4, "after": "t3"},
        sorts="the best of three heads per type",
    ),
    "claims/heads_by_tenant": Plan(
        ("INDEX jobs_ready_of (claimant=? AND type=?)", "INDEX jobs_ready_of (claimant>?)"),
        {"types": '["plain","tile"]', "held": '["t3"]'},
    ),
    "claims/chosen": Plan(("j USING INTEGER PRIMARY KEY",), {"job_id": 5}),
    "claims/tenant_room": Plan(("jobs_lease",), {"tenant_id": "t3"}),
    "tenants/count_pending": Plan(
        ("job_counts USING PRIMARY KEY (tenant_id=?)", "jobs_requested_pending (requested_by=?)"), {"tenant_id": "t3"}
    ),
    "tenants/enqueued_since": Plan(
        ("INDEX jobs_tenant (tenant_id=?)", "INDEX jobs_requested (requested_by=?)"),
        {"tenant_id": "t3", "limit": 100, "since": NOW},
        sorts="twice as many jobs as a minute allows",
    ),
    "listing/of_tenant": Plan(
        ("INDEX jobs_tenant (tenant_id=? AND id>? AND id<?)",), {**FILTER, "tenant_id": "t3", "limit": 50}
    ),
    "listing/of_tenant_by_status": Plan(
        ("INDEX jobs_tenant_status (tenant_id=? AND status=? AND id>? AND id<?)",),
        {**FILTER, "tenant_id": "t3", "status": "failed", "limit": 50},
    ),
    "listing/of_group": Plan(
        ("INDEX jobs_of_group (group_key=? AND id>? AND id<?)",), {**FILTER, "group_key": "g1", "limit": 50}
    ),
}

CREATED = "strftime('%Y-%m-%d %H:%M:%f', 1780000000 + i, 'unixepoch')"
FAR = "'2030-01-01 00:00:00.000'"
RUNNING = {
    "type": "'limited'",
    "status": "'processing'",
    "worker_id": "'w'",
    "lease_expires_at": FAR,
    "batch_id": "i / 4",
    "attempt_no": "1",
}
# How many rows, and how they differ from a plain pending row number i.
ROWS: tuple[tuple[int, dict[str, str]], ...] = (
    (30_000, {"type": "'plain'", "priority": "i % 5", "dedupe_key": "'key' || i"}),
    (15_000, {"type": "'tile'", "priority": "i % 5", "group_key": "'g' || (i / 12)"}),
    (5_000, {"type": "'plain'", "priority": "9", "next_run_at": FAR}),
    (50_000, {"type": "'plain'", "status": "'completed'", "completed_at": CREATED, "attempt_no": "1"}),
    (40, RUNNING),
    (5_000, {"type": "'plain'", "priority": "i % 5", "tenant_id": "'t' || (i % 100)"}),
    (5_000, {"type": "'plain'", "priority": "i % 5", "requested_by": "'t' || (i % 100)"}),
)


def fill(count: int, columns: dict[str, str]) -> str:
    return (
        f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})"
        f" INSERT INTO jobs (created_at, {', '.join(columns)}) SELECT {CREATED}, {', '.join(columns.values())} FROM n"
    )


@pytest.fixture(scope="module", params=["fresh", "analyzed"])
def backlog(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    """Fifty thousand waiting and fifty thousand finished jobs, without and with the planner's statistics."""
    path: Path = tmp_path_factory.mktemp(request.param) / "jobs.db"
    Store(SqliteDatabase(path, synchronous="normal"), TYPES).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("BEGIN")
        for count, columns in ROWS:
            connection.execute(fill(count, columns))
        connection.execute(
            "INSERT INTO job_attempts (job_id, attempt_no, worker_id, started_at, status)"
            " SELECT id, 1, 'w', created_at, 'succeeded' FROM jobs WHERE attempt_no = 1"
        )
        connection.execute("INSERT INTO job_dependencies SELECT id, id + 1, 'cancel' FROM jobs WHERE id % 100 = 0")
        connection.execute("COMMIT")
        if request.param == "analyzed":
            connection.execute("ANALYZE")
        yield connection


def plan_of(connection: sqlite3.Connection, name: str, params: RawParams) -> list[str]:
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement(name)}", params)]


@pytest.mark.parametrize("name", HOT)
def test_hot_statement_keeps_its_plan(backlog: sqlite3.Connection, name: str) -> None:
    wanted = HOT[name]
    lines = plan_of(backlog, name, wanted.params)
    whole = "\n".join(lines)
    for index in wanted.uses:
        assert index in whole
    assert [line for line in lines if LARGE.match(line) and not _small(line)] == [], whole
    assert "AUTOMATIC" not in whole, whole
    assert "BLOOM" not in whole, whole
    assert ("TEMP B-TREE" in whole) <= (wanted.sorts is not None), whole


def _small(line: str) -> bool:
    """A scan of a partial index of active jobs or dead letters, never of all finished jobs."""
    names = ("jobs_lease", "jobs_ready", "jobs_ready_of", "jobs_due", "jobs_waiting", "jobs_dead")
    return line.endswith(tuple(f"INDEX {name}" for name in names))
