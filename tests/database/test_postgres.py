"""PostgreSQL only: tenant isolation, reconnection, and aggregated counts."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from gribmill.database.postgres import PostgresDatabase
from gribmill.queue.model import ClaimRequest, NewJob, NewTenant, Report, Succeeded
from gribmill.queue.store import Store
from tests.queue.backends import make_tables
from tests.queue.sample_effects import SampleEffects
from tests.queue.store.sample_types import TYPES
from tests.servers.shared_postgres import fresh_database

pytestmark = pytest.mark.postgres
ASKED = ClaimRequest("w", ("plain",), 60.0)


@pytest.fixture
def url() -> Iterator[str]:
    with fresh_database("tables", make_tables) as url:
        yield url


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    store = Store(PostgresDatabase(url), TYPES, SampleEffects())
    yield store
    assert store.verify() == []
    store.close()


def test_other_roles_see_only_the_rows_of_their_tenant(url: str, store: Store) -> None:
    store.tenants.add(NewTenant("acme"))
    store.tenants.add(NewTenant("rival"))
    for tenant in ("global", "acme", "rival"):
        store.jobs.enqueue(NewJob("plain", tenant_id=tenant))
    store.claim(ASKED)
    seen = "SELECT count(*), min(tenant_id) FROM jobs"
    with psycopg.connect(url) as connection:  # rolled back together with the role, which belongs to the whole server
        connection.execute("CREATE ROLE visitor_of_a_test")
        connection.execute("GRANT SELECT, UPDATE ON ALL TABLES IN SCHEMA public TO visitor_of_a_test")
        connection.execute("SET LOCAL ROLE visitor_of_a_test")
        assert connection.execute(seen).fetchone() == (0, None), "without a tenant nothing is visible"
        connection.execute("SET LOCAL gribmill.tenant = 'acme'")
        assert connection.execute(seen).fetchone() == (1, "acme")
        assert connection.execute("UPDATE jobs SET priority = 9 WHERE tenant_id <> 'acme'").rowcount == 0
        tenants = connection.execute(
            "SELECT DISTINCT j.tenant_id FROM job_attempts a JOIN jobs j ON j.id = a.job_id"
        ).fetchall()
        assert tenants in ([], [("acme",)])
        connection.rollback()


def test_connection_cut_while_idle_is_reopened(url: str, store: Store) -> None:
    first = store.jobs.enqueue(NewJob("plain"))
    with psycopg.connect(url, autocommit=True) as connection:
        cut = connection.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).fetchone()
    assert cut is not None and cut[0] >= 1
    assert store.jobs.get(first.id).status == "pending"
    (job,) = store.claim(ASKED)
    assert store.exchange("w", [Report(job.ref, Succeeded())]).accepted == (job.ref,)


def test_report_whose_response_was_lost_can_be_repeated(store: Store) -> None:
    store.jobs.enqueue(NewJob("plain"))
    (job,) = store.claim(ASKED)
    report = Report(job.ref, Succeeded())
    assert store.exchange("w", [report]).accepted == (job.ref,)
    again = store.exchange("w", [report])
    assert (again.accepted, again.fenced) == ((), (job.ref,))
    assert [one.status for one in store.jobs.history(job.id).attempts] == ["succeeded"]


def test_changes_of_counts_are_added_up(url: str, store: Store) -> None:
    made = 1100
    store.jobs.enqueue_many(NewJob("plain") for _ in range(made))
    for job in store.jobs.list(limit=1).jobs:
        store.jobs.cancel(job.id)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE jobs SET status = 'cancelled', completed_at = now() WHERE status = 'pending'")
        store.database.tidy()
        assert connection.execute("SELECT count(*) FROM job_count_changes").fetchone() == (0,)
        assert connection.execute("SELECT sum(n) FROM job_counts").fetchone() == (made,)


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO jobs (type, status) VALUES ('plain', 'odd')",
        "INSERT INTO jobs (type, source) VALUES ('plain', 'odd')",
        "INSERT INTO jobs (type, deps_left) VALUES ('plain', -1)",
        "INSERT INTO jobs (type, attempt_no) VALUES ('plain', -1)",
        "UPDATE jobs SET status = 'odd'",
        "UPDATE jobs SET source = 'odd'",
        "UPDATE jobs SET deps_left = -1",
        "UPDATE jobs SET attempt_no = -1",
    ],
)
def test_invalid_values_are_refused(url: str, store: Store, statement: str) -> None:
    store.jobs.enqueue(NewJob("plain"))
    with psycopg.connect(url, autocommit=True) as connection, pytest.raises(psycopg.errors.CheckViolation):
        connection.execute(statement.encode())


def test_a_manual_completion_that_clears_the_worker_is_counted(url: str, store: Store) -> None:
    store.jobs.enqueue(NewJob("plain"))
    (job,) = store.claim(ASKED)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE jobs SET status = 'completed', completed_at = now(), worker_id = NULL")
    assert next(kind.counts for kind in store.types.stats() if kind.type == "plain") == {"completed": 1}
    assert [one.status for one in store.jobs.history(job.id).attempts] == ["succeeded"]


def test_manually_inserted_rows_do_not_read_all_rows_before_them(url: str, store: Store) -> None:
    rows = "INSERT INTO jobs (type) SELECT 'plain' FROM generate_series(1, {})"
    read = "SELECT pg_stat_force_next_flush(), seq_tup_read FROM pg_stat_user_tables WHERE relname = 'jobs'"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(rows.format(100).encode())
        connection.execute("ANALYZE jobs")
        connection.execute(read)
        before = connection.execute(read).fetchone()
        connection.execute(rows.format(500).encode())
        connection.execute(read)
        after = connection.execute(read).fetchone()
    assert before is not None and after is not None
    assert after[1] - before[1] < 500
