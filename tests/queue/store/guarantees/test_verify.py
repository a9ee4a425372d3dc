"""verify() reports every kind of violation: the tests damage the data once for each invariant."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gribmill.queue.model import NewJob, NewTrigger
from gribmill.queue.times import to_text
from tests.queue.store.store_driver import add, fail, snooze, stop, succeed, take
from tests.queue.store.tested_backend import ONLY_SQLITE, BackendUnderTest

Break = Callable[[BackendUnderTest], int | None]
KEEPS_ENDS = "jobs_stay_as_they_ended"


def _completed(backend: BackendUnderTest) -> int:
    job_id = add(backend.store)
    succeed(backend.store, take(backend.store))
    return job_id


def _unprotected(backend: BackendUnderTest, *triggers: str) -> None:
    """Remove the database's own protection, which refuses such changes."""
    for trigger in triggers or ("job_attempts_stay_ended",):
        backend.drop_trigger(trigger)


def second_success(backend: BackendUnderTest) -> int:
    job_id = add(backend.store)
    fail(backend.store, take(backend.store))
    backend.clock.advance(100)
    succeed(backend.store, take(backend.store))
    _unprotected(backend)
    backend.by_hand("UPDATE job_attempts SET status = 'succeeded' WHERE attempt_no = 1")
    return job_id


def success_of_an_open_job(backend: BackendUnderTest) -> int:
    job_id = add(backend.store)
    take(backend.store)
    backend.by_hand("UPDATE job_attempts SET status = 'succeeded'")
    return job_id


def start_under_a_reservation(backend: BackendUnderTest) -> int:
    job_id = add(backend.store)
    backend.clock.advance(5)
    take(backend.store)
    backend.by_hand(
        "INSERT INTO direct_reservations VALUES ('r', 'plain', ?, 'me', ?, 'ACTIVE')",
        to_text(backend.clock() - 1),
        to_text(backend.clock() + 1),
    )
    return job_id


def end_without_a_time(backend: BackendUnderTest) -> int:
    job_id = _completed(backend)
    _unprotected(backend, KEEPS_ENDS)
    backend.by_hand("UPDATE jobs SET completed_at = NULL")
    return job_id


def lease_of_a_pending_job(backend: BackendUnderTest) -> int:
    job_id = add(backend.store)
    backend.by_hand("UPDATE jobs SET lease_expires_at = '2026-01-01 00:00:00.000'")
    return job_id


def completed_dead_letter(backend: BackendUnderTest) -> int:
    job_id = _completed(backend)
    _unprotected(backend, KEEPS_ENDS)
    backend.by_hand("UPDATE jobs SET dead_lettered_at = completed_at")
    return job_id


def attempt_of_a_deleted_job(backend: BackendUnderTest) -> int:
    job_id = _completed(backend)
    _unprotected(backend, "jobs_deleted")
    backend.drop_references("job_attempts")
    backend.by_hand("DELETE FROM jobs")
    return job_id


def running_attempt_of_an_ended_job(backend: BackendUnderTest) -> int:
    job_id = _completed(backend)
    _unprotected(backend)
    backend.by_hand("UPDATE job_attempts SET status = 'running'")
    return job_id


def processing_without_its_attempt(backend: BackendUnderTest) -> int:
    job_id = add(backend.store)
    take(backend.store)
    backend.by_hand("UPDATE job_attempts SET worker_id = 'somebody else'")
    return job_id


def two_equal_active_jobs(backend: BackendUnderTest) -> int:
    backend.by_hand("DROP INDEX jobs_dedupe")
    backend.by_hand("INSERT INTO jobs (type, dedupe_key) VALUES ('plain', 'k'), ('plain', 'k'), ('plain', 'other')")
    return int(backend.by_hand("SELECT min(id) FROM jobs")[0][0])


def miscounted(backend: BackendUnderTest) -> None:
    add(backend.store)
    succeed(backend.store, take(backend.store))
    backend.miscount()


def dependency_that_nobody_will_release(backend: BackendUnderTest) -> int:
    parent = add(backend.store)
    child = add(backend.store, after=(parent,), priority=-1)
    backend.by_hand("UPDATE jobs SET deps_left = 2 WHERE id = ?", child)
    return child


def too_many_attempts(backend: BackendUnderTest) -> int:
    job_id = add(backend.store, max_attempts=2)
    for _ in range(2):
        fail(backend.store, take(backend.store))
        backend.clock.advance(100)
    _unprotected(backend, KEEPS_ENDS)
    backend.by_hand("UPDATE jobs SET max_attempts = 1, retry_count = 0")
    return job_id


def dead_letter_with_attempts_left(backend: BackendUnderTest) -> int:
    job_id = add(backend.store, max_attempts=1)
    fail(backend.store, take(backend.store))
    _unprotected(backend, KEEPS_ENDS)
    backend.by_hand("UPDATE jobs SET max_attempts = 5")
    return job_id


def attempts_that_end_too_early(backend: BackendUnderTest) -> int:
    job_id = _completed(backend)
    _unprotected(backend, KEEPS_ENDS)
    backend.by_hand("UPDATE jobs SET attempt_no = 3")
    return job_id


def gap_in_the_attempts(backend: BackendUnderTest) -> int:
    job_id = add(backend.store)
    for _ in range(3):
        snooze(backend.store, take(backend.store), seconds=0)
    backend.by_hand("DELETE FROM job_attempts WHERE attempt_no = 2")
    return job_id


def completed_by_a_failed_attempt(backend: BackendUnderTest) -> int:
    job_id = _completed(backend)
    _unprotected(backend)
    backend.by_hand("UPDATE job_attempts SET status = 'failed'")
    return job_id


def two_jobs_of_one_slot(backend: BackendUnderTest) -> int:
    backend.store.triggers.add(NewTrigger("every minute", "plain", {"n": 1}, cron="* * * * *"))
    backend.clock.advance(60)
    (fired,) = backend.store.triggers.fire_due()
    backend.by_hand("INSERT INTO jobs (type, source, source_ref) SELECT type, source, source_ref FROM jobs")
    assert fired.job is not None
    return fired.job.id


def job_in_the_group_of_another_tenant(backend: BackendUnderTest) -> int:
    group = backend.store.groups.open("theirs", tenant_id="theirs")
    job_id = add(backend.store, tenant_id="ours")
    backend.by_hand("UPDATE jobs SET group_id = ?", group.id)
    return job_id


def delivery_that_no_job_makes(backend: BackendUnderTest) -> None:
    backend.store.webhooks.add("https://example.org/", ["*"])
    backend.store.events.emit("x", {})
    backend.by_hand(
        "INSERT INTO webhook_deliveries (webhook_id, event_id, created_at, updated_at)"
        " SELECT w.id, e.id, w.created_at, w.created_at FROM webhooks w, events e"
    )


def definition_without_its_version(backend: BackendUnderTest) -> None:
    backend.store.definitions.edit("plain", {"max_running": 3})
    backend.by_hand("DELETE FROM definition_versions")


def second_automatic_retry(backend: BackendUnderTest) -> int:
    backend.store.definitions.edit("plain", {"retry_as": "new_job"})
    job_id = add(backend.store)
    fail(backend.store, take(backend.store))
    backend.by_hand("INSERT INTO jobs (type, source, retry_of) VALUES ('plain', 'system', ?)", job_id)
    return job_id


def finished_jobs_without_protection(backend: BackendUnderTest) -> None:
    _unprotected(backend, KEEPS_ENDS)


BROKEN: dict[str, tuple[Break, ...]] = {
    "group_is_of_its_tenant": (job_in_the_group_of_another_tenant,),
    "delivery_has_a_job": (delivery_that_no_job_makes,),
    "definition_has_its_version": (definition_without_its_version,),
    "one_retry_per_job": (second_automatic_retry,),
    "one_success_per_job": (second_success,),
    "success_means_completed": (success_of_an_open_job,),
    "no_start_under_reservation": (start_under_a_reservation,),
    "finished_has_time": (end_without_a_time,),
    "running_attempt_has_a_running_job": (running_attempt_of_an_ended_job,),
    "lease_means_processing": (lease_of_a_pending_job,),
    "dead_letter_means_failed": (completed_dead_letter,),
    "no_orphan_attempts": (attempt_of_a_deleted_job,),
    "processing_has_running_attempt": (processing_without_its_attempt,),
    "one_active_per_dedupe_key": (two_equal_active_jobs,),
    "counters_right": (miscounted,),
    "one_job_per_slot": (two_jobs_of_one_slot,),
    "dependencies_counted": (dependency_that_nobody_will_release,),
    "attempts_within_budget": (too_many_attempts,),
    "failed_needs_no_more": (dead_letter_with_attempts_left,),
    "attempt_numbers_have_no_gap": (attempts_that_end_too_early, gap_in_the_attempts),
    "finished_jobs_are_protected": (finished_jobs_without_protection,),
    "completed_by_its_last_attempt": (completed_by_a_failed_attempt,),
}


def test_every_invariant_has_a_test(backend: BackendUnderTest) -> None:
    assert set(BROKEN) == backend.invariants()


@pytest.mark.parametrize(
    ("invariant", "break_it"),
    [pytest.param(name, way, id=f"{name}-{way.__name__}") for name, ways in BROKEN.items() for way in ways],
)
def test_violated_invariant_is_named_with_its_job(backend: BackendUnderTest, invariant: str, break_it: Break) -> None:
    assert backend.store.verify() == []
    job_id = break_it(backend)
    found = [violation for violation in backend.store.verify() if violation.invariant == invariant]
    assert [violation.job_id for violation in found] == [job_id]
    assert found[0].detail


@ONLY_SQLITE
def test_reference_to_a_missing_row_is_found(backend: BackendUnderTest) -> None:
    _completed(backend)
    _unprotected(backend, "jobs_deleted")
    backend.by_hand("DELETE FROM jobs")
    assert "database_sound" in [violation.invariant for violation in backend.store.verify()]


def test_busy_queue_in_every_state_is_clean(backend: BackendUnderTest) -> None:
    store = backend.store
    store.jobs.enqueue_many([NewJob("tile", {"hour": 1, "region": str(n)}) for n in range(9)])
    add(store, "unique", {"n": 1}, delay_seconds=5)
    parent = add(store, priority=9)
    add(store, after=(parent,))
    for end in (succeed, fail, stop):
        end(store, take(store, limit=1))
    take(store, limit=1)
    store.reservations.reserve("me", 10)
    store.workers.heartbeat("w1", 60)
    assert store.verify() == []
