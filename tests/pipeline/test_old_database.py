"""A jobs.db of an older gribmill opens, passes verification, lists its contents, and keeps working."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gribmill.catalogue.reads import Catalogue
from gribmill.database.sqlite import SqliteDatabase
from gribmill.database.sqlite.migrate import applied_versions, migrations
from gribmill.identity import RunRef
from gribmill.pipeline.job_types import TYPES
from gribmill.queue.model import ClaimRequest, Report, Succeeded
from gribmill.queue.store import Store
from gribmill.queue.store.jobs.listing import JobFilter

# Jobs in every state, attempts, dependents, workers, a reservation, triggers with firings, and a catalogue.
DUMP = Path(__file__).with_name("jobs_db_at_09c6878.sql")
NOON = datetime(2026, 11, 16, 12, 20, tzinfo=UTC)
RUNNING = "host-3-cccccccc"


class Clock:
    """A while after the last change in the dump."""

    now = NOON.timestamp()

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def database(tmp_path: Path, clock: Clock) -> SqliteDatabase:
    path = tmp_path / "jobs.db"
    with closing(sqlite3.connect(path)) as old:
        old.executescript(DUMP.read_text(encoding="utf-8"))
    return SqliteDatabase(path, synchronous="normal", clock=clock)


@pytest.fixture
def store(database: SqliteDatabase) -> Iterator[Store]:
    store = Store(database, TYPES)
    yield store
    store.close()


def test_old_database_opens_without_schema_changes(store: Store, database: SqliteDatabase) -> None:
    with closing(sqlite3.connect(database.path)) as connection:
        assert applied_versions(connection) == {one.version for one in migrations()}
    assert store.verify() == []


def test_every_job_is_listed_as_it_was(store: Store) -> None:
    jobs = {job.args["say"]: job for job in reversed(store.jobs.list(limit=100).jobs)}
    assert [jobs[name].status for name in ("completed", "skipped", "failed", "dead letter", "cancelled")] == [
        "completed",
        "completed",
        "failed",
        "failed",
        "cancelled",
    ]
    assert jobs["dead letter"].dead_lettered_at is not None
    assert jobs["delayed"].next_run_at == datetime(2026, 11, 16, 13, 2, 12, tzinfo=UTC)
    assert (jobs["lost"].retry_count, jobs["waiting"].deps_left, jobs["of a tenant"].tenant_id) == (1, 1, "acme")
    assert [job.args["say"] for job in store.jobs.upcoming(limit=1)] == ["moved to the front"]
    assert {job.worker_id for job in store.jobs.list(JobFilter(status="processing")).jobs} == {RUNNING}
    assert {(type_key, n) for (type_key, _), n in store.jobs.progress("backfill-1").items()} == {("sleep", 1)}


def test_attempts_and_relatives_are_kept(store: Store) -> None:
    (attempt,) = store.jobs.history(1).attempts
    assert (attempt.status, attempt.pid, attempt.artifacts) == ("succeeded", 4711, ("tile.npz",))
    assert (attempt.exit_code, attempt.stdout_tail) == (0, "completed\n")
    assert [one.id for one in store.jobs.history(5).chain] == [4, 5]
    assert [one.id for one in store.jobs.history(11).children] == [13, 14]
    assert [one.status for one in store.jobs.history(8).attempts] == ["lost"]


def test_workers_reservations_and_triggers_are_kept(store: Store, clock: Clock) -> None:
    assert {one.id: one.types for one in store.workers.list()}[RUNNING] == ("sleep",)
    clock.now -= 600
    assert [(one.id, one.scope) for one in store.reservations.list()] == [("0123456789abcdef", "build_tile")]
    assert store.types.paused() == {"prune"}
    schedule, event = store.triggers.list()
    assert (schedule.cron, schedule.next_fire_at) == ("*/10 * * * *", NOON)
    assert event.template == {"say": "{{event.text}}"}


def test_known_event_is_not_counted_again(store: Store) -> None:
    (again,) = store.events.emit("ping", {"text": "hello"}, event_id="ping-1")
    assert (again.job, again.error) == (None, None)


def test_catalogue_is_kept(database: SqliteDatabase) -> None:
    catalogue = Catalogue(database)
    (run,) = catalogue.runs("hrrr")
    assert (run.run_id, run.hours, run.final, run.state) == ("20261116_06", (0, 1), True, "arriving")
    built, failed = catalogue.hours(RunRef("hrrr", "20261116_06")).values()
    assert (built.state, built.found, built.missing, built.keep_grib) == ("built", ("t2m",), ("gust",), False)
    assert (failed.state, failed.error) == ("published", "gone")
    assert [tile.bytes for tile in catalogue.tiles(RunRef("hrrr", "20261116_06"))] == [77]
    assert catalogue.mirrors()["aws-hrrr"].failures == 1


def test_old_database_keeps_working(store: Store, clock: Clock) -> None:
    assert set(store.maintenance.recover().requeued) == {9}, "its worker is silent"
    assert store.jobs.get(10).status == "cancelled"
    clock.now += timedelta(hours=3).total_seconds()
    assert [one.job is not None for one in store.triggers.fire_due()] == [True]
    done = []
    while batch := store.claim(ClaimRequest("w", ("sleep",), 60.0)):
        clock.now += 1
        exchange = store.exchange("w", [Report(job.ref, Succeeded()) for job in batch])
        done += [ref.job_id for ref in exchange.accepted]
    assert done[0] == 9
    assert done.index(15) < min(done.index(other) for other in (6, 8, 11, 12)), "moved to the front of its tenant's"
    assert {6, 8, 9, 11, 12, 13, 14, 16, 17} <= {*done}
    assert not store.jobs.upcoming()
    assert store.verify() == []
