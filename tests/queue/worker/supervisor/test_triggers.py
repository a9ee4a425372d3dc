"""Workers fire schedules at the slot, without polling, each slot once."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gribmill.queue.errors import StoreError
from gribmill.queue.model import NewTrigger
from gribmill.queue.store import Store
from gribmill.queue.store.events.triggers import Triggers
from gribmill.queue.times import to_text
from gribmill.queue.worker.in_process import Ticker
from tests.queue.worker.worker_driver import SteppedWorker

pytestmark = pytest.mark.process


def every_minute(store: Store, database: Path, due_in: float) -> int:
    """A schedule whose next slot is this close, so that the test need not wait for a full minute."""
    rule = NewTrigger("every minute", "stunt", {"do": "nothing"}, cron="* * * * *")
    trigger = store.triggers.add(rule).id
    say_due(store, database, trigger, due_in)
    store.database.announce()
    return trigger


def say_due(store: Store, database: Path, trigger: int, due_in: float) -> None:
    with sqlite3.connect(database) as connection:
        due = to_text(store.database.clock() + due_in)  # type: ignore[attr-defined]
        connection.execute("UPDATE job_triggers SET next_trigger_at = ? WHERE id = ?", (due, trigger))
    connection.close()


def made_by(store: Store, trigger: int) -> list[Any]:
    return [job for job in store.jobs.list().jobs if (job.source_ref or "").startswith(f"trigger {trigger}: ")]


def test_slot_missed_while_no_worker_ran_is_made_up_at_the_start(
    new_worker: Callable[..., SteppedWorker], store: Store, database: Path
) -> None:
    trigger = every_minute(store, database, -120.0)
    worker = new_worker(poll_seconds=60.0, lease_seconds=3000.0)
    (job,) = worker.until(lambda: made_by(store, trigger), "the slot's job")
    assert worker.finish(job.id)[0].status == "completed"


def test_trigger_added_while_a_worker_runs_fires_without_a_poll(
    new_worker: Callable[..., SteppedWorker], store: Store, database: Path
) -> None:
    worker = new_worker(poll_seconds=600.0, lease_seconds=3000.0)
    worker.ready()
    trigger = every_minute(store, database, -70.0)
    while not made_by(store, trigger):
        worker.supervisor.run_once(worker.supervisor._wait_seconds())
    (job,) = made_by(store, trigger)
    assert worker.finish(job.id)[0].status == "completed"


def test_a_change_without_a_wake_up_is_seen_at_the_next_heartbeat(
    new_worker: Callable[..., SteppedWorker], store: Store, database: Path
) -> None:
    trigger = every_minute(store, database, 900.0)
    worker = new_worker(poll_seconds=600.0, lease_seconds=3.0)
    worker.ready()
    clockwork = worker.supervisor._triggers
    worker.until(lambda: clockwork.next_look > time.monotonic() + 60, "the schedule to be far away")
    say_due(store, database, trigger, -120.0)
    assert worker.until(lambda: made_by(store, trigger), "the slot's job")


def test_two_workers_fire_a_slot_once(new_worker: Callable[..., SteppedWorker], store: Store, database: Path) -> None:
    trigger = every_minute(store, database, -120.0)
    one, two = new_worker(), new_worker()
    one.until(lambda: made_by(store, trigger), "the slot's job")
    for worker in (one, two):
        # A worker that slept for a moment still sees the slot as due.
        say_due(store, database, trigger, -120.0)
        worker.supervisor._triggers.next_look = 0.0
        worker.supervisor.run_once(0.0)
    slots = [job.source_ref for job in made_by(store, trigger)]
    assert len(slots) == len(set(slots))


def test_draining_worker_fires_nothing_more(
    new_worker: Callable[..., SteppedWorker], store: Store, database: Path
) -> None:
    worker = new_worker()
    worker.ready()
    worker.supervisor.draining = True
    trigger = every_minute(store, database, -120.0)
    worker.supervisor._triggers.next_look = 0.0
    worker.supervisor.run_once(0.0)
    assert made_by(store, trigger) == []


def test_a_failing_database_delays_schedules_and_does_not_stop_the_worker(
    new_worker: Callable[..., SteppedWorker], store: Store, database: Path, monkeypatch: Any
) -> None:
    worker = new_worker()
    worker.ready()
    trigger = every_minute(store, database, -120.0)
    with monkeypatch.context() as patch:
        patch.setattr(Triggers, "fire_due", _broken)
        worker.supervisor._triggers.next_look = 0.0
        worker.supervisor.run_once(0.0)
    worker.until(lambda: made_by(store, trigger), "the slot's job after all")
    assert len(made_by(store, trigger)) == 1


def _broken(_: Store) -> None:
    raise StoreError("the disk is gone")


def test_tick_fires_due_triggers(store: Store, database: Path) -> None:
    trigger = every_minute(store, database, -120.0)
    (ran,) = Ticker(store, 60.0).tick(5, ["stunt"])
    assert [job.id for job in made_by(store, trigger)] == [ran.job.id]
