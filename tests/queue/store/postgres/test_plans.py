"""PostgreSQL plans of frequent statements: an index, and no scan of a growing table, before and after ANALYZE."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import psycopg
import pytest
from psycopg._queries import PostgresQuery
from psycopg.adapt import Transformer

from gribmill.database.postgres.connection import Connection, connect
from gribmill.database.postgres.statements import is_planned_each_time, statement
from gribmill.database.postgres.tenant_role import ENTER
from gribmill.queue.store import Store
from gribmill.queue.store.jobs.listing import NEWEST
from tests.queue.backends import make_tables, open_address
from tests.queue.store.sample_types import TYPES
from tests.queue.store.store_driver import add, take
from tests.servers.shared_postgres import fresh_database

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

NOW = "2026-06-01 00:00:00.000+00"
FENCE = {"job_id": 5, "attempt_no": 1, "worker_id": "w"}
ASKED = {
    "types": '["plain","tile"]',
    "keys": ["plain", "tile"],
    "ended": [5, 6],
    "now": NOW,
    "worker_id": "w",
    "pid": 1,
    "batch_limit": None,
    "lease_expires_at": NOW,
    "settled": 0,
}
LARGE = {"jobs", "job_attempts", "job_dependencies", "events", "webhook_deliveries", "job_groups"}
LEFT_OUT = ("stdout_tails", "stderr_tails", "downloaded", "written", "error_texts", "log_paths", "artifacts")
FILTER: dict[str, Any] = dict.fromkeys(
    ("status", "dead", "type", "worker_id", "source", "correlation_id", "created_after", "created_before",
     "retried", "group_key", "group_id", "tenant_id")
) | {"before": NEWEST, "oldest": 0}  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """The indexes that a statement must use, with values to bind; `sorts` gives the reason where a claim may sort."""

    uses: tuple[str, ...]
    params: Any = field(default_factory=dict)
    sorts: str | None = None


HOT: dict[str, Plan] = {
    "claims/prepare": Plan(("job_dependencies_pkey", "jobs_due"), ASKED),
    "claims/promote": Plan(("jobs_due", "jobs_pkey"), {"now": NOW}, "what is due, while there are no statistics"),
    "claims/lock_types": Plan((), ASKED),
    "claims/take_next": Plan(
        ("jobs_ready", "jobs_group", "jobs_pkey"), ASKED, "the best of one head per type, and the jobs of the batch"
    ),
    "claims/take_chosen": Plan(("jobs_pkey", "jobs_group"), {**ASKED, "job_id": 5, "more": 3}, "the jobs of the batch"),
    "claims/take_siblings": Plan(
        ("jobs_pkey", "jobs_group"), {**ASKED, "job_id": 5, "attempt_no": 1, "more": 3}, "the jobs of the batch"
    ),
    "claims/top_priority": Plan(("jobs_ready", "jobs_ready_in_turn"), {"types": '["plain","tile"]'}),
    "claims/in_turn": Plan(
        ("jobs_ready",),
        {"types": '["plain","tile"]', "priority": 4, "after": "t3"},
        "the best of three heads per type",
    ),
    "claims/heads_by_tenant": Plan(("jobs_ready_of", "jobs_ready"), {"types": '["plain","tile"]', "held": '["t3"]'}),
    "claims/held_tenants": Plan(("tenants_disabled",), {}, "counts what runs by tenant: a handful of rows"),
    "claims/tenant_room": Plan(("tenants_pkey",), {"tenant_id": "t3"}),
    "claims/chosen": Plan(("jobs_pkey",), {"job_id": 5}),
    "jobs/any_work": Plan(("jobs_ready", "jobs_due"), {"now": NOW}),
    "jobs/complete": Plan(
        ("jobs_pkey", "job_attempts_pkey"),
        {
            "now": NOW,
            "worker_id": "w",
            "ids": [5, 6],
            "attempt_nos": [1, 1],
            "statuses": ["succeeded"] * 2,
            "exit_codes": [0, 0],
            **{name: [None, None] for name in LEFT_OUT},
        },
        "the counts of what was completed",
    ),
    "dependencies/note_ended": Plan(("job_dependencies_pkey",), {"ids": [5, 6]}),
    "dependencies/ended_parents": Plan(("jobs_pkey",), (), "at most as many as have ended and are not settled"),
    "dependencies/pending_children": Plan(("job_dependencies_pkey", "jobs_pkey"), (5,)),
    "dependencies/parent_states": Plan(("jobs_pkey",), {"ids": "[1,2]"}, "the parents of one job"),
    "dependencies/release": Plan((), {"job_id": 5, "now": NOW}),
    "jobs/held": Plan(("jobs_pkey",), FENCE),
    "jobs/requeue": Plan(("jobs_pkey",), {**FENCE, "now": NOW, "next_run_at": NOW, "cost": 1, "error": "x"}),
    "jobs/end": Plan(("jobs_pkey",), {**FENCE, "status": "failed", "now": NOW, "error": "x", "dead_lettered_at": None}),
    "jobs/find_active": Plan(("jobs_dedupe",), {"tenant_id": "global", "dedupe_key": "k"}),
    "jobs/next_due": Plan(("jobs_due",), {"now": NOW}),
    "jobs/prune": Plan(("jobs_finished",), {"before": "2026-01-01", "statuses": '["completed"]', "limit": 1000}),
    "attempts/end_quiet": Plan(("job_attempts_pkey",), ("succeeded", NOW, 0, 5, 1)),
    "attempts/list": Plan(("job_attempts_pkey",), {"job_id": 5}),
    "leases/renew": Plan(("jobs_lease",), {"worker_id": "w", "lease_expires_at": NOW}),
    "leases/cancellations": Plan(("jobs_lease",), {"worker_id": "w"}),
    "leases/expired": Plan(("jobs_lease",), {"now": NOW, "limit": 500}),
    "leases/far": Plan(("jobs_lease",), {"horizon": NOW, "limit": 500}),
    "leases/abandoned_by_hand": Plan(("jobs_lease",), {"now": NOW, "limit": 500}),
    "events/list_after": Plan(
        ("events_in_commit_order",),
        {"after_id": 90_000, "through_id": None, "pattern": None, "tenant_id": None, "limit": 1000},
    ),
    "events/newest_id": Plan(("events_in_commit_order",)),
    "events/take": Plan(("events_undispatched",), {"now": NOW, "limit": 100}),
    "events/undispatched": Plan(("events_undispatched",)),
}
SMALL = "what runs: a handful of rows"
LISTS: dict[str, Plan] = {
    "listing/jobs": Plan(("jobs_pkey",), {**FILTER, "limit": 50}),
    "listing/pending": Plan(("jobs_ready", "jobs_due", "jobs_waiting"), {**FILTER, "limit": 50}, "what waits"),
    "listing/processing": Plan(("jobs_lease",), {**FILTER, "limit": 50}, SMALL),
    "listing/unhappy": Plan(("jobs_unhappy",), {**FILTER, "status": "failed", "limit": 50}),
    "listing/of_tenant": Plan(("jobs_tenant",), {**FILTER, "tenant_id": "t3", "limit": 50}),
    "listing/of_tenant_by_status": Plan(
        ("jobs_tenant_status",), {**FILTER, "tenant_id": "t3", "status": "failed", "limit": 50}
    ),
    "listing/of_group": Plan(("jobs_of_group",), {**FILTER, "group_key": "g1", "limit": 50}),
    "listing/in_group": Plan(("jobs_group_status",), {**FILTER, "group_id": 5, "limit": 50}, "the jobs of one group"),
    "listing/of_correlation": Plan(
        ("jobs_correlation",), {**FILTER, "correlation_id": "c5", "limit": 50}, "the jobs of one chain"
    ),
    "listing/queue": Plan(
        ("jobs_ready", "jobs_due"), {"type": None, "tenant_id": None, "limit": 50}, "what waits, once for the page"
    ),
    "listing/counts": Plan(("jobs_lease",), {"tenant_id": None}, "the counts of each type and status"),
    "listing/oldest_ready": Plan(("jobs_ready", "jobs_due"), {"tenant_id": None, "now": NOW}, "one row per type"),
    "metrics/depth": Plan(("jobs_ready", "jobs_due", "jobs_waiting", "jobs_lease"), {}, "the counts of each type"),
    "metrics/retrying": Plan(("jobs_due",), {}, "the counts of each type"),
    "metrics/newest_job": Plan(("jobs_pkey",)),
    "metrics/enqueued": Plan(("jobs_pkey",), {"after_id": 160_000, "limit": 1000}),
    "catalogue/given_up_work": Plan(("jobs_dead", "jobs_pkey"), {"since": NOW, "limit": 1000}, "one row per type"),
    "metrics/ended": Plan(("jobs_finished", "job_attempts_pkey"), {"since": NOW, "limit": 1000}),
    "listing/running": Plan(("jobs_lease",), {}, SMALL),
    "listing/running_batches": Plan(("jobs_lease",), {}, SMALL),
    "listing/rates": Plan(("jobs_finished", "jobs_lease"), {"since": NOW, "tenant_id": None}, SMALL),
    "listing/recent_runs": Plan(("jobs_finished",), {"since": NOW, "tenant_id": None}),
    "tenants/enqueued_since": Plan(
        ("jobs_tenant", "jobs_requested"), {"tenant_id": "t3", "limit": 100, "since": NOW}, "as many as a minute allows"
    ),
    "events/list": Plan(
        ("events_pkey",), {"pattern": None, "tenant_id": None, "since": None, "before_id": None, "limit": 50}
    ),
    "groups/list": Plan(("job_groups_pkey",), {"tenant_id": None, "before": None, "limit": 50}),
    "groups/counts": Plan(("jobs_retry_of",), {"group_id": 5}, "the jobs of one group"),
    "deliveries/list": Plan(("events_pkey",), {"webhook_id": 1, "limit": 50}),
    "deliveries/of_event": Plan(("webhook_deliveries_event",), {"event_id": 5}, "the deliveries of one event"),
}

CREATED = "timestamptz '2026-05-29 00:00:00+00' + make_interval(secs => i)"
FAR = "timestamptz '2030-01-01 00:00:00+00'"
# How many rows, and how they differ from a plain pending row number i.
ROWS: tuple[tuple[int, dict[str, str]], ...] = (
    (6_000, {"type": "'plain'", "priority": "i % 5", "dedupe_key": "'key' || i"}),
    (3_000, {"type": "'tile'", "priority": "i % 5", "group_key": "'g' || (i / 12)"}),
    (1_000, {"type": "'plain'", "priority": "9", "next_run_at": FAR}),
    (100, {"type": "'plain'", "deps_left": "1"}),
    (150_000, {"type": "'plain'", "status": "'completed'", "completed_at": CREATED, "attempt_no": "1",
              "group_id": "i / 20 + 1", "correlation_id": "'c' || (i / 20)"}),
    (1_000, {"type": "'plain'", "status": "'failed'", "completed_at": CREATED, "attempt_no": "1"}),
    (40, {"type": "'limited'", "status": "'processing'", "worker_id": "'w'", "lease_expires_at": FAR,
          "batch_id": "i / 4", "attempt_no": "1"}),
    (1_000, {"type": "'plain'", "priority": "i % 5", "tenant_id": "'t' || (i % 100)"}),
)  # fmt: skip


@pytest.fixture(scope="module", params=["fresh", "analyzed"])
def backlog(request: pytest.FixtureRequest) -> Iterator[Connection]:
    """Eleven thousand waiting and 150,000 finished jobs, without and with the planner's statistics."""
    with fresh_database("tables", make_tables) as url:
        Store(open_address(url), TYPES).close()
        with connect(url) as connection:
            connection.execute("SET session_replication_role = replica")
            for table in LARGE:
                connection.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = false)".encode())
            for count, columns in ROWS:
                connection.execute(
                    f"INSERT INTO jobs (created_at, {', '.join(columns)})"
                    f" SELECT {CREATED}, {', '.join(columns.values())} FROM generate_series(1, {count}) i".encode()
                )
            for filling in (
                "job_attempts (job_id, attempt_no, worker_id, started_at, status)"
                " SELECT id, 1, 'w', created_at, 'succeeded' FROM jobs WHERE attempt_no = 1",
                "job_dependencies SELECT id, id + 1, 'cancel' FROM jobs WHERE id % 100 = 0",
                "job_groups (name) SELECT 'group ' || i FROM generate_series(1, 5000) i",
                f"events (name, created_at, dispatched_at) SELECT 'job.failed', {CREATED}, {CREATED}"
                " FROM generate_series(1, 90000) i",
                "webhooks (url, events, secret, created_at, updated_at)"
                " SELECT 'http://x', '[]', 's', now(), now() FROM generate_series(1, 10)",
                "webhook_deliveries (webhook_id, event_id, created_at, updated_at)"
                " SELECT id % 10 + 1, id, created_at, created_at FROM events",
            ):
                connection.execute(f"INSERT INTO {filling}".encode())
            if request.param == "analyzed":
                connection.execute("ANALYZE")
            connection.execute("SET session_replication_role = origin")
            yield connection


def explain(connection: Connection, name: str, params: Any, *, generic: bool) -> dict[str, Any]:
    """The plan for these values, or the generic plan that the server may cache for a prepared statement."""
    claims = name.startswith("claims/") and name not in ("claims/prepare", "claims/promote", "claims/lock_types")
    with connection.transaction(force_rollback=True):
        if claims:
            connection.execute(statement("claims/prepare").encode(), ASKED)
        if not generic:
            return _tree(connection.execute(f"EXPLAIN (FORMAT JSON) {statement(name)}".encode(), params))
        query = PostgresQuery(Transformer(connection))
        query.convert(statement(name), params)
        connection.execute(b"DEALLOCATE ALL")
        connection.execute(b"PREPARE it AS " + query.query)
        connection.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        values = [params[one] for one in query._order] if query._order else list(params)
        marks = f"({', '.join(['%s'] * len(values))})" if values else ""
        text = f"EXPLAIN (FORMAT JSON) EXECUTE it{marks}"
        return _tree(psycopg.ClientCursor(connection).execute(text.encode(), values))


def _tree(cursor: psycopg.Cursor[Any]) -> dict[str, Any]:
    (row,) = cursor.fetchall()
    found: dict[str, Any] = row[0][0]["Plan"]
    return found


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes(below)


def _line(node: dict[str, Any]) -> str:
    return " ".join(str(node[key]) for key in ("Node Type", "Relation Name", "Index Name", "Filter") if key in node)


def check(name: str, plan: dict[str, Any], wanted: Plan) -> None:
    found = list(nodes(plan))
    shown = "\n".join(_line(node) for node in found)
    indexes = {node["Index Name"] for node in found if "Index Name" in node}
    assert indexes >= {*wanted.uses}, shown
    scanned = [node["Relation Name"] for node in found if node["Node Type"] == "Seq Scan"]
    assert not LARGE & {*scanned}, shown
    # Elsewhere, sorting the few rows that an index returns is fine.
    sorted_heads = name.startswith("claims/") and any(node["Node Type"] == "Sort" for node in found)
    assert not sorted_heads or wanted.sorts is not None, shown


@pytest.mark.parametrize("name", [*HOT, *LISTS])
def test_statement_uses_its_index(backlog: Connection, name: str) -> None:
    wanted = (HOT | LISTS)[name]
    check(name, explain(backlog, name, wanted.params, generic=False), wanted)


@pytest.mark.parametrize("name", [*HOT, *LISTS])
def test_generic_plan_uses_the_index_too(backlog: Connection, name: str) -> None:
    if is_planned_each_time(statement(name)):
        pytest.skip("it is planned for its values each time")
    wanted = (HOT | LISTS)[name]
    check(name, explain(backlog, name, wanted.params, generic=True), wanted)


def test_first_completion_is_not_planned_to_walk_all_rows() -> None:
    """A worker keeps its plans, and makes the first ones while there are few rows."""
    with fresh_database("tables", make_tables) as url, connect(url) as connection:
        connection.execute("VACUUM ANALYZE")
        store = Store(open_address(url), TYPES)
        add(store)
        take(store)
        store.close()
        plan = explain(connection, "jobs/complete", HOT["jobs/complete"].params, generic=True)
    scans = [one for one in nodes(plan) if "Index Name" in one]
    assert {one["Relation Name"] for one in scans} == {"jobs", "job_attempts"}
    assert [_line(one) for one in scans if "Index Cond" not in one] == []


def test_row_level_security_leaves_the_list_of_a_tenant_to_its_index(backlog: Connection) -> None:
    """A policy with an indexable condition would read all jobs of the tenant for one page."""
    with backlog.transaction(force_rollback=True):
        backlog.execute(ENTER, ("t3",))
        plan = explain(backlog, "listing/of_tenant", LISTS["listing/of_tenant"].params, generic=False)
    assert {node["Index Name"] for node in nodes(plan) if "Index Name" in node} <= {"jobs_tenant", "jobs_retry_of"}


@pytest.mark.parametrize("name", ["listing/counts", "listing/oldest_ready", "listing/recent_runs"])
def test_stats_of_a_tenant_start_no_parallel_workers(backlog: Connection, name: str) -> None:
    """Row-level security makes the planner expect long reads; starting workers would take longer than these."""
    with backlog.transaction(force_rollback=True):
        backlog.execute(ENTER, ("t3",))
        plan = explain(backlog, name, {**LISTS[name].params, "tenant_id": "t3"}, generic=False)
    assert not [_line(node) for node in nodes(plan) if "Gather" in node["Node Type"]]
