"""Attempts end as completed, failed, snoozed or stopped, with effects and follow-up jobs in the same transaction."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from gribmill.database.sqlite import SqliteDatabase
from gribmill.queue.errors import BadArguments, BadEffect, JobNotFound, NotAllowed, StatementRefused
from gribmill.queue.model import AttemptRef, Effect, Failed, NewJob, Report, RetryPolicy, Snoozed, Succeeded
from gribmill.queue.model.definition import backoff_seconds
from gribmill.queue.store import Store
from gribmill.queue.store.jobs.listing import JobFilter
from tests.queue.sample_effects import note
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.sample_types import TYPES
from tests.queue.store.store_driver import add, attempts, claim, fail, report, snooze, stop, succeed, take
from tests.queue.store.tested_backend import BackendUnderTest


def test_completed_job_keeps_no_worker_and_its_attempt_keeps_everything(store: Store, clock: FakeClock) -> None:
    job_id = add(store)
    started = clock()
    job = take(store)
    clock.advance(7)
    outcome = Succeeded(artifacts=("a.npz", "b.npz"))
    store.exchange("w1", [Report(job.ref, outcome, exit_code=0, stdout_tail="out", stderr_tail="err")])
    row = store.jobs.get(job_id)
    assert (row.status, row.worker_id, row.lease_expires_at, row.error_message) == ("completed", None, None, None)
    assert row.started_at is not None
    assert row.completed_at is not None
    assert (row.started_at.timestamp(), row.completed_at.timestamp()) == (started, started + 7)
    (attempt,) = store.jobs.history(job_id).attempts
    assert (attempt.status, attempt.worker_id, attempt.exit_code) == ("succeeded", "w1", 0)
    assert (attempt.stdout_tail, attempt.stderr_tail, attempt.artifacts) == ("out", "err", ("a.npz", "b.npz"))


def test_skipped_work_is_completed_with_the_reason(store: Store) -> None:
    job_id = add(store)
    succeed(store, take(store), skipped="the tile is newer")
    assert store.jobs.get(job_id).status == "completed"
    assert attempts(store, job_id) == ["skipped"]
    assert store.jobs.history(job_id).attempts[0].error_text == "the tile is newer"


def test_failed_job_waits_for_its_backoff_and_keeps_its_error(store: Store, clock: FakeClock) -> None:
    job_id = add(store, max_attempts=5)
    for retry, nominal in enumerate((10, 20, 40, 45), start=1):
        job = take(store)
        fail(store, job, error=f"error {retry}")
        row = store.jobs.get(job_id)
        assert (row.status, row.retry_count, row.error_message) == ("pending", retry, f"error {retry}")
        wait = store.jobs.seconds_to_next_due()
        assert wait is not None
        assert 0.9 * nominal <= wait <= nominal
        expected = RetryPolicy(10.0, 45.0).wait_seconds(retry, AttemptRef(job_id, retry))
        assert wait == pytest.approx(expected, abs=0.001)
        clock.advance(wait - 0.001)
        assert claim(store) == ()
        clock.advance(0.001)


def test_backoff_is_one_formula_with_reproducible_jitter() -> None:
    def wait(retry: int, base: float, cap: float, job_id: int = 1, attempt_no: int = 1) -> float:
        return RetryPolicy(base, cap).wait_seconds(retry, AttemptRef(job_id, attempt_no))

    assert wait(3, 1, 60) == wait(3, 1, 60)
    for base, cap, nominal in ((1, 60, (1, 2, 4, 8, 16, 32, 60, 60)), (30, 600, (30, 60, 120, 240, 480, 600))):
        for retry, seconds in enumerate(nominal, start=1):
            assert 0.9 * seconds <= wait(retry, base, cap, attempt_no=retry) <= seconds
    spread = [wait(1, 100, 1000, job_id=n) for n in range(1000)]
    assert len(set(spread)) == 1000
    assert min(spread) < 91
    assert max(spread) > 99
    assert abs(sum(spread) / 1000 - 95) < 0.5
    unit = int.from_bytes(hashlib.blake2b(b"17/4", digest_size=8).digest(), "big") / 2**64
    assert wait(1, 100, 1000, job_id=17, attempt_no=4) == pytest.approx(100 * (1 - 0.1 * unit))
    assert wait(10_000, 1, 60) <= 60


def test_backoff_without_jitter_is_exact() -> None:
    exact = RetryPolicy(1.0, 60.0, backoff_jitter=0.0)
    waits = [exact.wait_seconds(retry, AttemptRef(1, retry)) for retry in range(9)]
    assert waits == [1, 1, 2, 4, 8, 16, 32, 60, 60] == [backoff_seconds(attempts) for attempts in range(9)]
    assert [backoff_seconds(n, 30, 600) for n in range(1, 8)] == [30, 60, 120, 240, 480, 600, 600]


def test_permanent_failure_is_final_and_not_a_dead_letter(store: Store) -> None:
    job_id = add(store)
    fail(store, take(store), error="404", permanent=True)
    row = store.jobs.get(job_id)
    assert (row.status, row.error_message, row.dead_lettered_at, row.retry_count) == ("failed", "404", None, 0)
    assert row.completed_at is not None


def test_last_failure_is_a_dead_letter(store: Store, clock: FakeClock) -> None:
    job_id = add(store, max_attempts=2)
    permanent = add(store, max_attempts=1, priority=-1)
    fail(store, take(store))
    fail(store, take(store), permanent=True)
    clock.advance(100)
    fail(store, take(store), error="last")
    row = store.jobs.get(job_id)
    assert (row.status, row.error_message, row.retry_count) == ("failed", "last", 1)
    assert row.dead_lettered_at == row.completed_at
    assert [job.id for job in store.jobs.list(JobFilter(dead=True)).jobs] == [job_id]
    assert [job.id for job in store.jobs.list(JobFilter(status="failed", dead=False)).jobs] == [permanent]


def test_job_of_one_attempt_is_never_tried_again(store: Store) -> None:
    job_id = add(store, max_attempts=1)
    fail(store, take(store))
    assert store.jobs.get(job_id).status == "failed"
    assert store.jobs.get(job_id).dead_lettered_at is not None


def test_timeout_is_recorded_as_a_failure_named_timeout(store: Store) -> None:
    job_id = add(store)
    fail(store, take(store), error="took too long", timeout=True)
    assert attempts(store, job_id) == ["timeout"]
    assert store.jobs.get(job_id).status == "pending"


def test_huge_error_is_cut_to_its_end(store: Store) -> None:
    job_id = add(store)
    fail(store, take(store), error="x" * 100_000 + "the reason")
    message = store.jobs.get(job_id).error_message
    assert message is not None
    assert len(message) == 20_000
    assert message.endswith("the reason")


def test_snooze_costs_no_attempt_however_often(store: Store, clock: FakeClock) -> None:
    job_id = add(store, max_attempts=2)
    for _ in range(10):
        snooze(store, take(store), 30)
        assert claim(store) == ()
        assert store.jobs.seconds_to_next_due() == 30
        clock.advance(30)
    row = store.jobs.get(job_id)
    assert (row.status, row.retry_count, row.attempt_no) == ("pending", 0, 10)
    fail(store, take(store))
    assert store.jobs.get(job_id).status == "pending", "the budget is still there"
    assert set(attempts(store, job_id)) == {"snoozed", "failed"}


def test_a_snooze_of_zero_seconds_is_ready_at_once(store: Store) -> None:
    job_id = add(store)
    snooze(store, take(store), 0)
    assert take(store).id == job_id


def test_snooze_beyond_the_calendar_is_refused_and_the_job_keeps_its_lease(store: Store) -> None:
    add(store)
    job = take(store)
    with pytest.raises(StatementRefused):
        report(store, job, Snoozed(float("inf")))
    assert succeed(store, job).accepted == (job.ref,)


def test_success_clears_the_error_of_earlier_attempts(store: Store, clock: FakeClock) -> None:
    job_id = add(store)
    fail(store, take(store), error="flaky")
    clock.advance(100)
    succeed(store, take(store))
    assert store.jobs.get(job_id).error_message is None
    assert store.jobs.history(job_id).attempts[0].error_text == "flaky"


def test_ended_attempts_are_never_rewritten(store: Store, clock: FakeClock) -> None:
    job_id = add(store)
    fail(store, take(store), error="first")
    first = store.jobs.history(job_id).attempts[0]
    clock.advance(100)
    succeed(store, take(store))
    assert store.jobs.history(job_id).attempts[0] == first


def test_an_attempt_that_is_reported_twice_in_one_call_ends_once(store: Store) -> None:
    job = take(store) if add(store) else None
    assert job is not None
    twice = store.exchange("w1", [Report(job.ref, Succeeded()), Report(job.ref, Succeeded())])
    assert (twice.accepted, twice.fenced) == ((job.ref,), (job.ref,))


def test_call_with_two_attempts_ends_only_the_held_one(store: Store) -> None:
    job_id = add(store)
    snooze(store, take(store), 0.0)
    job = take(store)
    both = [Report(AttemptRef(job_id, 1), Succeeded()), Report(job.ref, Succeeded(then=(NewJob("plain", {}),)))]
    done = store.exchange("w1", both)
    assert (done.accepted, done.fenced) == ((job.ref,), (AttemptRef(job_id, 1),))
    assert attempts(store, job_id) == ["snoozed", "succeeded"]


def test_unknown_ticket_is_fenced(store: Store) -> None:
    exchange = store.exchange("w1", [Report(AttemptRef(99, 1), Succeeded()), Report(AttemptRef(99, 1), Failed("x"))])
    assert exchange.fenced == (AttemptRef(99, 1), AttemptRef(99, 1))


# Together or not at all


def notes(backend: BackendUnderTest) -> list[tuple[object, ...]]:
    return backend.by_hand("SELECT hour, model_id FROM tiles")


def test_follow_up_jobs_and_effects_come_with_the_completion(store: Store, backend: BackendUnderTest) -> None:
    job_id = add(store)
    effect = note(job_id, "done")
    then = (NewJob("tile", {"hour": 1}), NewJob("plain", after=(job_id,)))
    succeed(store, take(store), then=then, also=(effect,))
    assert notes(backend) == [(job_id, "done")]
    assert [job.type for job in store.jobs.upcoming()] == ["tile", "plain"]
    assert store.jobs.get(job_id).status == "completed"


def test_failing_effect_undoes_everything(store: Store, backend: BackendUnderTest) -> None:
    child_of_first = add(store, "fragile", priority=-1)
    first, second = add(store), add(store)
    store.jobs.enqueue(NewJob("fragile", after=(first,)))
    jobs = [take(store), take(store)]
    good = note(first, "ok")
    bad = note(second, None)
    before = [store.jobs.history(job_id) for job_id in (first, second, child_of_first)]
    with pytest.raises(StatementRefused, match=r"(?i)not.null"):
        store.exchange(
            "w1",
            [
                Report(jobs[0].ref, Succeeded(then=(NewJob("plain"),), also=(good,))),
                Report(jobs[1].ref, Succeeded(also=(bad,))),
            ],
        )
    assert notes(backend) == []
    assert [store.jobs.history(job_id) for job_id in (first, second, child_of_first)] == before
    assert len(store.jobs.list().jobs) == 4
    assert succeed(store, jobs[0], also=(good,)).accepted
    assert notes(backend) == [(first, "ok")]


@pytest.mark.parametrize("bad", [Effect("unheard_of", "{}"), Effect("note", "{}"), Effect("note", "{")])
def test_unknown_effect_changes_nothing(store: Store, backend: BackendUnderTest, bad: Effect) -> None:
    job_id = add(store)
    job = take(store)
    for outcome in (Succeeded(also=(note(job_id, "ok"), bad)), Failed("no", also=(bad,)), Snoozed(1, also=(bad,))):
        with pytest.raises(BadEffect):
            report(store, job, outcome)
    assert notes(backend) == []
    assert store.jobs.get(job_id).status == "processing"
    assert succeed(store, job).accepted


def test_a_queue_without_effects_refuses_them(tmp_path: Path) -> None:
    store = Store(SqliteDatabase(tmp_path / "jobs.db"), TYPES)
    job_id = add(store)
    with pytest.raises(BadEffect, match="this queue has no effect 'note'"):
        succeed(store, take(store), also=(note(job_id, "x"),))
    assert store.jobs.get(job_id).status == "processing"
    store.close()


def test_bad_follow_up_job_undoes_everything(store: Store) -> None:
    job_id = add(store)
    job = take(store)
    with pytest.raises(BadArguments, match="n:"):
        succeed(store, job, then=(NewJob("plain", {"n": "x"}),))
    with pytest.raises(JobNotFound, match="job 99"):
        succeed(store, job, then=(NewJob("plain"), NewJob("plain", after=(99,))))
    assert store.jobs.get(job_id).status == "processing"
    assert len(store.jobs.list().jobs) == 1
    assert succeed(store, job).accepted


def test_effects_of_a_fenced_worker_are_not_applied(store: Store, backend: BackendUnderTest) -> None:
    job_id = add(store)
    job = take(store)
    effect = note(job_id, "no")
    assert succeed(store, job, "somebody else", also=(effect,)).fenced == (job.ref,)
    assert notes(backend) == []


def test_follow_up_equal_to_an_active_job_is_not_duplicated(store: Store) -> None:
    there = add(store, "unique", {"n": 1}, priority=-1)
    add(store)
    succeed(store, take(store), then=(NewJob("unique", {"n": 1}),))
    assert [job.id for job in store.jobs.upcoming()] == [there]


def test_stopped_attempt_cancels_the_job(store: Store) -> None:
    job_id = add(store)
    stop(store, take(store))
    row = store.jobs.get(job_id)
    assert (row.status, row.error_message) == ("cancelled", "cancelled while running")
    assert attempts(store, job_id) == ["cancelled"]


def test_snooze_applies_its_follow_ups_and_effects(store: Store, backend: BackendUnderTest) -> None:
    job_id = add(store, "fragile")
    effect = note(job_id, "saw half")
    report(store, take(store), Snoozed(5, "half", then=(NewJob("plain"),), also=(effect,)))
    assert notes(backend) == [(job_id, "saw half")]
    assert sorted(job.type for job in store.jobs.upcoming()) == ["fragile", "plain"]


def test_snooze_of_a_cancelled_job_applies_nothing(store: Store, backend: BackendUnderTest) -> None:
    job_id = add(store)
    job = take(store)
    store.jobs.cancel(job_id)
    effect = note(job_id, "no")
    report(store, job, Snoozed(5, then=(NewJob("plain"),), also=(effect,)))
    assert store.jobs.get(job_id).status == "cancelled"
    assert notes(backend) == []
    assert len(store.jobs.list().jobs) == 1


def test_a_failure_may_have_effects(store: Store, backend: BackendUnderTest) -> None:
    job_id = add(store)
    effect = note(job_id, "mirror is down")
    report(store, take(store), Failed("broke", also=(effect,)))
    assert notes(backend) == [(job_id, "mirror is down")]
    assert store.jobs.get(job_id).status == "pending"


def test_follow_ups_inherit_the_correlation_id(store: Store) -> None:
    add(store, correlation_id="backfill 7")
    then = (NewJob("plain"), NewJob("plain", correlation_id="its own"))
    succeed(store, take(store), then=then)
    assert [job.correlation_id for job in store.jobs.upcoming()] == ["backfill 7", "its own"]
    assert store.jobs.progress("backfill 7") == {("plain", "completed"): 1, ("plain", "pending"): 1}
    assert store.jobs.progress("unknown") == {}


def test_follow_ups_inherit_tenant_and_creator(store: Store) -> None:
    add(store, tenant_id="acme", created_by="ann")
    then = (NewJob("unique", {"n": 1}), NewJob("plain", tenant_id="other"))
    succeed(store, take(store), then=then)
    first, second = sorted(store.jobs.upcoming(), key=lambda job: job.id)
    assert (first.tenant_id, first.created_by, first.correlation_id) == ("acme", "ann", "job-1")
    assert first.dedupe_key == 'unique::acme::{"n":1}'
    assert (second.tenant_id, second.created_by) == ("other", "ann")
    assert store.jobs.get(1).correlation_id == "job-1"


def test_a_failure_may_say_when_to_try_again(store: Store, clock: FakeClock) -> None:
    job_id = add(store)
    report(store, take(store), Failed("busy", retry_in=7.5))
    assert store.jobs.get(job_id).retry_count == 1
    assert store.jobs.seconds_to_next_due() == pytest.approx(7.5)


def test_polls_are_limited(store: Store, clock: FakeClock) -> None:
    job_id = add(store, "polling")
    for _ in range(3):
        snooze(store, take(store), 5)
        clock.advance(5)
    report(store, take(store), Snoozed(5, "not published"))
    row = store.jobs.get(job_id)
    assert (row.status, row.error_message) == (
        "failed",
        "snoozed 3 times, which is the limit of polling: not published",
    )
    assert row.dead_lettered_at is not None
    assert store.verify() == []


def test_attempt_can_be_ended_by_its_job_id(store: Store, clock: FakeClock) -> None:
    done, broken = add(store), add(store)
    with pytest.raises(NotAllowed, match=f"job {done} is pending: only an attempt that runs can be ended"):
        store.complete(done)
    late = take(store)
    take(store, "w2")
    store.complete(done)
    store.fail(broken, "password=hunter22", retry_in=77)
    assert store.jobs.get(done).status == "completed"
    waits = store.jobs.get(broken)
    assert (waits.status, waits.retry_count, waits.error_message) == ("pending", 1, "password=[redacted]")
    assert waits.next_run_at is not None
    assert (waits.next_run_at.timestamp() - clock()) == pytest.approx(77, abs=0.01)
    assert not succeed(store, late).accepted, "its worker comes too late"
    with pytest.raises(NotAllowed, match=f"job {done} is completed"):
        store.fail(done, "late")
    with pytest.raises(JobNotFound):
        store.complete(99)
