"""Invariants under concurrent writers. SQLite has one writer at a time; PostgreSQL has many."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from gribmill.queue.errors import Reserved
from gribmill.queue.model import Claimed, NewJob, Report, Succeeded
from gribmill.queue.store import Store
from gribmill.queue.store.jobs.listing import JobFilter
from tests.queue.backends import BOTH, new_address, open_address
from tests.queue.store.crew import together
from tests.queue.store.sample_types import TYPES
from tests.queue.store.store_driver import add, asks, claim, fail, report, snooze, succeed
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

ROUNDS = 60


@pytest.fixture(params=BOTH)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A store with the real clock: each thread that uses it has its own connection."""
    with new_address(request.param, tmp_path) as address:
        store = Store(open_address(address, synchronous="normal"), TYPES)
        yield store
        assert store.verify() == []
        store.close()


@contextmanager
def ending(over: threading.Event) -> Iterator[None]:
    """Let the other threads continue until the block has succeeded or failed."""
    try:
        yield
    finally:
        over.set()


def finish_all(store: Store, worker: str, expected: int, done: list[int]) -> None:
    """Claim and complete jobs until all threads together have completed `expected` jobs."""
    while len(done) < expected:
        for job in claim(store, worker):
            succeed(store, job, worker)
            done.append(job.id)


def test_child_added_while_its_parent_completes_is_released(store: Store) -> None:
    done: list[int] = []

    def add_pairs() -> None:
        for _ in range(ROUNDS):
            parent = add(store)
            add(store, after=(parent,))

    together(
        add_pairs,
        add_pairs,
        *(partial(finish_all, store, f"w{n}", 4 * ROUNDS, done) for n in range(4)),
    )
    assert len(done) == 4 * ROUNDS, "a child waits for a parent that has completed"


def test_max_running_is_never_exceeded(store: Store) -> None:
    for n in range(ROUNDS):
        add(store, "limited", {"hour": n})
    most: list[int] = []

    def work(worker: str) -> None:
        for _ in range(ROUNDS):
            batch = claim(store, worker, ("limited",))
            most.append(len({job.batch_id for job in store.jobs.list(JobFilter(status="processing")).jobs}))
            for job in batch:
                succeed(store, job, worker)

    together(*(partial(work, f"w{n}") for n in range(6)))
    assert max(most) <= 2


def test_no_job_starts_under_a_new_reservation(store: Store) -> None:
    over = threading.Event()

    def reserve() -> None:
        with ending(over):
            for n in range(ROUNDS // 2):
                store.reservations.release(store.reservations.reserve(f"somebody {n}", 60.0).id)

    def work(worker: str) -> None:
        while not over.is_set():
            add(store)
            for job in claim(store, worker, ("plain",)):
                reserved = store.reservations.list()
                started = store.jobs.get(job.id).started_at
                for one in reserved:
                    assert started is not None and one.reserved_at is not None
                    assert started <= one.reserved_at, "a job started after the reservation"
                succeed(store, job, worker)

    together(reserve, *(partial(work, f"w{n}") for n in range(4)))


def test_only_one_of_many_gets_a_reservation(store: Store) -> None:
    holders: list[int] = []

    def reserve(n: int) -> None:
        for _ in range(20):
            try:
                held = store.reservations.reserve(f"holder {n}", 60.0)
            except Reserved:
                continue
            holders.append(n)
            assert holders.count(n) and len(holders) == 1, "two hold the queue at once"
            holders.remove(n)
            store.reservations.release(held.id)

    together(*(partial(reserve, n) for n in range(4)))


def test_equal_job_is_found_or_created_while_the_other_ends(store: Store) -> None:
    over = threading.Event()
    made: Counter[bool] = Counter()

    def enqueue() -> None:
        with ending(over):
            for _ in range(ROUNDS * 2):
                made[store.jobs.enqueue(NewJob("plain", {}, dedupe_key="the same")).created] += 1

    def work(worker: str) -> None:
        while not over.is_set():
            for job in claim(store, worker):
                succeed(store, job, worker)

    together(enqueue, enqueue, partial(work, "w1"), partial(work, "w2"))
    jobs = store.jobs.list(limit=1000).jobs
    assert len(jobs) == made[True], "an equal job was made twice, or lost"


def test_siblings_are_not_split_between_workers(store: Store) -> None:
    hours = range(24)
    store.jobs.enqueue_many(
        [NewJob("tile", {"hour": hour, "region": r}) for hour in hours for r in ("a", "b", "c", "d")]
    )
    batches: list[tuple[Claimed, ...]] = []

    def work(worker: str) -> None:
        while batch := claim(store, worker, ("tile",)):
            batches.append(batch)

    together(*(partial(work, f"w{n}") for n in range(6)))
    assert [len(batch) for batch in batches] == [4] * len(hours)
    assert all(len({job.group_key for job in batch}) == 1 for batch in batches)


def test_each_job_is_claimed_by_one_worker(store: Store) -> None:
    ids = {made.id for made in store.jobs.enqueue_many([NewJob("plain", {"n": n}) for n in range(ROUNDS * 4)])}
    claimed: list[int] = []

    def work(worker: str) -> None:
        while batch := claim(store, worker):
            claimed.extend(job.id for job in batch)

    together(*(partial(work, f"w{n}") for n in range(6)))
    assert Counter(claimed) == Counter(ids)


def test_reports_of_shared_children_in_opposite_order_do_not_fail(store: Store) -> None:
    """Two workers complete parents of the same children in opposite orders, which locks rows crosswise."""
    for _ in range(ROUNDS // 3):
        parents = [add(store) for _ in range(4)]
        children = [add(store, after=tuple(parents)) for _ in range(3)]
        held = {job.id: (job, worker) for worker in ("w1", "w2") for job in _take(store, worker, 2)}
        assert held.keys() == set(parents)

        def finish(worker: str, backwards: bool, held: dict[int, tuple[Claimed, str]] = held) -> None:
            mine = sorted((job for job, holder in held.values() if holder == worker), key=lambda job: job.id)
            reports = [Report(job.ref, Succeeded()) for job in (reversed(mine) if backwards else mine)]
            assert len(store.exchange(worker, reports).accepted) == 2

        together(partial(finish, "w1", False), partial(finish, "w2", True))
        ready = _take(store, "w3", 3)
        assert {job.id for job in ready} == set(children)
        for job in ready:
            report(store, job, Succeeded(), "w3")


def test_no_follow_up_is_left_in_a_group_cancelled_meanwhile(store: Store) -> None:
    for n in range(ROUNDS // 2):
        group = store.groups.open(f"group {n}")
        store.groups.add(group.id, [NewJob("plain")])
        (job,) = claim(store, "w1")
        together(
            partial(succeed, store, job, "w1", then=(NewJob("plain", {"n": 1}),)),
            partial(store.groups.cancel, group.id),
        )
        left = [one.id for one in store.jobs.list(JobFilter(status="pending")).jobs]
        assert not left, "a job waits in a group that was stopped"


def test_no_new_retry_job_is_left_in_a_group_cancelled_meanwhile(store: Store) -> None:
    store.definitions.edit("plain", {"retry_as": "new_job"})
    for n in range(ROUNDS // 2):
        group = store.groups.open(f"group {n}")
        store.groups.add(group.id, [NewJob("plain")])
        (job,) = claim(store, "w1")
        together(partial(fail, store, job, "w1"), partial(store.groups.cancel, group.id))
        left = [one.id for one in store.jobs.list(JobFilter(status="pending")).jobs]
        assert not left, "a job waits in a group that was stopped"


def test_job_added_to_a_sequential_group_waits_for_a_concurrent_follow_up(store: Store) -> None:
    for n in range(ROUNDS // 2):
        group = store.groups.open(f"group {n}", mode="sequential")
        store.groups.add(group.id, [NewJob("plain")])
        (job,) = claim(store, "w1")
        together(
            partial(succeed, store, job, "w1", then=(NewJob("plain", {"n": 1}),)),
            partial(store.groups.add, group.id, [NewJob("plain", {"n": 2})]),
        )
        order = []
        while batch := _take(store, "w1", 2):
            assert len(batch) == 1, "two jobs of a sequential group run at once"
            order.append(store.jobs.get(batch[0].id).args["n"])
            succeed(store, batch[0], "w1")
        assert order == [1, 2]


@pytest.mark.parametrize("end", [fail, partial(snooze, seconds=60.0)], ids=["fails", "is snoozed"])
def test_cancellation_is_not_lost_when_the_attempt_ends_meanwhile(store: Store, end: Callable[..., object]) -> None:
    for _ in range(ROUNDS // 2):
        add(store)
        (job,) = claim(store, "w1")
        together(partial(end, store, job, worker="w1"), partial(store.jobs.cancel, job.id))
        assert store.jobs.get(job.id).status == "cancelled"


def test_cancellation_is_not_lost_when_the_job_is_recovered_meanwhile(store: Store) -> None:
    for _ in range(ROUNDS // 2):
        add(store)
        (job,) = store.claim(asks("w1", lease=0.001))
        together(store.maintenance.recover, partial(store.jobs.cancel, job.id))
        assert wait_until(partial(_recovered, store, job.id)) == "cancelled"


def _recovered(store: Store, job_id: int) -> str | None:
    """The status of a job after its lease expired and it was recovered."""
    store.maintenance.recover()
    status = store.jobs.get(job_id).status
    return None if status == "processing" else status


def _take(store: Store, worker: str, count: int) -> list[Claimed]:
    return list(itertools.chain(*(claim(store, worker, ("plain",)) for _ in range(count))))


def test_invariants_hold_under_concurrent_cancel_complete_retry_and_recover(store: Store) -> None:
    ids = [add(store, max_attempts=50) for _ in range(ROUNDS)]
    over = threading.Event()

    def operate() -> None:
        with ending(over):
            for n, job_id in enumerate(ids):
                child = add(store, after=(job_id,), on_parent_failure="ignore")
                for act in (partial(store.jobs.cancel, job_id), partial(store.jobs.move_to_front, child)):
                    _try(act)
                if n % 5 == 0:
                    store.maintenance.recover()

    def work(worker: str) -> None:
        while not over.is_set():
            for job in store.claim(asks(worker, lease=0.05)):
                report(store, job, Succeeded(), worker)

    together(operate, *(partial(work, f"w{n}") for n in range(4)))
    assert store.verify() == []
    assert {store.jobs.get(job_id).status for job_id in ids} <= {"completed", "cancelled", "processing"}


def _try(act: Callable[[], object]) -> None:
    try:
        act()
    except Exception as error:  # noqa: BLE001 — refused because of the job's state; nothing else is expected
        assert type(error).__name__ in ("NotAllowed", "JobNotFound"), error
