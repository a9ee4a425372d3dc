"""Finished jobs are pruned after their retention period; active jobs are never pruned."""

from __future__ import annotations

from gribmill.queue.model import NewJob
from gribmill.queue.store import Store
from gribmill.queue.times import to_text
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.store_driver import add, fail, snooze, stop, succeed, take
from tests.queue.store.tested_backend import BackendUnderTest

DAY = 86_400.0


def test_each_final_status_has_its_own_retention(store: Store, backend: BackendUnderTest, clock: FakeClock) -> None:
    completed, failed, cancelled = add(store), add(store), add(store)
    succeed(store, take(store))
    fail(store, take(store), permanent=True)
    stop(store, take(store))
    clock.advance(3 * DAY)
    assert store.maintenance.prune(3, 90).completed == 0, "exactly as old as it may be"
    clock.advance(0.001)
    planned = store.maintenance.prune(3, 90, dry_run=True)
    assert (planned.completed, planned.failed) == (2, 0)
    assert len(store.jobs.list().jobs) == 3, "a dry run removes nothing"
    assert store.maintenance.prune(3, 90) == planned
    assert [job.id for job in store.jobs.list().jobs] == [failed]
    clock.advance(87 * DAY)
    assert store.maintenance.prune(3, 90).failed == 1
    assert backend.by_hand("SELECT count(*) FROM job_attempts") == [(0,)]
    assert {completed, cancelled}.isdisjoint(job.id for job in store.jobs.list().jobs)


def test_active_jobs_are_kept_however_old(store: Store, clock: FakeClock) -> None:
    running, waiting, delayed = add(store), add(store), add(store, delay_seconds=10**8)
    take(store)
    clock.advance(1000 * DAY)
    assert store.maintenance.prune(0, 0).completed == 0
    assert sorted(job.id for job in store.jobs.list().jobs) == [running, waiting, delayed]


def test_old_attempts_of_an_endlessly_snoozing_job_are_pruned(store: Store, clock: FakeClock) -> None:
    job_id = add(store)
    for _ in range(10):
        snooze(store, take(store), seconds=DAY)
        clock.advance(DAY)
    store.maintenance.prune(3, 90)
    assert [attempt.attempt_no for attempt in store.jobs.history(job_id).attempts] == [8, 9, 10]
    clock.advance(100 * DAY)
    store.maintenance.prune(3, 90)
    assert [attempt.attempt_no for attempt in store.jobs.history(job_id).attempts] == [10], "what it said last"
    assert take(store).attempt_no == 11


def test_attempts_are_pruned_without_gaps_after_the_clock_was_set_back(store: Store, clock: FakeClock) -> None:
    job_id = add(store)
    for step in (30 * DAY, -20 * DAY, 1.0):
        snooze(store, take(store), seconds=0.5)
        clock.advance(step)
        store.jobs.run_now(job_id)
    snooze(store, take(store), seconds=60.0)
    clock.advance(5 * DAY)
    store.maintenance.prune(3, 90)
    assert [attempt.attempt_no for attempt in store.jobs.history(job_id).attempts] == [2, 3, 4], "2 is of a later day"


def test_many_jobs_are_pruned_a_thousand_per_transaction(
    store: Store, backend: BackendUnderTest, clock: FakeClock
) -> None:
    store.jobs.enqueue_many(NewJob("plain") for _ in range(2100))
    backend.by_hand("UPDATE jobs SET status = 'cancelled', completed_at = ?", to_text(clock()))
    clock.advance(1)
    assert store.maintenance.prune(0, 0).completed == 2100
    assert store.jobs.list().jobs == ()


def test_retry_outlives_the_job_it_replaces(store: Store, clock: FakeClock) -> None:
    old = add(store)
    succeed(store, take(store))
    clock.advance(DAY)
    new = store.jobs.retry(old)
    store.maintenance.prune(0.5, 0.5)
    assert store.jobs.get(new.id).retry_of is None


def test_silent_workers_and_old_reservations_are_pruned(
    store: Store, backend: BackendUnderTest, clock: FakeClock
) -> None:
    add(store)
    take(store, "busy", lease=10 * DAY)
    for name in ("busy", "gone", "here"):
        store.workers.heartbeat(name, 10 * DAY)
    store.reservations.release(store.reservations.reserve("me", 5).id)
    clock.advance(7 * DAY + 6)
    store.workers.heartbeat("here", 60)
    store.maintenance.prune(1, 1)
    assert {worker.id for worker in store.workers.list()} == {"busy", "here"}
    assert backend.by_hand("SELECT count(*) FROM direct_reservations") == [(0,)]


def test_a_parent_is_not_removed_before_its_child_is_released(
    store: Store, backend: BackendUnderTest, clock: FakeClock
) -> None:
    parent = add(store)
    child = add(store, after=(parent,))
    take(store)
    backend.by_hand("UPDATE jobs SET status = 'completed', completed_at = '2020-01-01' WHERE id = ?", parent)
    assert store.maintenance.prune(0, 0).completed == 0
    assert take(store).id == child
    assert store.maintenance.prune(0, 0).completed == 1
