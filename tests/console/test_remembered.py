"""A cached value shared by all pages: read rarely, and never waited for while a recent one exists."""

from __future__ import annotations

import threading

from gribmill.console.remembered import Remembered
from tests.waiting import wait_until


def test_value_is_read_once_while_it_is_fresh() -> None:
    reads: list[int] = []
    shared = Remembered(60.0, lambda: reads.append(1) or len(reads))  # type: ignore[func-returns-value]
    assert [shared.get() for _ in range(5)] == [1] * 5
    shared.forget()
    assert shared.get() == 2


def test_due_value_is_refreshed_in_the_background() -> None:
    may_read = threading.Event()
    may_read.set()
    reads: list[int] = []

    def read() -> int:
        assert may_read.wait(20)
        reads.append(1)
        return len(reads)

    shared = Remembered(0.0, read)
    assert shared.get() == 1
    may_read.clear()
    assert [shared.get() for _ in range(5)] == [1] * 5, "nobody waits"
    may_read.set()
    wait_until(lambda: shared.get() >= 2, what="the new value")


def test_too_old_value_is_waited_for() -> None:
    reads: list[int] = []
    shared = Remembered(0.0, lambda: reads.append(1) or len(reads), oldest_seconds=0.0)  # type: ignore[func-returns-value]
    assert [shared.get() for _ in range(3)] == [1, 2, 3]
