"""Moving a queue from SQLite to PostgreSQL and back: every row arrives, and work continues."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gribmill.database import move as move_module
from gribmill.database.move import MoveRefused, Progress, Row, Table, move
from gribmill.database.postgres import PostgresDatabase
from gribmill.database.postgres.move_side import PostgresSide
from gribmill.database.sqlite import SqliteDatabase
from gribmill.database.sqlite.move_side import SqliteSide
from gribmill.queue.model import Failed, NewJob, NewTenant
from gribmill.queue.store import Store
from tests.queue.backends import new_address
from tests.queue.sample_effects import SampleEffects
from tests.queue.store.sample_types import TYPES
from tests.queue.store.store_driver import add, claim, drain, report, succeed

pytestmark = pytest.mark.postgres


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with new_address("postgres", tmp_path) as url:
        yield url


def open_file(path: Path) -> Store:
    return Store(SqliteDatabase(path, synchronous="normal"), TYPES, SampleEffects())


def open_server(url: str) -> Store:
    return Store(PostgresDatabase(url), TYPES, SampleEffects())


def fill(store: Store) -> None:
    """Jobs in every state, with parents, tenants, groups, triggers, webhooks and events."""
    store.tenants.add(NewTenant("acme", max_pending=50))
    add(store, args={"n": 1}, dedupe_key="tab\t, back\\slash, \\N, é", created_by="me")
    for job in claim(store):
        succeed(store, job)
    add(store, max_attempts=1)
    for job in claim(store):
        report(store, job, Failed("it broke\nin two lines"))
    parent = add(store, delay_seconds=600)
    add(store, after=(parent,), tenant_id="acme")
    store.jobs.cancel(add(store), "not wanted")
    store.jobs.enqueue_many([NewJob("tile", {"hour": 3, "region": region}) for region in ("ne", "nw")])
    add(store, source="schedule", source_ref="trigger 7: 2026-06-01T00:00:00.000Z")
    add(store, priority=2)
    store.jobs.move_to_front(add(store))
    store.events.record("attempt.metered", wanted=True)


def contents(store: Store) -> list[Any]:
    """Every job as users see it."""
    jobs = store.jobs.list(limit=1000).jobs
    return [(job, store.jobs.history(job.id).attempts) for job in jobs]


def copy(source: SqliteSide | PostgresSide, target: SqliteSide | PostgresSide) -> dict[str, int]:
    server = source if isinstance(source, PostgresSide) else target
    assert isinstance(server, PostgresSide)
    with closing(source), closing(target):
        return {table.name: table.rows for table in move(source, target, server.tables())}


def test_move_there_and_back_keeps_everything(file: Path, url: str, tmp_path: Path) -> None:
    before = open_file(file)
    fill(before)
    seen = contents(before)
    before.close()
    moved = copy(SqliteSide(file), PostgresSide(url))
    assert moved["jobs"] == len(seen) and moved["tenants"] == 2
    there = open_server(url)
    assert contents(there) == seen
    assert there.verify() == []
    there.close()
    back = tmp_path / "back" / "jobs.db"
    assert copy(PostgresSide(url), SqliteSide(back)) == moved
    again = open_file(back)
    assert contents(again) == seen
    assert again.verify() == []
    again.close()


def test_work_continues_after_the_move_with_new_ids(file: Path, url: str) -> None:
    before = open_file(file)
    fill(before)
    highest = add(before)
    with closing(sqlite3.connect(file)) as hand, hand:
        hand.execute("DELETE FROM jobs WHERE id = ?", (highest,))
    before.close()
    copy(SqliteSide(file), PostgresSide(url))
    there = open_server(url)
    assert add(there) == highest + 1, "an id is never used twice"
    for job_id in drain(there):
        assert there.jobs.get(job_id).status == "processing"
    assert there.verify() == []
    there.close()


class Interrupted(Exception):
    pass


class Breaking(PostgresSide):
    """A target that fails after some batches, before the copy is complete."""

    left = 3

    def add(self, table: Table, rows: Any, done: Progress) -> None:
        self.left -= 1
        if self.left < 0:
            raise Interrupted
        super().add(table, rows, done)


def test_an_interrupted_move_is_resumed_and_copies_nothing_twice(
    file: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(move_module, "BATCH_ROWS", 3)
    before = open_file(file)
    fill(before)
    seen = contents(before)
    before.close()
    steps = 0
    while True:
        source, target = SqliteSide(file), Breaking(url)
        with closing(source), closing(target):
            try:
                moved = move(source, target, target.tables())
                break
            except Interrupted:
                steps += 1
                with psycopg.connect(url) as connection:
                    row = connection.execute("SELECT reserved_by FROM direct_reservations").fetchone()
                assert row == ("gribmill db move",), "workers start nothing on a part of a queue"
    assert steps >= 3
    assert sum(table.copied for table in moved) < sum(table.rows for table in moved)
    there = open_server(url)
    assert contents(there) == seen
    assert there.verify() == []
    assert not there.reservations.list()
    there.close()


def test_a_target_in_use_is_refused(file: Path, url: str) -> None:
    open_file(file).close()
    there = open_server(url)
    add(there)
    there.close()
    with pytest.raises(MoveRefused, match="has jobs or runs already: give an empty database"):
        copy(SqliteSide(file), PostgresSide(url))


def test_partial_copy_of_another_queue_is_refused(file: Path, url: str, tmp_path: Path) -> None:
    before = open_file(file)
    fill(before)
    before.close()
    source, target = SqliteSide(file), Breaking(url)
    target.left = 1
    with closing(source), closing(target), pytest.raises(Interrupted):
        move(source, target, target.tables())
    other = tmp_path / "other" / "jobs.db"
    open_file(other).close()
    with pytest.raises(MoveRefused, match="a part of another database from an unfinished move"):
        copy(SqliteSide(other), PostgresSide(url))


def test_source_cannot_change_during_the_move(file: Path, url: str) -> None:
    store = open_file(file)
    fill(store)
    tried: list[str] = []

    class Trying(PostgresSide):
        def add(self, table: Table, rows: Any, done: Progress) -> None:
            if not tried:
                with closing(sqlite3.connect(file, timeout=0)) as other:
                    with pytest.raises(sqlite3.OperationalError, match="locked"):
                        other.execute("INSERT INTO jobs (type) VALUES ('plain')")
                tried.append(table.name)
            super().add(table, rows, done)

    copy(SqliteSide(file), Trying(url))
    assert tried
    store.close()


def test_a_nul_character_becomes_a_replacement_character(file: Path, url: str) -> None:
    store = open_file(file)
    job = add(store)
    with closing(sqlite3.connect(file)) as hand, hand:
        hand.execute("UPDATE jobs SET correlation_id = ?", ("a\0b",))
    store.close()
    copy(SqliteSide(file), PostgresSide(url))
    there = open_server(url)
    assert there.jobs.get(job).correlation_id == "a\N{REPLACEMENT CHARACTER}b"
    there.close()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            "UPDATE jobs SET created_at = 'yesterday'",
            "created_at of the row [1] in jobs is 'yesterday', which is not a time",
        ),
        ("UPDATE jobs SET priority = 'high'", "priority of the row [1] in jobs is 'high', which is not a number"),
        (
            "UPDATE jobs SET error_message = x'ff00'",
            "error_message of the row [1] in jobs is b'\\xff\\x00', which is not text",
        ),
    ],
)
def test_a_value_that_the_column_cannot_hold_is_named(file: Path, url: str, change: str, sentence: str) -> None:
    store = open_file(file)
    add(store)
    with closing(sqlite3.connect(file)) as hand, hand:
        hand.execute(change)
    store.close()
    with pytest.raises(MoveRefused) as refused:
        copy(SqliteSide(file), PostgresSide(url))
    assert sentence in str(refused.value)


def test_a_copy_that_differs_is_found(file: Path, url: str) -> None:
    class Losing(PostgresSide):
        def add(self, table: Table, rows: Any, done: Progress) -> None:
            super().add(table, [row for row in rows if table.name != "jobs" or row[0] != 2], done)

    class Changing(PostgresSide):
        def add(self, table: Table, rows: Any, done: Progress) -> None:
            super().add(table, [_other(table, row) for row in rows], done)

    store = open_file(file)
    for _ in range(3):
        add(store)
    store.close()
    for side in (Losing, Changing):
        with psycopg.connect(url) as connection:
            connection.execute("DROP TABLE IF EXISTS move_progress")
            connection.execute("DELETE FROM jobs")
        with pytest.raises(MoveRefused, match="jobs differs"):
            copy(SqliteSide(file), side(url))


def _other(table: Table, row: Row) -> Row:
    """With another priority."""
    place = list(table.columns).index("priority") if table.name == "jobs" else -1
    return (*row[:place], row[place] + 1, *row[place + 1 :]) if place >= 0 else row
