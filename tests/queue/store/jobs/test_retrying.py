"""Transactions rolled back by a conflict are repeated."""

from __future__ import annotations

import pytest

from gribmill.queue.errors import StoreBusy, StoreConflict
from gribmill.queue.store.base import TRIES, retried


def test_transaction_is_repeated_after_a_conflict() -> None:
    calls: list[int] = []

    @retried
    def action(value: int) -> int:
        calls.append(value)
        if len(calls) < TRIES:
            raise StoreConflict("in each other's way")
        return value * 2

    assert action(4) == 8
    assert calls == [4] * TRIES


def test_persistent_conflict_is_reported() -> None:
    calls: list[int] = []

    @retried
    def action() -> None:
        calls.append(1)
        raise StoreConflict("in each other's way")

    with pytest.raises(StoreConflict):
        action()
    assert len(calls) == TRIES


def test_other_errors_are_not_retried() -> None:
    calls: list[int] = []

    @retried
    def action() -> None:
        calls.append(1)
        raise StoreBusy("locked")

    with pytest.raises(StoreBusy):
        action()
    assert len(calls) == 1
