"""Moving pending jobs to the front, to the back or before another; the order of the others is unchanged."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from gribmill.queue.errors import BadArguments, JobNotFound, NotAllowed
from gribmill.queue.model import NewJob
from gribmill.queue.store import Store
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.store_driver import add, drain, fail, snooze, succeed, take
from tests.queue.store.tested_backend import BackendUnderTest


def order(store: Store) -> list[int]:
    return [job.id for job in store.jobs.upcoming(limit=1000)]


def test_natural_order_is_priority_then_age_then_id(store: Store, backend: BackendUnderTest, clock: FakeClock) -> None:
    a, b = add(store), add(store)
    clock.advance(-1)
    older = add(store)
    clock.advance(10)
    high = add(store, priority=1)
    low = add(store, priority=-1)
    assert order(store) == [high, older, a, b, low]
    assert drain(store) == [high, older, a, b, low]


def test_front_is_ahead_of_all_of_its_priority_only(store: Store) -> None:
    high = add(store, priority=1)
    a, b, c = (add(store) for _ in range(3))
    store.jobs.move_to_front(c)
    assert order(store) == [high, c, a, b]
    store.jobs.move_to_front(b)
    assert order(store) == [high, b, c, a]
    store.jobs.move_to_front(b)
    assert drain(store) == [high, b, c, a]


def test_back_is_behind_all_of_its_priority_but_ahead_of_later_jobs(store: Store) -> None:
    low = add(store, priority=-1)
    a, b = add(store), add(store)
    store.jobs.move_to_back(a)
    late, later = add(store), add(store)
    assert order(store) == [b, a, late, later, low]
    store.jobs.move_to_back(b)
    assert drain(store) == [a, late, later, b, low]


def test_job_enqueued_by_any_route_goes_behind_a_parked_one(
    store: Store, backend: BackendUnderTest, clock: FakeClock
) -> None:
    parked = add(store)
    store.jobs.move_to_back(parked)
    clock.advance(-100)
    made = [
        add(store),
        *(one.id for one in store.jobs.enqueue_many([NewJob("plain"), NewJob("plain", delay_seconds=1)])),
    ]
    backend.by_hand("INSERT INTO jobs (type) VALUES ('plain')")
    assert order(store) == [parked, *made, made[-1] + 1]
    other = add(store, priority=1)
    assert store.jobs.get(other).position == 0
    clock.advance(2)
    assert len(drain(store)) == 6
    assert store.jobs.get(add(store)).position == 0


def test_move_after_another_adopts_its_priority(store: Store) -> None:
    a, b, c = add(store), add(store), add(store)
    high = add(store, priority=7)
    store.jobs.move_after(a, b)
    assert order(store) == [high, b, a, c]
    store.jobs.move_after(b, c)
    assert order(store) == [high, a, c, b]
    store.jobs.move_after(c, high)
    late = add(store)
    assert order(store) == [high, c, a, b, late]
    assert store.jobs.get(c).priority == 7
    store.jobs.move_to_front(high)
    store.jobs.move_to_front(c)
    store.jobs.move_after(a, high)
    assert drain(store) == [c, high, a, b, late]


def test_maintenance_renumbers_large_positions(store: Store, backend: BackendUnderTest) -> None:
    ids = [add(store) for _ in range(3)]
    store.jobs.move_to_back(ids[0])
    late = add(store)
    assert store.jobs.renumber_far() == 0
    backend.by_hand("UPDATE jobs SET position = position * 10000 WHERE position > 0")
    assert store.jobs.renumber_far() == 2
    assert order(store) == [*ids[1:], ids[0], late]
    assert store.jobs.get(late).position == 200


def test_move_before_another_adopts_its_priority(store: Store) -> None:
    a, b = add(store), add(store)
    high = add(store, priority=7)
    store.jobs.move_before(b, high)
    assert order(store) == [b, high, a]
    assert store.jobs.get(b).priority == 7


def test_move_before_in_natural_order_without_a_gap(store: Store, clock: FakeClock) -> None:
    ids = []
    for _ in range(6):
        ids.append(add(store))
        clock.advance(1)
    store.jobs.move_before(ids[5], ids[2])
    expected = [ids[0], ids[1], ids[5], ids[2], ids[3], ids[4]]
    assert order(store) == expected
    late = add(store)
    assert drain(store) == [*expected, late]


def test_move_before_the_same_job_until_gaps_are_used_up(store: Store) -> None:
    ids = [add(store) for _ in range(30)]
    target = ids[0]
    store.jobs.move_to_front(target)
    expected = [target]
    for job_id in ids[1:]:
        store.jobs.move_before(job_id, target)
        expected.insert(len(expected) - 1, job_id)
        assert order(store)[: len(expected)] == expected
    assert drain(store) == expected


def test_oldest_moved_backwards_stays_where_it_was_put(store: Store, clock: FakeClock) -> None:
    ids = []
    for _ in range(5):
        ids.append(add(store))
        clock.advance(1)
    store.jobs.move_before(ids[0], ids[3])
    assert order(store) == [ids[1], ids[2], ids[0], ids[3], ids[4]]


def test_gaps_used_up_ahead_of_other_pinned_jobs(store: Store, clock: FakeClock) -> None:
    older = add(store)
    clock.advance(1)
    target = add(store)
    store.jobs.move_to_front(older)
    store.jobs.move_to_front(target)
    rest = [add(store) for _ in range(12)]
    for job_id in rest:
        store.jobs.move_before(job_id, target)
    assert order(store) == [*rest, target, older]


def test_front_is_ahead_of_older_rows_that_become_ready_later(store: Store, clock: FakeClock) -> None:
    parked, first = add(store), add(store)
    store.jobs.move_to_back(parked)
    store.jobs.move_to_back(first)
    store.jobs.move_to_front(first)
    clock.advance(-100)
    late = add(store)
    assert order(store) == [first, parked, late]


def test_before_among_parked_jobs(store: Store) -> None:
    a, b, c, d = (add(store) for _ in range(4))
    for job_id in (a, b, c):
        store.jobs.move_to_back(job_id)
    for job_id in (a, b, a, b, a, b, a, b, a):
        store.jobs.move_before(job_id, c)
    assert order(store) == [d, b, a, c]


def test_any_sequence_of_moves_matches_a_plain_list(store: Store, clock: FakeClock) -> None:
    dice = random.Random(7)
    expected = []
    for _ in range(12):
        expected.append(add(store, "plain"))
        clock.advance(dice.choice((0, 1)))
    for step in range(120):
        job_id = dice.choice(expected)
        rest = [other for other in expected if other != job_id]
        match dice.choice(("front", "back", "before", "before", "after", "after", "tidy")):
            case "front":
                store.jobs.move_to_front(job_id)
                expected = [job_id, *rest]
            case "back":
                store.jobs.move_to_back(job_id)
                expected = [*rest, job_id]
            case "before":
                at = dice.randrange(len(rest))
                store.jobs.move_before(job_id, rest[at])
                expected = [*rest[:at], job_id, *rest[at:]]
            case "after":
                at = dice.randrange(len(rest))
                store.jobs.move_after(job_id, rest[at])
                expected = [*rest[: at + 1], job_id, *rest[at + 1 :]]
            case "tidy":
                store.jobs.renumber(0)
        assert order(store) == expected, f"after step {step}"
    assert drain(store) == expected


def test_normalize_spaces_evenly_and_changes_no_order(store: Store) -> None:
    ids = [add(store) for _ in range(8)]
    for job_id in ids[4:]:
        store.jobs.move_before(job_id, ids[1])
    store.jobs.move_to_back(ids[2])
    before = order(store)
    moved = store.jobs.renumber(0)
    assert order(store) == before
    positions = [store.jobs.get(job_id).position for job_id in before]
    pinned = [position for position in positions if position < 0]
    assert pinned == [-100 * n for n in range(len(pinned), 0, -1)]
    assert [position for position in positions if position > 0] == [100]
    assert moved == len(pinned) + 1
    assert store.jobs.renumber(5) == 0


def test_new_priority_resets_the_position(store: Store) -> None:
    a, b, c = add(store, priority=2), add(store), add(store, priority=2)
    store.jobs.move_to_front(b)
    store.jobs.set_priority(b, 2)
    assert order(store) == [a, b, c]
    assert store.jobs.get(b).position == 0
    with pytest.raises(BadArguments, match="priority"):
        store.jobs.set_priority(b, 2**70)


def test_snoozed_job_keeps_its_place(store: Store, clock: FakeClock) -> None:
    first = add(store)
    clock.advance(1)
    second = add(store)
    job = take(store)
    snooze(store, job, 0)
    assert order(store) == [first, second]


def test_only_pending_jobs_can_be_moved(store: Store) -> None:
    running, done, waiting = add(store), add(store), add(store)
    take(store)
    succeed(store, take(store))
    moves: tuple[Callable[[int], object], ...] = (
        store.jobs.move_to_front,
        store.jobs.move_to_back,
        lambda i: store.jobs.move_before(i, waiting),
        lambda i: store.jobs.move_before(waiting, i),
        lambda i: store.jobs.move_after(i, waiting),
        lambda i: store.jobs.move_after(waiting, i),
        lambda i: store.jobs.set_priority(i, 1),
    )
    for job_id, state in ((running, "processing"), (done, "completed")):
        for move in moves:
            with pytest.raises(NotAllowed, match=f"job {job_id} is {state}"):
                move(job_id)
    with pytest.raises(NotAllowed, match="itself"):
        store.jobs.move_before(waiting, waiting)
    with pytest.raises(JobNotFound, match="no job 99"):
        store.jobs.move_to_front(99)
    with pytest.raises(JobNotFound):
        store.jobs.get(10**30)


def test_due_job_keeps_its_place_by_arrival_unless_its_type_orders_by_due_time(store: Store, clock: FakeClock) -> None:
    def order() -> list[int]:
        """The claim order when three jobs are delayed, others arrive, and a worker claims once all are due."""
        late = add(store, delay_seconds=30.0)
        soon = add(store, delay_seconds=20.0)
        first = add(store)
        clock.advance(25)
        second = add(store)
        early = add(store, delay_seconds=1.0)
        clock.advance(10)
        names = {late: 30, soon: 20, early: 26, first: 0, second: 25}
        return [names[job_id] for job_id in drain(store)]

    assert order() == [30, 20, 0, 25, 26], "by arrival"
    store.definitions.edit("plain", {"queue_order": "due"})
    assert order() == [0, 25, 20, 26, 30], "behind those that waited when the worker looked, by due time"


def test_failed_job_goes_behind_waiting_jobs_and_ahead_of_later_ones(store: Store, clock: FakeClock) -> None:
    store.definitions.edit("plain", {"queue_order": "due", "backoff_jitter": 0})
    failing, waiting = add(store), add(store)
    pinned = add(store)
    fail(store, take(store))
    store.jobs.move_to_front(pinned)
    clock.advance(11)
    assert take(store).id == pinned
    later = add(store)
    assert drain(store) == [waiting, failing, later]
    assert store.verify() == []
