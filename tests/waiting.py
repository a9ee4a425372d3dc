"""Waiting for a condition instead of sleeping: fast on an idle machine and correct on a loaded one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
LOOK_AGAIN_SECONDS = 0.02


def wait_until(condition: Callable[[], T | None], seconds: float = 120.0, what: str = "the condition") -> T:
    """The first true value of the condition; fails the test at the deadline, which is far beyond the expected time."""
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while True:
        if value := condition():
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds:g} s for {what}")
        pause.wait(LOOK_AGAIN_SECONDS)
