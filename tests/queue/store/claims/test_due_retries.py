"""A job ended by manual SQL, of a type whose retries are new jobs, gets exactly one retry."""

from __future__ import annotations

import os
import signal
from functools import partial

import pytest

from gribmill.database.postgres.session import PostgresSession
from gribmill.database.sqlite.session import SqliteSession
from gribmill.queue.store import Store
from tests.queue.store.crew import together
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.store_driver import LEASE, add, claim, fail, succeed, take
from tests.queue.store.tested_backend import BackendUnderTest
from tests.waiting import wait_until

FAIL = "UPDATE jobs SET status = 'failed', error_message = 'the disk broke', completed_at = CURRENT_TIMESTAMP"


@pytest.fixture(autouse=True)
def retries_are_new_jobs(store: Store) -> None:
    store.definitions.edit("plain", {"retry_as": "new_job", "max_attempts": 3})


def retries(store: Store, job_id: int) -> list[int]:
    return [job.id for job in store.jobs.list().jobs if job.retry_of == job_id]


def test_manually_ended_job_gets_its_retry_at_the_next_claim(
    backend: BackendUnderTest, store: Store, clock: FakeClock
) -> None:
    job_id = add(store)
    first = take(store)
    backend.by_hand(f"{FAIL} WHERE id = {job_id}")
    assert retries(store, job_id) == []
    assert claim(store) == (), "the retry waits for its backoff"
    (again,) = retries(store, job_id)
    job = store.jobs.get(again)
    assert (job.status, job.retry_count, job.next_run_at is not None) == ("pending", 1, True)
    assert fail(store, first).fenced == (first.ref,)
    clock.advance(1000)
    assert take(store).id == again
    store.maintenance.recover()
    assert retries(store, job_id) == [again]


def test_recovery_creates_the_retry_when_no_worker_claims(backend: BackendUnderTest, store: Store) -> None:
    job_id = add(store)
    take(store)
    backend.by_hand(f"{FAIL} WHERE id = {job_id}")
    store.maintenance.recover()
    store.maintenance.recover()
    assert len(retries(store, job_id)) == 1


def test_manually_claimed_and_ended_job_gets_its_retry(backend: BackendUnderTest, store: Store) -> None:
    job_id = add(store)
    backend.by_hand(f"UPDATE jobs SET status = 'processing', worker_id = 'me' WHERE id = {job_id}")
    backend.by_hand(f"{FAIL}, worker_id = NULL WHERE id = {job_id}")
    store.maintenance.recover()
    assert len(retries(store, job_id)) == 1


def test_dependents_and_groups_follow_the_retry(backend: BackendUnderTest, store: Store, clock: FakeClock) -> None:
    group = store.groups.open("night", on_failure="stop")
    job_id = add(store, group_id=group.id)
    child = add(store, "fragile", after=(job_id,), group_id=group.id)
    take(store)
    backend.by_hand(f"{FAIL} WHERE id = {job_id}")
    store.maintenance.recover()
    assert store.jobs.get(child).status == "pending"
    clock.advance(1000)
    succeed(store, take(store))
    assert take(store).id == child


def test_dependents_follow_a_manual_retry(backend: BackendUnderTest, store: Store, clock: FakeClock) -> None:
    job_id = add(store)
    child = add(store, "fragile", after=(job_id,))
    take(store)
    backend.by_hand(f"{FAIL} WHERE id = {job_id}")
    backend.by_hand(f"INSERT INTO jobs (type, args, retry_of) VALUES ('plain', '{{}}', {job_id})")
    store.maintenance.recover()
    (again,) = retries(store, job_id)
    succeed(store, take(store))
    assert (again, take(store).id) == (child + 1, child)


@pytest.mark.parametrize("how", ["used up", "cancelled", "same row", "reset", "completed"])
def test_no_retry_is_created_when_none_is_due(backend: BackendUnderTest, store: Store, how: str) -> None:
    job_id = add(store, max_attempts=1 if how == "used up" else 3)
    if how == "same row":
        store.definitions.edit("plain", {"retry_as": "same_row"})
    take(store)
    if how == "cancelled":
        store.jobs.cancel(job_id)
    end = "UPDATE jobs SET status = 'completed', completed_at = CURRENT_TIMESTAMP" if how == "completed" else FAIL
    backend.by_hand(f"{end} WHERE id = {job_id}")
    if how == "reset":
        backend.by_hand(f"UPDATE jobs SET status = 'pending', retry_count = retry_count + 1 WHERE id = {job_id}")
    store.maintenance.recover()
    claim(store)
    assert retries(store, job_id) == []


def test_lost_manual_claim_of_a_type_that_fails_when_lost_gets_no_retry(
    backend: BackendUnderTest, store: Store, clock: FakeClock
) -> None:
    store.definitions.edit("fragile", {"retry_as": "new_job", "timeout_seconds": 60})
    job_id = add(store, "fragile")
    stamp = backend.by_hand(f"SELECT created_at FROM jobs WHERE id = {job_id}")[0][0]
    backend.by_hand(f"UPDATE jobs SET status = 'processing', worker_id = 'me', started_at = '{stamp}'")
    clock.advance(10 * LEASE)
    store.maintenance.recover()
    assert store.jobs.get(job_id).status == "failed"
    assert retries(store, job_id) == []


def test_concurrent_recoveries_and_an_operator_create_one_retry(backend: BackendUnderTest, store: Store) -> None:
    for _ in range(12):
        job_id = add(store)
        take(store)
        backend.by_hand(f"{FAIL} WHERE id = {job_id}")
        others = [backend.open() for _ in range(3)]
        together(*(other.maintenance.recover for other in others[:2]), partial(others[2].jobs.retry, job_id))
        assert len(retries(store, job_id)) == 1
        for other in others:
            other.close()
        store.jobs.cancel(retries(store, job_id)[0])


@pytest.mark.process
@pytest.mark.parametrize("statement", ["jobs/set_retry_count", "dependencies/move", "dependencies/settled"])
def test_killed_recovery_leaves_the_retry_due(backend: BackendUnderTest, store: Store, statement: str) -> None:
    job_id = add(store)
    take(store)
    backend.by_hand(f"{FAIL} WHERE id = {job_id}")
    pid = os.fork()
    if pid == 0:
        _die_at(statement)
        backend.open().maintenance.recover()
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGKILL
    assert retries(store, job_id) == [], "what the dead process did is rolled back"
    # The server may still hold the dead process's locks, and recovery skips locked rows.
    wait_until(lambda: (store.maintenance.recover(), retries(store, job_id))[1], what="the retry")
    store.maintenance.recover()
    assert len(retries(store, job_id)) == 1


def _die_at(statement: str) -> None:
    for session, method in ((SqliteSession, "execute"), (PostgresSession, "execute"), (PostgresSession, "send")):
        real = getattr(session, method)

        def run(self: object, name: str, *params: object, real: object = real) -> object:
            if name == statement:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(self, name, *params)  # type: ignore[operator]

        setattr(session, method, run)
