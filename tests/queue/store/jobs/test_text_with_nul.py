"""NUL characters in the texts of jobs: PostgreSQL cannot store them, so both databases replace them."""

from __future__ import annotations

from gribmill.queue.model import Claimed, Failed, NewEvent, NewJob, Report, Snoozed, Succeeded
from gribmill.queue.store import Store
from tests.queue.store.store_driver import add, take

REPLACED = "a\N{REPLACEMENT CHARACTER}b"


def running(store: Store) -> Claimed:
    add(store)
    return take(store)


def test_nul_in_an_error_and_in_output_is_replaced(store: Store) -> None:
    job = running(store)
    store.exchange("w1", [Report(job.ref, Failed("a\0b", permanent=True), 1, "a\0b", "a\0b")])
    (attempt,) = store.jobs.history(job.id).attempts
    assert (attempt.error_text, attempt.stdout_tail, attempt.stderr_tail) == (REPLACED,) * 3
    assert store.jobs.get(job.id).error_message == REPLACED


def test_nul_in_the_output_of_a_completed_attempt_is_replaced(store: Store) -> None:
    job = running(store)
    assert store.exchange("w1", [Report(job.ref, Succeeded(artifacts=("a\0b",)), 0, "a\0b", "a\0b")]).accepted
    (attempt,) = store.jobs.history(job.id).attempts
    assert (attempt.stdout_tail, attempt.stderr_tail) == (REPLACED,) * 2


def test_nul_in_the_reason_of_a_snooze_and_of_a_skip_is_replaced(store: Store) -> None:
    job = running(store)
    assert store.exchange("w1", [Report(job.ref, Snoozed(0.0, "a\0b"))]).accepted
    assert store.exchange("w1", [Report(take(store).ref, Succeeded(skipped="a\0b"))]).accepted
    assert [attempt.error_text for attempt in store.jobs.history(job.id).attempts] == [REPLACED] * 2


def test_nul_in_the_keys_of_a_job_is_replaced(store: Store) -> None:
    made = store.jobs.enqueue(NewJob("plain", {}, dedupe_key="a\0b", correlation_id="a\0b", created_by="a\0b"))
    again = store.jobs.enqueue(NewJob("plain", {}, dedupe_key="a\0b"))
    assert (again.id, again.created) == (made.id, False)
    job = store.jobs.get(made.id)
    assert (job.dedupe_key, job.correlation_id, job.created_by) == (REPLACED,) * 3


def test_nul_in_a_reason_is_replaced(store: Store) -> None:
    job = add(store)
    store.jobs.cancel(job, "a\0b")
    assert store.jobs.get(job).error_message == REPLACED


def test_nul_in_arguments_and_event_payloads_is_kept_as_a_json_escape(store: Store) -> None:
    """JSON escapes it, so databases can store it."""
    job = store.jobs.enqueue(NewJob("needy", {"region": "ne", "note": "a\0b"}))
    with store.database.write() as tx:
        tx.publish(NewEvent("test.event", {"text": "a\0b"}))
    assert store.jobs.get(job.id).args["note"] == "a\0b"
    assert store.events.list()[0].payload == {"text": "a\0b"}
