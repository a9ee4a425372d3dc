"""Operators cancel and retry jobs, and pause and resume types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from gribmill.queue.errors import JobNotFound, NotAllowed, UnknownJobType
from gribmill.queue.job_type import Registry
from gribmill.queue.model import Claimed, Enqueued, Failed, NewJob, Outcome, Snoozed, Stopped
from gribmill.queue.store import Store
from gribmill.queue.store.jobs.listing import JobFilter
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.sample_types import TYPES
from tests.queue.store.store_driver import LEASE, add, attempts, claim, drain, fail, report, stop, succeed, take
from tests.queue.store.tested_backend import BackendUnderTest


def test_pending_job_is_cancelled_at_once(store: Store) -> None:
    ready, delayed = add(store), add(store, delay_seconds=50)
    for job_id in (ready, delayed):
        assert store.jobs.cancel(job_id, "not needed") == "cancelled"
        row = store.jobs.get(job_id)
        assert (row.status, row.error_message, row.next_run_at) == ("cancelled", "not needed", None)
        assert row.completed_at is not None
    assert claim(store) == ()
    assert store.jobs.seconds_to_next_due() is None


def test_cancelled_running_job_is_marked_and_its_worker_notified(store: Store, clock: FakeClock) -> None:
    job_id = add(store)
    job = take(store)
    assert store.attempts.cancellations("w1") == []
    assert store.jobs.cancel(job_id, "not needed") == "requested"
    asked = store.jobs.get(job_id).cancel_requested_at
    clock.advance(5)
    assert store.jobs.cancel(job_id, "once more") == "requested"
    assert store.jobs.get(job_id).cancel_requested_at == asked is not None
    assert store.attempts.cancellations("w1") == [job.ref]
    assert store.attempts.cancellations("w2") == []
    (held,) = store.workers.heartbeat("w1", LEASE)
    assert held.cancel_requested
    stop(store, job)
    row = store.jobs.get(job_id)
    assert (row.status, row.error_message) == ("cancelled", "not needed"), "the first request's reason stays"


@pytest.mark.parametrize("outcome", [Failed("broke"), Failed("x", timeout=True), Snoozed(5), Stopped()], ids=repr)
def test_after_a_cancel_request_every_end_except_success_is_cancelled(store: Store, outcome: Outcome) -> None:
    job_id = add(store)
    job = take(store)
    store.jobs.cancel(job_id)
    report(store, job, outcome)
    row = store.jobs.get(job_id)
    assert (row.status, row.dead_lettered_at) == ("cancelled", None)
    assert attempts(store, job_id) == ["cancelled"]


def test_a_success_wins_over_a_cancel_request(store: Store) -> None:
    job_id = add(store)
    job = take(store)
    store.jobs.cancel(job_id)
    succeed(store, job)
    assert store.jobs.get(job_id).status == "completed"


def test_a_cancel_request_survives_the_worker(store: Store, clock: FakeClock) -> None:
    job_id = add(store)
    take(store)
    store.jobs.cancel(job_id, "not needed")
    clock.advance(LEASE)
    assert store.maintenance.recover().ended == (job_id,)
    row = store.jobs.get(job_id)
    assert (row.status, row.error_message) == ("cancelled", "not needed")
    assert attempts(store, job_id) == ["lost"]


ENDS: dict[str, Callable[[Store, Claimed], object]] = {
    "completed": succeed,
    "failed": lambda store, job: fail(store, job, permanent=True),
    "cancelled": stop,
}


@pytest.mark.parametrize("status", sorted(ENDS))
def test_ended_job_cannot_be_cancelled(store: Store, status: str) -> None:
    job_id = add(store)
    ENDS[status](store, take(store))
    with pytest.raises(NotAllowed, match=f"ended already .{status}"):
        store.jobs.cancel(job_id)
    with pytest.raises(JobNotFound):
        store.jobs.cancel(99)


@pytest.mark.parametrize("status", sorted(ENDS))
def test_retry_is_a_new_row_that_names_the_old_one(store: Store, status: str) -> None:
    made = store.jobs.enqueue(
        NewJob("tile", {"hour": 3, "region": "sw"}, priority=4, max_attempts=7, tenant_id="t", correlation_id="c")
    )
    ENDS[status](store, take(store))
    before = store.jobs.history(made.id)
    again = store.jobs.retry(made.id, created_by="ann")
    assert again.created
    row = store.jobs.get(again.id)
    assert (row.retry_of, row.status, row.attempt_no, row.retry_count) == (made.id, "pending", 0, 0)
    assert (row.type, row.args, row.priority, row.max_attempts) == ("tile", before.job.args, 4, 7)
    assert (row.tenant_id, row.correlation_id, row.group_key, row.created_by) == ("t", "c", "hour/003", "ann")
    assert store.jobs.get(made.id) == before.job, "what has ended is not rewritten"
    assert take(store).id == again.id
    assert [relative.id for relative in store.jobs.history(made.id).chain] == [made.id, again.id]


def test_retry_of_an_active_job_is_refused(store: Store) -> None:
    pending, running = add(store, priority=-1), add(store)
    take(store)
    for job_id in (pending, running):
        with pytest.raises(NotAllowed, match="only a finished job"):
            store.jobs.retry(job_id)
    with pytest.raises(JobNotFound):
        store.jobs.retry(99)


def test_retry_returns_an_equal_active_job(store: Store) -> None:
    first = store.jobs.enqueue(NewJob("unique", {"n": 1}))
    succeed(store, take(store))
    second = store.jobs.enqueue(NewJob("unique", {"n": 1}))
    again = store.jobs.retry(first.id)
    assert (again.id, again.created) == (second.id, False)
    assert store.jobs.get(second.id).retry_of is None


def test_retry_twice_of_a_unique_job_is_one_job(store: Store) -> None:
    first = store.jobs.enqueue(NewJob("unique", {"n": 1}))
    succeed(store, take(store))
    assert store.jobs.retry(first.id).created
    assert not store.jobs.retry(first.id).created


@pytest.mark.parametrize("end", sorted(ENDS))
def test_job_is_retried_only_once_however_its_retry_ended(store: Store, end: str) -> None:
    first = add(store)
    fail(store, take(store), permanent=True)
    second = store.jobs.retry(first)
    assert (store.jobs.retry(first).id, store.jobs.retry(first).created) == (second.id, False), "while it waits"
    ENDS[end](store, take(store))
    assert store.jobs.retry(first) == Enqueued(second.id, created=False), "nor afterwards"
    third = store.jobs.retry(second.id)
    assert third.created, "but the retry itself can be retried"
    assert len(store.jobs.list().jobs) == 3


def test_a_filter_finds_failed_jobs_that_were_not_retried(store: Store) -> None:
    ids = [add(store), add(store), add(store)]
    for _ in ids:
        fail(store, take(store), permanent=True)
    store.jobs.retry(ids[1])
    assert [job.id for job in store.jobs.list(JobFilter(status="failed", retried=False)).jobs] == [ids[2], ids[0]]
    for status in (None, "failed"):
        assert [job.id for job in store.jobs.list(JobFilter(status=status, retried=True)).jobs] == [ids[1]]


def test_paused_type_does_not_start_and_resumes_where_it_was(store: Store, backend: BackendUnderTest) -> None:
    running, first, second = add(store), add(store), add(store)
    other = add(store, "fragile")
    job = take(store)
    store.types.pause("plain")
    assert drain(store) == [other]
    assert succeed(store, job).accepted, "what runs goes on"
    assert store.jobs.get(running).status == "completed"
    assert drain(backend.open()) == [], "opening the queue again does not resume"
    assert [stats.type for stats in store.types.stats() if stats.paused] == ["plain"]
    store.types.resume("plain")
    assert drain(store) == [first, second]


def test_pausing_an_unknown_type_is_refused(store: Store) -> None:
    for act in (store.types.pause, store.types.resume):
        with pytest.raises(UnknownJobType, match="'nonsense'"):
            act("nonsense")


def test_only_pending_jobs_can_be_run_now(store: Store) -> None:
    job_id = add(store)
    take(store)
    with pytest.raises(NotAllowed, match="processing"):
        store.jobs.run_now(job_id)


def test_changed_declaration_takes_effect_and_keeps_the_pause(store: Store, backend: BackendUnderTest) -> None:
    store.types.pause("plain")
    changed = [replace(kind, max_running=1) if kind.key == "plain" else kind for kind in TYPES]
    other = backend.open(Registry(*changed))
    assert claim(other) == ()
    ids = [add(other), add(other)]
    assert claim(other) == (), "declaring it again does not resume it"
    other.types.resume("plain")
    assert take(other).id == ids[0]
    assert claim(other) == ()
