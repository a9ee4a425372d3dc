"""Transactions that were rolled back because of another one run again."""

from __future__ import annotations

import pytest

from gribmill.queue.errors import StoreBusy, StoreConflict
from gribmill.queue.store.retrying import TRIES, retried


def test_an_action_is_done_again_after_a_conflict() -> None:
    calls: list[int] = []

    @retried
    def action(value: int) -> int:
        calls.append(value)
        if len(calls) < TRIES:
            raise StoreConflict("in each other's way")
        return value * 2

    assert action(4) == 8
    assert calls == [4] * TRIES


def test_a_conflict_that_does_not_end_is_reported() -> None:
    calls: list[int] = []

    @retried
    def action() -> None:
        calls.append(1)
        raise StoreConflict("in each other's way")

    with pytest.raises(StoreConflict):
        action()
    assert len(calls) == TRIES


def test_other_errors_are_not_tried_again() -> None:
    calls: list[int] = []

    @retried
    def action() -> None:
        calls.append(1)
        raise StoreBusy("locked")

    with pytest.raises(StoreBusy):
        action()
    assert len(calls) == 1
