"""Retrying transactions after a conflict."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from gribmill.queue.errors import StoreConflict

P = ParamSpec("P")
T = TypeVar("T")

TRIES = 3
LONGEST_WAIT_SECONDS = 0.05


def retried(action: Callable[P, T]) -> Callable[P, T]:
    """Decorates a function of one transaction: runs it again if a conflict or deadlock rolled it back."""

    @wraps(action)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        for _ in range(TRIES - 1):
            try:
                return action(*args, **kwargs)
            except StoreConflict:
                # Keeps the two from colliding again.
                time.sleep(random.uniform(0, LONGEST_WAIT_SECONDS))  # noqa: S311
        return action(*args, **kwargs)

    return run
