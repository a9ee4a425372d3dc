"""Job groups: parallel or sequential, failure policies, progress, cancellation and retries."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from gribmill.queue.errors import BadArguments, GroupNotFound, NotAllowed
from gribmill.queue.model import GroupMode, JobGroup, NewJob, OnGroupFailure
from gribmill.queue.store import Store
from gribmill.queue.store.jobs.listing import JobFilter
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.store_driver import add, claim, drain, fail, snooze, stop, succeed, take
from tests.queue.store.tested_backend import BackendUnderTest


def group_of(
    store: Store, count: int, mode: GroupMode, on_failure: OnGroupFailure, kind: str = "plain"
) -> tuple[JobGroup, list[int]]:
    group = store.groups.open("nightly", mode=mode, on_failure=on_failure, created_by="me")
    made = store.groups.add(group.id, [NewJob(kind, {"n": n}) for n in range(count)])
    return group, [one.id for one in made]


def statuses(store: Store, ids: list[int]) -> list[str]:
    return [store.jobs.get(job_id).status for job_id in ids]


def fail_for_good(store: Store) -> int:
    job = take(store)
    fail(store, job, permanent=True)
    return job.id


def test_jobs_of_a_parallel_group_start_together_and_progress_is_derived(store: Store) -> None:
    group, ids = group_of(store, 4, "parallel", "continue")
    assert store.groups.progress(group.id).status == "pending"
    first, second, third = take(store), take(store), take(store)
    assert [first.id, second.id, third.id] == ids[:3]
    succeed(store, first)
    fail(store, second, permanent=True)
    now = store.groups.progress(group.id)
    assert (now.status, now.pending, now.running, now.succeeded, now.failed) == ("running", 1, 1, 1, 1)
    assert (now.total, now.percent) == (4, 50.0)
    succeed(store, third)
    succeed(store, take(store))
    assert (store.groups.progress(group.id).status, store.groups.progress(group.id).percent) == ("failed", 100.0)


def test_job_of_a_sequential_group_waits_for_the_previous_one(store: Store) -> None:
    _, ids = group_of(store, 3, "sequential", "stop")
    for job_id in ids:
        job = take(store)
        assert job.id == job_id
        assert claim(store) == ()
        succeed(store, job)


def test_jobs_added_later_to_a_sequential_group_wait_for_the_last_one(store: Store) -> None:
    group, ids = group_of(store, 2, "sequential", "continue")
    (late,) = store.groups.add(group.id, [NewJob("plain")])
    for job_id in [*ids, late.id]:
        job = take(store)
        assert job.id == job_id
        succeed(store, job)
    (last,) = store.groups.add(group.id, [NewJob("plain")])
    assert take(store).id == last.id


def test_sequential_group_waits_for_a_running_job_though_the_next_was_cancelled(store: Store) -> None:
    group, ids = group_of(store, 2, "sequential", "continue")
    running = take(store)
    store.jobs.cancel(ids[1])
    (late,) = store.groups.add(group.id, [NewJob("plain")])
    assert claim(store) == ()
    succeed(store, running)
    assert take(store).id == late.id


def test_sequential_group_waits_for_a_running_job_with_an_outside_dependent(store: Store) -> None:
    group, ids = group_of(store, 1, "sequential", "continue")
    running = take(store)
    outside = add(store, after=(ids[0],))
    (late,) = store.groups.add(group.id, [NewJob("plain")])
    assert claim(store) == ()
    succeed(store, running)
    assert {take(store).id, take(store).id} == {outside, late.id}


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
def test_stop_cancels_jobs_that_have_not_started(store: Store, mode: GroupMode) -> None:
    group, ids = group_of(store, 4, mode, "stop")
    running = take(store) if mode == "parallel" else None
    failed = fail_for_good(store)
    rest = [job_id for job_id in ids if job_id not in (failed, running.id if running else 0)]
    assert statuses(store, rest) == ["cancelled"] * len(rest)
    assert "failed" in (store.jobs.get(rest[-1]).error_message or "")
    if running:
        assert succeed(store, running).accepted
    assert store.groups.progress(group.id).status == "failed"


def test_attempt_that_will_be_retried_stops_nothing(store: Store) -> None:
    _, ids = group_of(store, 2, "parallel", "stop")
    fail(store, take(store))
    assert statuses(store, ids) == ["pending", "pending"]


@pytest.mark.parametrize(("on_failure", "status"), [("continue", "failed"), ("skip", "succeeded")])
@pytest.mark.parametrize("mode", ["parallel", "sequential"])
def test_continue_and_skip_proceed_after_a_failure(
    store: Store, mode: GroupMode, on_failure: OnGroupFailure, status: str
) -> None:
    group, ids = group_of(store, 3, mode, on_failure)
    fail_for_good(store)
    for job_id in ids[1:]:
        job = take(store)
        assert job.id == job_id
        succeed(store, job)
    done = store.groups.progress(group.id)
    assert (done.status, done.succeeded) == (status, 2)
    assert (done.failed, done.skipped) == ((1, 0) if on_failure == "continue" else (0, 1))


def test_failure_recorded_by_a_manual_statement_stops_the_group(store: Store, backend: BackendUnderTest) -> None:
    _, ids = group_of(store, 3, "parallel", "stop")
    fails = "UPDATE jobs SET status = 'failed', error_message = 'x', completed_at = CURRENT_TIMESTAMP WHERE id = ?"
    backend.by_hand(fails, ids[0])
    assert claim(store) == ()
    assert statuses(store, ids) == ["failed", "cancelled", "cancelled"]


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
def test_failure_that_is_retried_as_a_new_job_stops_nothing(store: Store, clock: FakeClock, mode: GroupMode) -> None:
    store.definitions.edit("plain", {"retry_as": "new_job", "max_attempts": 2})
    group, ids = group_of(store, 2, mode, "stop")
    fail(store, take(store))
    assert statuses(store, ids) == ["failed", "pending"]
    assert (store.groups.progress(group.id).failed, store.groups.progress(group.id).total) == (0, 2)
    clock.advance(100)
    again = take(store) if mode == "sequential" else max(take(store), take(store), key=lambda job: job.id)
    assert (store.jobs.get(again.id).retry_of, store.jobs.get(again.id).group_id) == (ids[0], group.id)
    fail(store, again)
    assert statuses(store, ids[1:]) == (["cancelled"] if mode == "sequential" else ["processing"])
    assert store.groups.progress(group.id).group.stopped_at is not None


def test_dependents_outside_a_stopped_group_are_cancelled_too(store: Store) -> None:
    _, ids = group_of(store, 2, "parallel", "stop")
    outside = add(store, after=(ids[1],))
    fail_for_good(store)
    assert statuses(store, [outside]) == ["cancelled"]


def test_follow_up_jobs_belong_to_the_group(store: Store) -> None:
    group, _ = group_of(store, 1, "parallel", "continue")
    succeed(store, take(store), then=(NewJob("plain", {"n": 9}),))
    follow_up = take(store)
    assert store.jobs.get(follow_up.id).group_id == group.id
    succeed(store, follow_up, then=(NewJob("plain", {"n": 10}),))
    assert store.groups.progress(group.id).total == 3


def test_follow_up_job_of_another_tenant_does_not_belong_to_the_group(store: Store) -> None:
    group, ids = group_of(store, 2, "sequential", "continue")
    succeed(store, take(store), then=(NewJob("plain", {"n": 9}, tenant_id="other"),))
    (follow_up,) = [job for job in store.jobs.list().jobs if job.tenant_id == "other"]
    assert follow_up.group_id is None
    assert store.groups.progress(group.id).total == 2
    assert ids[1] in {take(store).id, take(store).id}, "it does not wait for the other tenant's job"
    assert store.verify() == []


def test_next_job_of_a_sequential_group_waits_for_follow_ups_too(store: Store) -> None:
    group, ids = group_of(store, 3, "sequential", "stop")
    succeed(store, take(store), then=(NewJob("plain", {"n": 8}), NewJob("plain", {"n": 9})))
    first, second = take(store), take(store)
    assert claim(store) == ()
    succeed(store, first)
    assert claim(store) == ()
    succeed(store, second, then=(NewJob("plain", {"n": 10}),))
    last = take(store)
    assert last.id not in ids
    succeed(store, last)
    assert drain_all(store) == ids[1:]
    assert store.groups.progress(group.id).status == "succeeded"


def drain_all(store: Store) -> list[int]:
    order = []
    while batch := claim(store):
        for job in batch:
            order.append(job.id)
            succeed(store, job)
    return order


def test_next_job_waits_while_the_previous_snoozes_with_follow_ups(store: Store, clock: FakeClock) -> None:
    _, ids = group_of(store, 2, "sequential", "stop")
    snooze(store, take(store), 10)
    assert claim(store) == ()
    clock.advance(10)
    assert drain_all(store) == ids


def test_follow_ups_in_a_stopped_group_do_not_start(store: Store) -> None:
    group, _ = group_of(store, 2, "parallel", "stop")
    running = take(store)
    fail_for_good(store)
    succeed(store, running, then=(NewJob("plain", {"n": 9}),))
    assert claim(store) == ()
    assert store.groups.progress(group.id).cancelled == 1
    with pytest.raises(NotAllowed, match="was stopped"):
        store.groups.add(group.id, [NewJob("plain")])


def test_cancel_ends_waiting_jobs_and_asks_running_ones_to_stop(store: Store) -> None:
    group, ids = group_of(store, 4, "parallel", "continue")
    other = add(store)
    running = take(store)
    assert store.groups.cancel(group.id, "enough") == (3, 1)
    assert statuses(store, ids) == ["processing", "cancelled", "cancelled", "cancelled"]
    assert store.jobs.get(ids[1]).error_message == "enough"
    assert store.attempts.cancellations("w1") == [running.ref]
    stop(store, running)
    assert store.groups.progress(group.id).status == "cancelled"
    assert store.groups.cancel(group.id) == (0, 0)
    assert drain(store) == [other]


def test_cancelling_a_sequential_group_cancels_every_job(store: Store) -> None:
    group, ids = group_of(store, 3, "sequential", "skip")
    assert store.groups.cancel(group.id) == (3, 0)
    assert statuses(store, ids) == ["cancelled"] * 3
    assert claim(store) == ()


def test_retry_runs_the_failed_jobs_again_and_counts_them_once(store: Store) -> None:
    group, ids = group_of(store, 3, "parallel", "continue")
    failed = fail_for_good(store)
    (made,) = store.groups.retry(group.id, created_by="you")
    retried = store.jobs.get(made.id)
    assert (retried.retry_of, retried.group_id, retried.created_by) == (failed, group.id, "you")
    assert store.groups.retry(group.id) == []
    assert drain_all(store) == [*ids[1:], made.id]
    done = store.groups.progress(group.id)
    assert (done.status, done.total, done.succeeded) == ("succeeded", 3, 3)


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
def test_retry_of_a_stopped_group_resumes_it_in_order(store: Store, mode: GroupMode) -> None:
    group, _ = group_of(store, 3, mode, "stop")
    fail_for_good(store)
    made = store.groups.retry(group.id)
    assert [one.created for one in made] == [True] * 3
    for one in made:
        job = take(store)
        assert job.id == one.id
        assert mode == "parallel" or claim(store) == ()
        succeed(store, job)
    assert store.groups.progress(group.id).status == "succeeded"


def test_retry_of_a_cancelled_group_includes_cancelled_jobs_on_request(store: Store) -> None:
    group, _ = group_of(store, 2, "parallel", "continue")
    store.groups.cancel(group.id)
    assert store.groups.retry(group.id) == []
    assert len(store.groups.retry(group.id, cancelled=True)) == 2
    assert len(drain_all(store)) == 2


def test_equal_job_added_again_replaces_a_failed_one(store: Store) -> None:
    group, _ = group_of(store, 1, "parallel", "continue", "unique")
    fail_for_good(store)
    store.groups.add(group.id, [NewJob("unique", {"n": 0})])
    assert store.groups.retry(group.id) == []
    drain_all(store)
    assert (store.groups.progress(group.id).status, store.groups.progress(group.id).total) == ("succeeded", 1)


def test_sequential_group_waits_for_equal_jobs(store: Store) -> None:
    before = add(store, "unique", {"n": 1})
    group = store.groups.open("s", mode="sequential", on_failure="stop")
    made = store.groups.add(group.id, [NewJob("unique", {"n": n}) for n in (0, 1, 2)])
    assert [one.created for one in made] == [True, False, True]
    a, b = take(store), take(store)
    assert {a.id, b.id} == {before, made[0].id}
    succeed(store, a)
    assert claim(store) == ()
    succeed(store, b)
    assert take(store).id == made[2].id


def test_group_names_are_unique_per_tenant(store: Store) -> None:
    group, _ = group_of(store, 1, "sequential", "stop")
    assert store.groups.open("nightly") == group
    assert store.groups.find("nightly") == group
    with pytest.raises(NotAllowed, match="is sequential, not parallel"):
        store.groups.open("nightly", mode="parallel")
    with pytest.raises(NotAllowed, match="on failure stop, not skip"):
        store.groups.open("nightly", on_failure="skip")
    other = store.groups.open("nightly", tenant_id="acme")
    assert other.id != group.id
    with pytest.raises(BadArguments, match="belongs to acme"):
        store.groups.add(other.id, [NewJob("plain")])
    assert [one.group.id for one in store.groups.list()] == [other.id, group.id]
    assert [one.group.id for one in store.groups.list("acme")] == [other.id]
    assert store.groups.progress(other.id).status == "empty"


@pytest.mark.parametrize("name", ["", "x" * 201, "a\nb"])
def test_bad_names_are_refused(store: Store, name: str) -> None:
    with pytest.raises(BadArguments, match="printable"):
        store.groups.open(name)


def test_unknown_groups_are_refused(store: Store) -> None:
    acts: tuple[Any, ...] = (store.groups.get, store.groups.progress, store.groups.cancel, store.groups.retry)
    for act in acts:
        for group_id in (77, 10**30):
            with pytest.raises(GroupNotFound):
                act(group_id)
    with pytest.raises(GroupNotFound, match="no group none"):
        store.groups.find("none")
    with pytest.raises(GroupNotFound):
        store.groups.add(77, [NewJob("plain")])


def test_job_of_a_sequential_group_may_not_name_parents(store: Store) -> None:
    parent = add(store)
    group = store.groups.open("s", mode="sequential")
    with pytest.raises(BadArguments, match="wait for the one before"):
        store.groups.add(group.id, [NewJob("plain", after=(parent,))])


def test_jobs_are_listed_by_group_newest_first(store: Store) -> None:
    group, ids = group_of(store, 3, "parallel", "continue")
    add(store)
    succeed(store, take(store))
    assert [job.id for job in store.jobs.list(JobFilter(group_id=group.id)).jobs] == ids[::-1]
    found = store.jobs.list(JobFilter(group_id=group.id, status="completed")).jobs
    assert [job.id for job in found] == ids[:1]


@pytest.mark.parametrize("dead", [True, False])
def test_dead_letters_of_a_group_are_told_from_its_other_failures(store: Store, dead: bool) -> None:
    group = store.groups.open("some")
    store.groups.add(group.id, [NewJob("plain", {"n": n}, max_attempts=1) for n in range(2)])
    fail(store, take(store))
    fail(store, take(store), permanent=True)
    wanted = JobFilter(group_id=group.id, dead=dead)
    assert [job.dead_lettered_at is not None for job in store.jobs.list(wanted).jobs] == [dead]


def test_group_without_jobs_is_pruned_with_them(store: Store, clock: FakeClock) -> None:
    group, _ = group_of(store, 1, "parallel", "continue")
    store.maintenance.prune(3, 90)
    succeed(store, take(store))
    clock.advance(4 * 86_400)
    fresh = store.groups.open("fresh")
    store.maintenance.prune(3, 90)
    assert [one.group.id for one in store.groups.list()] == [fresh.id]
    assert group.id != fresh.id


def test_group_that_gains_a_job_meanwhile_is_not_pruned(
    backend: BackendUnderTest, store: Store, clock: FakeClock
) -> None:
    group = store.groups.open("nightly")
    clock.advance(4 * 86_400)
    pruning = threading.Thread(target=backend.open().maintenance.prune, args=(3, 90))
    with store.database.write() as tx:
        tx.change("groups/lock", {"group_id": group.id})
        (made,) = tx.insert_jobs([store.registry.prepare(NewJob("plain", group_id=group.id))])
        pruning.start()
        backend.wait_for_a_blocked_writer(pruning)
    pruning.join()
    assert store.jobs.get(made.id).group_id == group.id
    assert store.groups.get(group.id) == group


def test_many_jobs_of_a_sequential_group_keep_their_order(store: Store) -> None:
    _, ids = group_of(store, 1500, "sequential", "continue")
    assert len(ids) == 1500
    assert [take_and_succeed(store) for _ in range(5)] == ids[:5]


def take_and_succeed(store: Store) -> int:
    job = take(store)
    succeed(store, job)
    return job.id
