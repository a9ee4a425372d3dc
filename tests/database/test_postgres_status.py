"""`gribmill db status` of a PostgreSQL database finds what slows it down, and its advice works."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from gribmill.database.postgres import status
from gribmill.database.postgres.status import postgres_status
from gribmill.database.status import DatabaseStatus, IndexStatus, TableStatus
from tests.queue.backends import make_tables
from tests.servers.shared_postgres import fresh_database

pytestmark = pytest.mark.postgres

BACKLOG = """INSERT INTO jobs (type, args, dedupe_key)
SELECT 'build_tile', json_build_object('model', 'hrrr', 'hour', n % 48)::text, 'key ' || n
FROM generate_series(1, 6000) n"""


@pytest.fixture
def url() -> Iterator[str]:
    with fresh_database("tables", make_tables) as url:
        yield url


@pytest.fixture
def hand(url: str) -> Iterator[psycopg.Connection]:
    with closing(psycopg.connect(url, autocommit=True)) as connection:
        yield connection


def jobs_table(found: DatabaseStatus) -> TableStatus:
    return next(one for one in found.tables if one.name == "jobs")


def ready_index(found: DatabaseStatus) -> IndexStatus:
    return next(one for one in found.indexes if one.name == "jobs_ready")


def test_bloat_after_a_backlog_is_reported_and_the_advice_reclaims_it(
    url: str, hand: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status, "WASTED_TABLE_BYTES", 100_000)
    monkeypatch.setattr(status, "WASTED_INDEX_BYTES", 100_000)
    hand.execute(BACKLOG)
    hand.execute("ANALYZE jobs")
    full = postgres_status(url)
    hand.execute("DELETE FROM jobs WHERE id % 50 <> 0")
    hand.execute("VACUUM (ANALYZE, TRUNCATE FALSE) jobs")
    empty = postgres_status(url)
    for look in (jobs_table, ready_index):
        before, after = look(full), look(empty)
        assert before.wasted_bytes is not None and after.wasted_bytes is not None
        assert before.wasted_bytes < before.bytes * 0.5 < after.wasted_bytes
    (table_advice,) = [one for one in empty.advice if one.endswith("VACUUM FULL jobs")]
    assert "hold no rows" in table_advice
    assert any(one.endswith("REINDEX INDEX CONCURRENTLY jobs_ready") for one in empty.advice)

    for command in ("VACUUM FULL jobs", "REINDEX INDEX CONCURRENTLY jobs_ready", "VACUUM ANALYZE jobs"):
        hand.execute(command.encode())
    found = postgres_status(url)
    assert [one for one in found.advice if "jobs" in one.split()] == []
    assert (ready_index(found).wasted_bytes or 0) < 50_000


def test_waste_is_unknown_before_the_first_statistics(url: str, hand: psycopg.Connection) -> None:
    hand.execute(BACKLOG.replace("6000", "10"))
    assert jobs_table(postgres_status(url)).wasted_bytes is None


def test_dead_rows_are_vacuumed_before_anything_is_rewritten(
    url: str, hand: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status, "MANY_DEAD_ROWS", 1000)
    monkeypatch.setattr(status, "WASTED_TABLE_BYTES", 100_000)
    hand.execute("ALTER TABLE jobs SET (autovacuum_enabled = off)")
    hand.execute(BACKLOG)
    hand.execute("DELETE FROM jobs WHERE id % 50 <> 0")
    hand.execute("ANALYZE jobs")
    hand.execute("SELECT pg_stat_force_next_flush()")
    found = postgres_status(url)
    assert jobs_table(found).dead_share > 0.9
    assert [one.rpartition(": ")[2] for one in found.advice if "jobs" in one.split()] == ["VACUUM ANALYZE jobs"]


def test_index_of_an_interrupted_rebuild_is_named(url: str, hand: psycopg.Connection) -> None:
    hand.execute("CREATE INDEX jobs_mine ON jobs (priority)")
    hand.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'jobs_mine'::regclass")
    assert any(one.endswith(": DROP INDEX jobs_mine") for one in postgres_status(url).advice)
