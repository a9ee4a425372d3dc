"""Scenarios for G1–G10. Each passes on the real store; every broken variant must fail at least one."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

import pytest

from gribmill.queue.errors import Reserved
from gribmill.queue.model import Claimed, Failed, NewJob, NewTrigger, Outcome, Report, Snoozed, Stopped, Succeeded
from tests.queue.store.store_driver import (
    LEASE,
    add,
    asks,
    attempts,
    claim,
    drain,
    fail,
    report,
    snooze,
    stop,
    succeed,
    take,
)
from tests.queue.store.tested_backend import BackendUnderTest


def committed_job_is_there_for_every_process(backend: BackendUnderTest) -> None:
    """G1: once enqueue returns, the job is in the database and stays until it has ended."""
    made = backend.store.jobs.enqueue_many([NewJob("plain", {"n": n}) for n in range(30)])
    backend.store.close()
    other = backend.open()
    assert [job.id for job in reversed(other.jobs.list(limit=100).jobs)] == [job.id for job in made]
    assert drain(other) == [job.id for job in made]
    assert {job.status for job in other.jobs.list(limit=100).jobs} == {"processing"}


def killed_worker_loses_no_job(backend: BackendUnderTest) -> None:
    """G1: a job survives the death of its workers until its attempts are used up."""
    job_id = add(backend.store, max_attempts=3)
    for _ in range(3):
        assert take(backend.store).id == job_id
        backend.clock.advance(LEASE)
        backend.store.maintenance.recover()
        backend.clock.advance(100)
    assert backend.store.jobs.get(job_id).status == "failed"


def attempt_is_given_to_one_worker(backend: BackendUnderTest) -> None:
    """G2: with many concurrent workers, each (job, attempt) is given to only one."""
    count, hands = 60, 4
    backend.store.jobs.enqueue_many([NewJob("plain", {"n": n}) for n in range(count)])
    seen: list[tuple[int, int]] = []
    errors: list[BaseException] = []

    def work(name: str) -> None:
        store = backend.open()
        try:
            while batch := claim(store, name):
                seen.extend((job.id, job.attempt_no) for job in batch)
                for job in batch:
                    assert succeed(store, job, name).accepted == (job.ref,)
        except BaseException as error:  # noqa: BLE001 — reported to the test below
            errors.append(error)
        finally:
            store.close()

    threads = [threading.Thread(target=work, args=(f"w{n}",)) for n in range(hands)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert max(Counter(seen).values()) == 1
    assert len(seen) == count
    assert backend.store.verify() == []


def claimed_job_is_not_given_again(backend: BackendUnderTest) -> None:
    """G2: while a lease lasts, no other worker gets the job."""
    add(backend.store)
    take(backend.store, "w1")
    assert claim(backend.open(), "w2") == ()
    backend.clock.advance(LEASE - 0.001)
    assert len(backend.store.maintenance.recover()) == 0
    assert claim(backend.store, "w2") == ()


def _zombie(backend: BackendUnderTest) -> tuple[int, Claimed, Claimed]:
    """A job whose first worker outlived its lease, now claimed by a second worker."""
    job_id = add(backend.store)
    old = take(backend.store, "zombie")
    backend.clock.advance(LEASE)
    backend.store.maintenance.recover()
    backend.clock.advance(100)
    return job_id, old, take(backend.store, "heir")


def _zombie_changes_nothing(backend: BackendUnderTest, outcome: Outcome) -> None:
    job_id, old, new = _zombie(backend)
    child = add(backend.store, after=(job_id,))
    before = backend.store.jobs.history(job_id)
    exchange = report(backend.store, old, outcome, "zombie")
    assert (exchange.accepted, exchange.fenced) == ((), (old.ref,))
    assert backend.store.jobs.history(job_id) == before
    # Neither under the new worker's name, nor with the new attempt number under the old name.
    assert report(backend.store, old, outcome, "heir").fenced == (old.ref,)
    assert report(backend.store, new, outcome, "zombie").fenced == (new.ref,)
    assert backend.store.jobs.history(job_id) == before
    assert len(backend.store.jobs.list().jobs) == 2, "a fenced worker's follow-up jobs must not exist"
    assert backend.store.jobs.get(child).deps_left == 1
    assert succeed(backend.store, new, "heir").accepted == (new.ref,)
    assert attempts(backend.store, job_id) == ["lost", "succeeded"]
    assert backend.store.verify() == []


def fenced_success_changes_nothing(backend: BackendUnderTest) -> None:
    """G3: a worker that outlived its lease completes nothing, and its follow-up jobs never exist."""
    _zombie_changes_nothing(backend, Succeeded(then=(NewJob("plain"),)))


def fenced_failure_changes_nothing(backend: BackendUnderTest) -> None:
    """G3: it cannot fail a job that another worker runs."""
    _zombie_changes_nothing(backend, Failed("too late"))


def fenced_last_failure_changes_nothing(backend: BackendUnderTest) -> None:
    """G3: it cannot fail it permanently."""
    _zombie_changes_nothing(backend, Failed("too late", permanent=True))


def fenced_snooze_changes_nothing(backend: BackendUnderTest) -> None:
    """G3: it cannot put it back."""
    _zombie_changes_nothing(backend, Snoozed(5))


def fenced_stop_changes_nothing(backend: BackendUnderTest) -> None:
    """G3: it cannot stop it."""
    _zombie_changes_nothing(backend, Stopped())


def job_succeeds_once(backend: BackendUnderTest) -> None:
    """G3: a second report on the same attempt is fenced, even in the same call."""
    job_id = add(backend.store)
    job = take(backend.store)
    assert succeed(backend.store, job).accepted
    for again in (Succeeded(then=(NewJob("plain"),)), Failed("no"), Snoozed(1), Stopped()):
        assert report(backend.store, job, again).fenced == (job.ref,)
    assert attempts(backend.store, job_id) == ["succeeded"]
    assert len(backend.store.jobs.list().jobs) == 1


def job_of_a_dead_worker_comes_back_after_its_lease(backend: BackendUnderTest) -> None:
    """G4: the job comes back at the first sweep after its lease expires, and not before."""
    job_id = add(backend.store)
    take(backend.store, "dead")
    backend.clock.advance(LEASE - 0.001)
    assert len(backend.store.maintenance.recover()) == 0
    assert backend.store.jobs.get(job_id).status == "processing"
    backend.clock.advance(0.001)
    assert backend.store.maintenance.recover().requeued == (job_id,)
    wait = backend.store.jobs.seconds_to_next_due()
    assert wait is not None
    assert 9.0 <= wait <= 10.0, "one backoff of the type, nothing longer"
    backend.clock.advance(wait)
    again = take(backend.store, "alive")
    assert (again.id, again.attempt_no) == (job_id, 2)


def heartbeat_keeps_the_job(backend: BackendUnderTest) -> None:
    """G4: a live worker keeps its jobs."""
    job_id = add(backend.store)
    job = take(backend.store)
    for _ in range(5):
        backend.clock.advance(LEASE - 1)
        assert [held.ref for held in backend.store.workers.heartbeat("w1", LEASE)] == [job.ref]
        assert len(backend.store.maintenance.recover()) == 0
    assert backend.store.jobs.get(job_id).status == "processing"


def claims_follow_the_total_order(backend: BackendUnderTest) -> None:
    """G5: descending priority, ascending position, age, id; across all types."""
    store, clock = backend.store, backend.clock
    late_low = add(store, "plain", priority=-1)
    first = add(store, "plain")
    clock.advance(1)
    second = add(store, "unique", {"n": 1})
    third = add(store, "fragile")
    urgent = add(store, "tile", {"hour": 1}, priority=5)
    parked = add(store, "plain")
    store.jobs.move_to_back(parked)
    pinned = add(store, "plain")
    store.jobs.move_to_front(pinned)
    assert [job.id for job in store.jobs.upcoming()] == [urgent, pinned, first, second, third, parked, late_low]
    assert drain(store) == [urgent, pinned, first, second, third, parked, late_low]


def job_runs_at_most_its_attempts(backend: BackendUnderTest) -> None:
    """G6: failures and crashes each cost an attempt; after the last the job is a dead letter."""
    job_id = add(backend.store, max_attempts=4)
    for crash in (False, True, True, False):
        job = take(backend.store)
        if crash:
            backend.clock.advance(LEASE)
            backend.store.maintenance.recover()
        else:
            fail(backend.store, job)
        backend.clock.advance(1000)
        assert backend.store.verify() == []
    assert claim(backend.store) == ()
    ended = backend.store.jobs.get(job_id)
    assert (ended.status, ended.attempt_no, ended.retry_count) == ("failed", 4, 3)
    assert ended.dead_lettered_at is not None
    assert attempts(backend.store, job_id) == ["failed", "lost", "lost", "failed"]


def equal_active_jobs_are_one(backend: BackendUnderTest) -> None:
    """G7: one active job per tenant and key, while the first waits, runs, or waits to be retried."""
    store = backend.store
    first = store.jobs.enqueue(NewJob("plain", dedupe_key="k"))
    for _ in range(2):
        again = store.jobs.enqueue(NewJob("plain", {"n": 2}, dedupe_key="k"))
        assert (again.id, again.created) == (first.id, False)
        job = take(store)
        assert store.jobs.enqueue(NewJob("plain", dedupe_key="k")).id == first.id
        fail(store, job)
        assert store.jobs.enqueue(NewJob("plain", dedupe_key="k")).id == first.id
        backend.clock.advance(100)
    other = store.jobs.enqueue(NewJob("plain", dedupe_key="k", tenant_id="elsewhere"))
    assert other.created
    assert store.verify() == []


def one_firing_per_slot(backend: BackendUnderTest) -> None:
    """G8: the slot's row decides, even if two workers believe that they lead and one of them is late."""
    one, two = backend.store, backend.open()
    one.triggers.add(NewTrigger("every minute", "plain", {"n": 1}, cron="* * * * *"))
    backend.clock.advance(60)
    due = backend.by_hand("SELECT next_trigger_at FROM job_triggers")[0][0]
    assert len(one.triggers.fire_due()) == 1
    assert two.triggers.fire_due() == []
    backend.by_hand("UPDATE job_triggers SET next_trigger_at = ?", due)
    assert two.triggers.fire_due() == [], "a worker that still takes it for due makes no second job"
    backend.clock.advance(60)
    assert len(two.triggers.fire_due()) == 1
    assert len(one.jobs.list().jobs) == 2
    assert one.verify() == []


def one_leader_at_a_time(backend: BackendUnderTest) -> None:
    """G8: a leader lease has one holder; its term grows with each change, which identifies stale holders."""
    one, two = backend.store, backend.open()
    assert one.workers.take_lease("scheduler", "a", 15) == 1
    assert two.workers.take_lease("scheduler", "b", 15) is None
    backend.clock.advance(10)
    assert one.workers.take_lease("scheduler", "a", 15) == 1
    backend.clock.advance(14.999)
    assert two.workers.take_lease("scheduler", "b", 15) is None
    backend.clock.advance(0.001)
    assert two.workers.take_lease("scheduler", "b", 15) == 2
    assert one.workers.take_lease("scheduler", "a", 15) is None
    assert one.workers.take_lease("scheduler", "b", 15, renew=False) is None


def nothing_starts_under_a_reservation(backend: BackendUnderTest) -> None:
    """G9: no job starts, as head or as sibling, until release or expiry."""
    store = backend.store
    add(store, "tile", {"hour": 1, "region": "a"})
    head = take(store)
    add(store, "tile", {"hour": 1, "region": "b"})
    add(store, "plain")
    held = store.reservations.reserve("me", 100)
    assert claim(store) == ()
    assert store.claim_siblings(asks(), head, 5) == ()
    with pytest.raises(Reserved, match="reserved by me"):
        backend.open().reservations.reserve("you", 5)
    backend.clock.advance(99.999)
    assert claim(store) == ()
    backend.clock.advance(0.001)
    assert take(store).type == "tile"
    assert store.verify() == []
    again = store.reservations.reserve("you", 100)
    assert claim(store) == ()
    store.reservations.release(again.id)
    assert take(store).type == "plain"
    assert held.id != again.id


def processing_lease_and_running_attempt_are_one(backend: BackendUnderTest) -> None:
    """G10: a job has a lease and a running attempt only while it is processing, however it ends."""
    store = backend.store
    ids = store.jobs.enqueue_many([NewJob("tile", {"hour": 1, "region": str(n)}) for n in range(4)])
    child = add(store, after=(ids[0].id,))
    batch = claim(store)
    assert len(batch) == 4
    _same(backend, running=4)
    succeed(store, batch[0])
    fail(store, batch[1])
    snooze(store, batch[2], 5)
    stop(store, batch[3])
    _same(backend, running=0)
    assert take(store).id == child
    _same(backend, running=1)
    backend.clock.advance(LEASE)
    store.maintenance.recover()
    _same(backend, running=0)


def _same(backend: BackendUnderTest, running: int) -> None:
    processing = backend.store.jobs.list()
    rows = [job for job in processing.jobs if job.status == "processing"]
    assert len(rows) == running
    for job in processing.jobs:
        held = job.status == "processing"
        assert (job.lease_expires_at is not None) == held
        assert (job.worker_id is not None) == held
        open_attempts = [a.attempt_no for a in backend.store.jobs.history(job.id).attempts if a.status == "running"]
        assert open_attempts == ([job.attempt_no] if held else [])
    assert backend.store.verify() == []


def job_that_waits_does_not_start(backend: BackendUnderTest) -> None:
    """G5, G10: a job starts neither before its time nor before its parents have ended."""
    store = backend.store
    parent = add(store, delay_seconds=50)
    child = add(store, after=(parent,), priority=9)
    assert claim(store) == ()
    backend.clock.advance(49.999)
    assert claim(store) == ()
    backend.clock.advance(0.001)
    job = take(store)
    assert job.id == parent
    assert claim(store) == ()
    succeed(store, job)
    assert take(store).id == child


def finished_job_stays_as_it_is(backend: BackendUnderTest) -> None:
    """G3: an ended job is never claimed again, nor rewritten by a late sweep."""
    store = backend.store
    ids = [add(store) for _ in range(3)]
    jobs = [take(store) for _ in ids]
    succeed(store, jobs[0])
    fail(store, jobs[1], permanent=True)
    stop(store, jobs[2])
    before = [store.jobs.history(job_id) for job_id in ids]
    backend.clock.advance(10_000)
    assert len(store.maintenance.recover()) == 0
    assert claim(store) == ()
    assert [store.jobs.history(job_id) for job_id in ids] == before
    assert [entry.job.status for entry in before] == ["completed", "failed", "cancelled"]


def failure_is_published_once(backend: BackendUnderTest) -> None:
    """Every failure publishes one event in its own transaction, whichever process makes the change."""
    store = backend.store
    add(store)
    fail(store, take(store), permanent=True)
    by_hand = add(store)
    backend.by_hand("UPDATE jobs SET status = 'failed', completed_at = CURRENT_TIMESTAMP WHERE id = ?", by_hand)
    assert [event.job_id for event in store.events.list(pattern="job.failed")] == [by_hand, by_hand - 1]


def dependents_follow_the_end_of_their_parent(backend: BackendUnderTest) -> None:
    """Dependents start after their parent succeeds, and are cancelled after it fails."""
    store = backend.store
    outcomes: dict[str, Outcome] = {"processing": Succeeded(), "cancelled": Failed("no", permanent=True)}
    for status, outcome in outcomes.items():
        parent = add(store)
        child = add(store, after=(parent,))
        store.exchange("w1", [Report(take(store).ref, outcome)], [asks()])
        assert store.jobs.get(child).status == status


def tenants_take_turns(backend: BackendUnderTest) -> None:
    """Tenants with ready jobs of the same priority are served one after the other."""
    store = backend.store
    for tenant in ("a", "a", "a", "b", "b", "global"):
        add(store, tenant_id=tenant)
    served = []
    for _ in range(6):
        job = take(store)
        served.append(job.tenant_id)
        succeed(store, job)
    assert served == ["a", "b", "global", "a", "b", "a"]


def reset_makes_a_failed_job_new(backend: BackendUnderTest) -> None:
    """The manual reset of a dead letter clears every trace of its failure."""
    store = backend.store
    job_id = add(store, max_attempts=1)
    fail(store, take(store))
    backend.by_hand("UPDATE jobs SET status = 'pending', retry_count = 0 WHERE id = ?", job_id)
    job = store.jobs.get(job_id)
    assert (job.status, job.dead_lettered_at, job.completed_at) == ("pending", None, None)
    backend.by_hand("UPDATE jobs SET max_attempts = 5 WHERE id = ?", job_id)
    succeed(store, take(store))
    with pytest.raises(Exception, match="cannot be changed"):
        backend.by_hand("UPDATE jobs SET status = 'pending' WHERE id = ?", job_id)
    with pytest.raises(Exception, match="cannot be changed"):
        backend.by_hand("UPDATE job_attempts SET worker_id = 'me' WHERE job_id = ?", job_id)


GUARANTEES: tuple[Callable[[BackendUnderTest], None], ...] = (
    committed_job_is_there_for_every_process,
    killed_worker_loses_no_job,
    attempt_is_given_to_one_worker,
    claimed_job_is_not_given_again,
    fenced_success_changes_nothing,
    fenced_failure_changes_nothing,
    fenced_last_failure_changes_nothing,
    fenced_snooze_changes_nothing,
    fenced_stop_changes_nothing,
    job_succeeds_once,
    job_of_a_dead_worker_comes_back_after_its_lease,
    heartbeat_keeps_the_job,
    claims_follow_the_total_order,
    job_runs_at_most_its_attempts,
    equal_active_jobs_are_one,
    one_firing_per_slot,
    one_leader_at_a_time,
    nothing_starts_under_a_reservation,
    processing_lease_and_running_attempt_are_one,
    job_that_waits_does_not_start,
    finished_job_stays_as_it_is,
    failure_is_published_once,
    dependents_follow_the_end_of_their_parent,
    tenants_take_turns,
    reset_makes_a_failed_job_new,
)
