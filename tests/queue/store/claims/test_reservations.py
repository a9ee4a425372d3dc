"""A reservation holds jobs back until it is released or expires."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gribmill.queue.errors import NotAllowed, Reserved, UnknownJobType
from gribmill.queue.model import NewJob
from gribmill.queue.store import Store
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.store_driver import add, asks, claim, drain, succeed, take
from tests.queue.store.tested_backend import BackendUnderTest


def test_reservation_of_a_type_holds_back_only_that_type(store: Store) -> None:
    add(store)
    other = add(store, "fragile")
    held = store.reservations.reserve("me", 60, "plain")
    assert (held.scope, held.reserved_by) == ("plain", "me")
    assert drain(store) == [other]
    assert [found.id for found in store.reservations.list()] == [held.id]


def test_running_jobs_continue_under_a_reservation(store: Store) -> None:
    add(store)
    job = take(store)
    store.reservations.reserve("me", 60)
    assert succeed(store, job).accepted


def test_scopes_are_independent_and_each_has_one_holder(store: Store, backend: BackendUnderTest) -> None:
    store.reservations.reserve("me", 60, "plain")
    store.reservations.reserve("you", 60, "tile")
    store.reservations.reserve("all", 60)
    other = backend.open()
    for scope, holder in (("plain", "me"), ("tile", "you"), ("*", "all")):
        with pytest.raises(Reserved, match=f"reserved by {holder} until"):
            other.reservations.reserve("they", 60, scope)
    assert len(store.reservations.list()) == 3


def test_extended_reservation_holds_longer_and_a_shortened_one_less(store: Store, clock: FakeClock) -> None:
    add(store)
    held = store.reservations.reserve("me", 10)
    clock.advance(9)
    store.reservations.extend(held.id, 10)
    clock.advance(9.999)
    assert claim(store) == ()
    store.reservations.extend(held.id, 0.5)
    clock.advance(0.5)
    take(store)


def test_ended_reservation_can_be_neither_extended_nor_released(store: Store, clock: FakeClock) -> None:
    gone = store.reservations.reserve("me", 10)
    store.reservations.release(gone.id)
    run_out = store.reservations.reserve("me", 10)
    clock.advance(10)
    acts: tuple[Callable[[], object], ...] = (
        lambda: store.reservations.extend(gone.id, 5),
        lambda: store.reservations.extend(run_out.id, 5),
        lambda: store.reservations.release(gone.id),
    )
    for act in acts:
        with pytest.raises(NotAllowed, match=r"there is no active reservation "):
            act()


def test_expired_reservation_makes_room_for_the_next(store: Store, clock: FakeClock) -> None:
    store.reservations.reserve("dead", 10)
    clock.advance(10)
    assert store.reservations.list() == []
    again = store.reservations.reserve("alive", 10)
    assert [found.id for found in store.reservations.list()] == [again.id]


def test_sweep_marks_expired_reservations(store: Store, backend: BackendUnderTest, clock: FakeClock) -> None:
    store.reservations.reserve("a", 10)
    store.reservations.reserve("b", 20, "plain")
    assert store.reservations.expire() == 0
    clock.advance(10)
    assert store.reservations.expire() == 1
    rows = backend.by_hand("SELECT reserved_by, status FROM direct_reservations ORDER BY 1")
    assert rows == [("a", "EXPIRED"), ("b", "ACTIVE")]


@pytest.mark.parametrize("seconds", [0, -1, 86_401, float("nan"), float("inf")])
def test_length_is_bounded_at_the_start_and_when_extended(store: Store, seconds: float) -> None:
    with pytest.raises(NotAllowed, match="between 0 and"):
        store.reservations.reserve("me", seconds)
    held = store.reservations.reserve("me", 10)
    with pytest.raises(NotAllowed, match="between 0 and"):
        store.reservations.extend(held.id, seconds)


def test_scope_must_be_a_type(store: Store) -> None:
    with pytest.raises(UnknownJobType):
        store.reservations.reserve("me", 10, "nonsense")


def test_reservation_does_not_hold_back_the_worker_of_its_holder(store: Store) -> None:
    first, second = add(store), add(store)
    held = store.reservations.reserve("me", 60, worker_id="mine")
    assert claim(store, "w1") == ()
    assert take(store, "mine").id == first
    assert claim(store, "w1") == ()
    store.reservations.share(held.id, "also mine")
    assert take(store, "also mine").id == second
    with pytest.raises(NotAllowed, match="no active reservation gone"):
        store.reservations.share("gone", "mine")


def test_single_reservation_keeps_out_every_other_scope(store: Store, clock: FakeClock) -> None:
    store.reservations.only_one = True
    store.reservations.reserve("me", 10, "plain")
    for scope in ("*", "tile", "plain"):
        with pytest.raises(Reserved, match="plain is reserved by me until"):
            store.reservations.reserve("you", 10, scope)
    clock.advance(10)
    assert store.reservations.reserve("you", 10, "tile").scope == "tile"


def test_new_job_is_claimed_at_once_ahead_of_the_queue(store: Store) -> None:
    add(store, priority=9)
    claimed = store.claim_new(asks(), NewJob("plain", {"n": 1}))
    assert store.jobs.get(claimed.id).status == "processing"
    assert succeed(store, claimed).accepted


def test_job_that_cannot_start_is_refused_with_the_reason_and_leaves_nothing(store: Store) -> None:
    store.reservations.reserve("you", 10, "plain")
    with pytest.raises(NotAllowed, match="cannot start now: reserved by you"):
        store.claim_new(asks(), NewJob("plain"))
    store.types.pause("tile")
    with pytest.raises(NotAllowed, match="type is paused"):
        store.claim_new(asks(), NewJob("tile"))
    for hour in (1, 2):
        add(store, "limited", {"hour": hour})
        take(store)
    with pytest.raises(NotAllowed, match="limit: 2"):
        store.claim_new(asks(), NewJob("limited"))
    there = add(store, "unique")
    with pytest.raises(NotAllowed, match=f"an equal job, {there}"):
        store.claim_new(asks(), NewJob("unique"))
    assert len(store.jobs.list().jobs) == 3


def test_pending_job_is_claimed_ahead_of_its_turn_and_its_time(store: Store) -> None:
    add(store)
    delayed = add(store, delay_seconds=60)
    waiting = add(store, after=(delayed,))
    with pytest.raises(NotAllowed, match="after 1 other job"):
        store.claim_job(asks(), waiting)
    claimed = store.claim_job(asks(), delayed)
    assert claimed.id == delayed and store.jobs.get(delayed).next_run_at is None
    with pytest.raises(NotAllowed, match="it is processing"):
        store.claim_job(asks("w2"), delayed)
