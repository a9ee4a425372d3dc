"""Jobs that depend on others."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from gribmill.queue.errors import JobNotFound
from gribmill.queue.model import NewJob, Report, Snoozed, Succeeded
from gribmill.queue.store import Store
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.sample_types import TYPES
from tests.queue.store.store_driver import LEASE, add, asks, claim, drain, fail, stop, succeed, take
from tests.queue.store.tested_backend import BackendUnderTest


def lose(store: Store, clock: FakeClock) -> None:
    """Let the lease of the running attempt expire."""
    clock.advance(LEASE)
    store.maintenance.recover()


def test_child_runs_when_its_last_parent_is_done(store: Store) -> None:
    a, b = add(store), add(store)
    child = add(store, after=(a, b, a), priority=9)
    assert store.jobs.get(child).deps_left == 2
    one, two = take(store), take(store)
    succeed(store, two)
    assert store.jobs.get(child).deps_left == 1
    assert claim(store) == ()
    succeed(store, one)
    assert take(store).id == child
    assert [parent.id for parent in store.jobs.history(child).parents] == [a, b]
    assert [relative.id for relative in store.jobs.history(a).children] == [child]


def test_retrying_parent_holds_its_child(store: Store, clock: FakeClock) -> None:
    parent = add(store)
    child = add(store, after=(parent,))
    fail(store, take(store))
    assert store.jobs.get(child).status == "pending"
    assert claim(store) == ()
    clock.advance(100)
    succeed(store, take(store))
    assert take(store).id == child


@pytest.mark.parametrize("end", ["failed", "dead", "stopped", "cancelled", "lost"])
def test_failed_parent_cancels_all_its_descendants(store: Store, clock: FakeClock, end: str) -> None:
    parent = add(store, "fragile", max_attempts=1)
    child = add(store, after=(parent,))
    grandchild = add(store, after=(child,))
    stoic = add(store, after=(child,), on_parent_failure="ignore")
    if end == "cancelled":
        store.jobs.cancel(parent)
    else:
        job = take(store)
        ends: dict[str, Callable[[], object]] = {
            "failed": lambda: fail(store, job, permanent=True),
            "dead": lambda: fail(store, job),
            "stopped": lambda: stop(store, job),
            "lost": lambda: lose(store, clock),
        }
        ends[end]()
    assert [store.jobs.get(job_id).status for job_id in (child, grandchild, stoic)] == [
        "cancelled",
        "cancelled",
        "pending",
    ]
    how = store.jobs.get(parent).status
    assert store.jobs.get(child).error_message == f"parent job {parent} ended {how}"
    assert store.jobs.get(grandchild).error_message == f"parent job {child} ended cancelled"
    assert drain(store) == [stoic]


def test_child_that_ignores_failure_still_waits_for_the_end(store: Store) -> None:
    a, b = add(store), add(store)
    child = add(store, after=(a, b), on_parent_failure="ignore")
    one, two = take(store), take(store)
    fail(store, one, permanent=True)
    assert claim(store) == ()
    succeed(store, two)
    assert take(store).id == child


def test_a_finished_parent_does_not_delay_its_child(store: Store) -> None:
    parent = add(store)
    succeed(store, take(store))
    child = add(store, after=(parent,))
    assert take(store).id == child


def test_already_failed_parent_cancels_the_child_at_once(store: Store) -> None:
    parent = add(store)
    fail(store, take(store), permanent=True)
    child = add(store, after=(parent,))
    stoic = add(store, after=(parent,), on_parent_failure="ignore")
    assert store.jobs.get(child).status == "cancelled"
    assert store.jobs.get(child).error_message == f"parent job {parent} had failed"
    assert store.jobs.get(child).completed_at is not None
    assert drain(store) == [stoic]


def test_parent_must_exist(store: Store) -> None:
    with pytest.raises(JobNotFound, match="job 99, which does not exist"):
        add(store, after=(99,))
    with pytest.raises(JobNotFound):
        add(store, after=(10**30,))
    assert store.jobs.list().jobs == ()


def test_child_waits_for_both_its_delay_and_its_parents(store: Store, clock: FakeClock) -> None:
    parent = add(store)
    child = add(store, after=(parent,), delay_seconds=10)
    succeed(store, take(store))
    assert claim(store) == ()
    clock.advance(10)
    assert take(store).id == child


def test_cancelling_a_child_does_not_affect_its_parents(store: Store) -> None:
    parent = add(store)
    child = add(store, after=(parent,))
    store.jobs.cancel(child)
    succeed(store, take(store))
    assert store.jobs.get(child).status == "cancelled"
    assert claim(store) == ()


def test_wide_and_deep_dependencies_settle_in_one_transaction(store: Store) -> None:
    root = add(store)
    last = root
    for _ in range(50):
        last = add(store, after=(last,))
    wide = [add(store, after=(root,)) for _ in range(50)]
    fail(store, take(store), permanent=True)
    assert {store.jobs.get(job_id).status for job_id in (last, *wide)} == {"cancelled"}


def test_pruned_parents_keep_the_count_of_the_child_correct(store: Store, clock: FakeClock) -> None:
    a, b = add(store), add(store)
    child = add(store, after=(a, b))
    succeed(store, take(store))
    other = take(store, lease=3600)
    clock.advance(10)
    assert store.maintenance.prune(0, 0).completed == 1
    assert store.verify() == []
    assert store.jobs.get(child).deps_left == 1
    succeed(store, other)
    assert take(store).id == child


def test_a_late_report_about_a_completed_parent_does_not_release_its_child_again(store: Store) -> None:
    first, second = add(store), add(store)
    child = add(store, after=(first, second))
    one, two = take(store), take(store)
    succeed(store, one)
    assert succeed(store, one).fenced == (one.ref,)
    assert store.exchange("w1", [Report(one.ref, Succeeded())], [asks()]).batches == ((),)
    late = Report(one.ref, Succeeded(then=(NewJob("plain", {}),)))
    assert store.exchange("w1", [late, Report(two.ref, Snoozed(0.0))]).fenced == (one.ref,)
    assert store.jobs.get(child).deps_left == 1
    assert store.verify() == []


def test_a_report_about_a_completed_parent_by_another_worker_does_not_release_its_child_again(
    store: Store, clock: FakeClock
) -> None:
    first, second = add(store), add(store, delay_seconds=4000)
    child = add(store, after=(first, second), on_parent_failure="ignore")
    lost = take(store)
    lose(store, clock)
    clock.advance(100)
    succeed(store, take(store, "w2"), "w2")
    assert succeed(store, lost).fenced == (lost.ref,)
    assert store.jobs.get(first).status == "completed"
    assert store.jobs.get(child).deps_left == 1


def test_child_is_released_if_its_parent_completes_before_its_own_commit(
    store: Store, backend: BackendUnderTest
) -> None:
    parent = add(store)
    job = take(store)
    adding, other = backend.open(), backend.open()
    finishing = threading.Thread(target=lambda: succeed(other, job))
    with adding.database.write() as tx:
        (child,) = tx.insert_jobs([TYPES.prepare(NewJob("plain", {}, after=(parent,)))])
        finishing.start()
        backend.wait_for_a_blocked_writer(finishing)
    finishing.join()
    assert take(store).id == child.id
