"""What a sweep repairs and reports besides expired leases."""

from __future__ import annotations

import threading

import pytest

from gribmill.queue.model import HeldAttempt, NewJob
from gribmill.queue.store import Store
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.sample_types import TYPES
from tests.queue.store.store_driver import LEASE, add, attempts, fail, snooze, take
from tests.queue.store.tested_backend import BackendUnderTest


def end_attempt(backend: BackendUnderTest, job_id: int, status: str, error: str | None = None) -> None:
    """End the attempt but not its job, as if the worker had died in between."""
    sql = f"UPDATE job_attempts SET status = '{status}', finished_at = started_at, error_text = '{error}'"
    backend.by_hand(f"{sql} WHERE job_id = {job_id}")


@pytest.mark.parametrize("ended", ["failed", "timeout"])
def test_running_job_with_a_failed_attempt_ends_as_the_failure_says(
    backend: BackendUnderTest, store: Store, clock: FakeClock, ended: str
) -> None:
    job_id = add(store)
    take(store)
    end_attempt(backend, job_id, ended, "the disk broke")
    clock.advance(LEASE + 1)
    assert store.maintenance.recover().requeued == (job_id,)
    job = store.jobs.get(job_id)
    assert (job.status, job.retry_count, job.error_message) == ("pending", 1, "the disk broke")
    assert attempts(store, job_id) == [ended], "nothing was lost: no attempt is added or changed"
    assert store.events.list(pattern="job.recovered") == []


def test_failed_attempt_of_a_type_that_fails_when_lost_is_still_retried(
    backend: BackendUnderTest, store: Store, clock: FakeClock
) -> None:
    """`on_lost = fail` is about attempts whose outcome is unknown."""
    job_id = add(store, "fragile")
    take(store)
    end_attempt(backend, job_id, "failed", "no answer")
    clock.advance(LEASE + 1)
    store.maintenance.recover()
    assert store.jobs.get(job_id).status == "pending"


def test_running_job_with_its_last_attempt_failed_is_a_dead_letter(
    backend: BackendUnderTest, store: Store, clock: FakeClock
) -> None:
    job_id = add(store, max_attempts=1)
    take(store)
    end_attempt(backend, job_id, "failed", "the disk broke")
    clock.advance(LEASE + 1)
    assert store.maintenance.recover().ended == (job_id,)
    job = store.jobs.get(job_id)
    assert (job.status, job.error_message) == ("failed", "the disk broke")
    assert job.dead_lettered_at is not None


@pytest.mark.parametrize(("ended", "status"), [("cancelled", "cancelled"), ("snoozed", "pending")])
def test_running_job_follows_its_cancelled_or_snoozed_attempt(
    backend: BackendUnderTest, store: Store, clock: FakeClock, ended: str, status: str
) -> None:
    job_id = add(store)
    take(store)
    end_attempt(backend, job_id, ended)
    clock.advance(LEASE + 1)
    store.maintenance.recover()
    job = store.jobs.get(job_id)
    assert (job.status, job.retry_count) == (status, 0)


def test_running_attempt_whose_job_does_not_run_is_ended(
    backend: BackendUnderTest, store: Store, clock: FakeClock
) -> None:
    job_id = add(store)
    fail(store, take(store))
    clock.advance(100)
    fail(store, take(store), permanent=True)
    backend.by_hand("DELETE FROM job_attempts WHERE attempt_no = 2")
    insert = "INSERT INTO job_attempts (job_id, attempt_no, worker_id, started_at, status)"
    backend.by_hand(f"{insert} SELECT job_id, 2, worker_id, started_at, 'running' FROM job_attempts")
    assert {one.invariant for one in store.verify()} >= {"running_attempt_has_a_running_job"}
    assert store.maintenance.sweep_orphans() == 1
    assert attempts(store, job_id) == ["failed", "lost"]
    assert store.maintenance.sweep_orphans() == 0


def test_running_attempt_of_a_running_job_is_left_alone(store: Store) -> None:
    job_id = add(store)
    take(store)
    assert store.maintenance.sweep_orphans() == 0
    assert attempts(store, job_id) == ["running"]


def test_silent_worker_without_a_job_is_reported_lost_once(store: Store, clock: FakeClock) -> None:
    store.workers.heartbeat("idle", LEASE)
    store.workers.heartbeat("gone", LEASE, state="stopped")
    clock.advance(LEASE - 1)
    assert store.maintenance.lose_silent_workers(LEASE) == ()
    clock.advance(2)
    assert list(store.maintenance.lose_silent_workers(LEASE)) == ["idle"]
    assert store.maintenance.lose_silent_workers(LEASE) == ()
    (event,) = store.events.list(pattern="worker.lost")
    assert event.values["worker_id"] == "idle"
    held: list[HeldAttempt] = list(store.workers.heartbeat("idle", LEASE))
    assert held == []
    clock.advance(LEASE + 1)
    assert list(store.maintenance.lose_silent_workers(LEASE)) == ["idle"], "it came back, and is lost again"


@pytest.mark.parametrize("mode", ["same_row", "new_job"])
def test_polls_are_counted_over_a_chain_of_retries(store: Store, mode: str) -> None:
    """After two snoozes and a failure the third snooze exceeds the limit, whether or not the retry is a new job."""
    store.definitions.edit("polling", {"poll_limit": 2, "retry_as": mode, "max_attempts": 3})
    add(store, "polling")
    for _ in range(2):
        snooze(store, take(store, types=("polling",)), 0)
    fail(store, take(store, types=("polling",)), retry_in=0.0)
    again = take(store, types=("polling",))
    snooze(store, again, 0)
    job = store.jobs.get(again.id)
    assert (job.status, "snoozed 2 times" in (job.error_message or "")) == ("failed", True)


def test_child_added_while_recovery_ends_its_parent_is_released(
    store: Store, backend: BackendUnderTest, clock: FakeClock
) -> None:
    """The attempt succeeded but its job's row was not written. Recovery waits for the transaction that adds a child."""
    parent = add(store)
    take(store)
    end_attempt(backend, parent, "succeeded")
    clock.advance(LEASE)
    adding, recovering = backend.open(), threading.Thread(target=backend.open().maintenance.recover)
    with adding.database.write() as tx:
        (child,) = tx.insert_jobs([TYPES.prepare(NewJob("plain", {}, after=(parent,)))])
        recovering.start()
        backend.wait_for_a_blocked_writer(recovering)
    recovering.join()
    assert store.jobs.get(parent).status == "completed"
    assert take(store).id == child.id


@pytest.mark.parametrize("mode", ["same_row", "new_job"])
def test_retries_and_snoozes_keep_their_delay_after_the_clock_is_set_back(
    store: Store, clock: FakeClock, mode: str
) -> None:
    store.definitions.edit("plain", {"retry_as": mode, "backoff_jitter": 0})
    wanted = add(store, delay_seconds=200_000.0)
    clock.advance(86_400)
    add(store)
    snoozed = add(store, "polling")
    fail(store, take(store, types=("plain",)))
    snooze(store, take(store, types=("polling",)), 60)
    clock.advance(-86_400)
    assert store.maintenance.shorten_waits() == 2
    waits = {job.id: job.next_run_at.timestamp() - clock() for job in store.jobs.list().jobs if job.next_run_at}
    assert waits.pop(wanted) == 200_000, "a time that somebody wanted stays"
    assert waits.pop(snoozed) == 60
    assert [*waits.values()] == [10]
    assert store.maintenance.shorten_waits() == 0
    assert store.verify() == []


def test_delays_are_unchanged_while_the_clock_is_steady(store: Store, clock: FakeClock) -> None:
    job_id = add(store)
    fail(store, take(store))
    before = store.jobs.get(job_id)
    clock.advance(1)
    assert store.maintenance.shorten_waits() == 0
    assert store.jobs.get(job_id) == before
