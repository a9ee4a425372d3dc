"""Waits and rates against examples computed manually: a wait begins when an attempt could have started."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gribmill.queue.model import Claimed
from gribmill.queue.store import Store
from gribmill.queue.store.types.types import Throughput
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.store_driver import LEASE, add, claim, fail, snooze, stop, succeed, take
from tests.queue.store.tested_backend import BackendUnderTest


def oldest(store: Store) -> float | None:
    found = store.types.oldest_ready()
    assert found == store.metrics.oldest_ready().get("plain")
    return found


def test_wait_of_each_attempt_begins_when_it_could_have_started(store: Store, clock: FakeClock) -> None:
    store.events.record("attempt.metered", wanted=True)
    begun = datetime.fromtimestamp(clock(), UTC)
    parent = add(store, "fragile")
    running = take(store)
    job_id = add(store, delay_seconds=60, max_attempts=9, after=(parent,))
    clock.advance(100)
    succeed(store, running)
    waits: list[float] = []

    def take_after(seconds: float) -> Claimed:
        clock.advance(seconds)
        assert oldest(store) == seconds
        job = take(store)
        assert (job.id, oldest(store)) == (job_id, None)
        waits.append(seconds)
        clock.advance(11)
        return job

    fail(store, take_after(3), retry_in=200.0)  # the parent ended later than the delay
    clock.advance(200)
    snooze(store, take_after(7), 50)  # after the time that the failure asked for
    clock.advance(50)
    snooze(store, take_after(2), 0)
    fail(store, take_after(5), retry_in=1000.0)
    clock.advance(400)
    store.jobs.run_now(job_id)
    take_after(4)
    clock.advance(LEASE)
    assert store.maintenance.recover().requeued == (job_id,)
    due = store.jobs.get(job_id).next_run_at
    assert due is not None
    clock.advance(due.timestamp() - clock())
    succeed(store, take_after(6))  # after the backoff of the lost attempt

    assert [one.wait_seconds for one in store.attempts.of(job_id)] == pytest.approx(waits)
    metered = [event.values for event in reversed(store.events.list(pattern="attempt.metered", limit=100))]
    assert [one["wait_seconds"] for one in metered if one["job_id"] == job_id] == pytest.approx(waits, abs=0.002)
    ended = [one for one in store.metrics.ended_since(begun) if one.job_id == job_id]
    assert [one.wait_seconds for one in ended] == pytest.approx(waits, abs=0.01)
    assert [one.retried for one in ended] == [True, False, False, True, True, False]
    (plain,) = [one for one in store.types.stats() if one.type == "plain"]
    assert plain.wait_p50 == pytest.approx(waits[0], abs=0.01), "of its first attempt"


def test_manually_reset_job_waits_from_the_reset_on(backend: BackendUnderTest, store: Store, clock: FakeClock) -> None:
    job_id = add(store)
    clock.advance(5)
    fail(store, take(store), permanent=True)
    clock.advance(86_400)
    backend.by_hand("UPDATE jobs SET status = 'pending', retry_count = retry_count + 1 WHERE id = ?", job_id)
    ((ready, created),) = backend.by_hand("SELECT ready_at, created_at FROM jobs WHERE id = ?", job_id)
    assert ready is not None and ready != created
    ((first,),) = backend.by_hand("SELECT ready_at FROM job_attempts WHERE job_id = ?", job_id)
    assert first == created, "the wait of its first attempt stays"
    assert [one.wait_seconds for one in store.attempts.of(job_id)] == [5]


def test_rates_of_a_minute_and_an_hour_match_manual_results(store: Store, clock: FakeClock) -> None:
    """Six jobs at 0 s and two at 100 s, observed until 150 s."""
    for _ in range(6):
        add(store, max_attempts=2)
    succeed(store, take(store))
    fail(store, take(store), retry_in=80.0)
    fail(store, take(store), permanent=True)
    fail(store, take(store), retry_in=1000.0)
    stop(store, take(store))
    sixth = take(store)
    waiting = next(job for job in store.jobs.list().jobs if job.next_run_at is not None and job.id != 2)
    assert store.types.rates()["hour"] == Throughput(6, 1, 1, 1, 0, retried=2)
    clock.advance(100)
    store.jobs.cancel(waiting.id)
    for _ in range(2):
        add(store, max_attempts=2)
    fail(store, take(store))  # the second attempt of the second job: a dead letter
    succeed(store, sixth)
    clock.advance(50)
    rates = store.types.rates()
    assert rates["minute"] == Throughput(2, 1, 1, 1, 1, retried=0)
    assert rates["hour"] == Throughput(8, 2, 2, 2, 1, retried=1), "the cancelled job was not tried again"
    assert store.types.rates("t")["hour"] == Throughput(0, 0, 0, 0, 0, 0)


def test_retry_as_a_new_job_counts_as_one(store: Store, clock: FakeClock) -> None:
    begun = datetime.fromtimestamp(clock(), UTC)
    store.definitions.edit("plain", {"retry_as": "new_job", "max_attempts": 2})
    first = add(store)
    fail(store, take(store))
    clock.advance(100)
    fail(store, take(store))
    assert claim(store) == ()
    assert store.types.rates()["hour"] == Throughput(2, 0, 2, 0, 1, retried=1)
    assert [(one.job_id, one.retried) for one in store.metrics.ended_since(begun)] == [
        (first, True),
        (first + 1, False),
    ]
