"""A reservation holds jobs back; one whose holder died ends by the clock."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gribmill.queue.errors import NotAllowed, Reserved, UnknownJobType
from gribmill.queue.store import Store
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.store_driver import add, claim, drain, succeed, take
from tests.queue.store.tested_backend import BackendUnderTest


def test_reservation_of_a_type_holds_back_that_type_alone(store: Store) -> None:
    add(store)
    other = add(store, "fragile")
    held = store.reservations.reserve("me", 60, "plain")
    assert (held.scope, held.reserved_by) == ("plain", "me")
    assert drain(store) == [other]
    assert [found.id for found in store.reservations.list()] == [held.id]


def test_what_runs_already_goes_on(store: Store) -> None:
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
        with pytest.raises(NotAllowed, match=r"there is no reservation .* in force"):
            act()


def test_run_out_reservation_makes_room_for_the_next(store: Store, clock: FakeClock) -> None:
    store.reservations.reserve("dead", 10)
    clock.advance(10)
    assert store.reservations.list() == []
    again = store.reservations.reserve("alive", 10)
    assert [found.id for found in store.reservations.list()] == [again.id]


def test_sweep_marks_what_has_run_out(store: Store, backend: BackendUnderTest, clock: FakeClock) -> None:
    store.reservations.reserve("a", 10)
    store.reservations.reserve("b", 20, "plain")
    assert store.reservations.expire() == 0
    clock.advance(10)
    assert store.reservations.expire() == 1
    rows = backend.by_hand("SELECT reserved_by, status FROM direct_reservations ORDER BY 1")
    assert rows == [("a", "EXPIRED"), ("b", "ACTIVE")]


@pytest.mark.parametrize("seconds", [0, -1, 86_401, float("nan"), float("inf")])
def test_length_has_bounds_at_the_start_and_when_extended(store: Store, seconds: float) -> None:
    with pytest.raises(NotAllowed, match="between 0 and"):
        store.reservations.reserve("me", seconds)
    held = store.reservations.reserve("me", 10)
    with pytest.raises(NotAllowed, match="between 0 and"):
        store.reservations.extend(held.id, seconds)


def test_scope_must_be_a_type(store: Store) -> None:
    with pytest.raises(UnknownJobType):
        store.reservations.reserve("me", 10, "nonsense")
