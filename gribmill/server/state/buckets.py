"""Rate limits: a token bucket per key."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable

from gribmill.server.problems import HttpProblem

MOST_KEYS = 10_000


class Buckets:
    """Allows bursts of `burst` and an average of `per_second` for each key. Unused keys are dropped."""

    def __init__(self, per_second: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> None:
        self._levels[key] = (self._level(key) - 1, self._clock())
        self._levels.move_to_end(key)
        while len(self._levels) > MOST_KEYS:
            self._levels.popitem(last=False)

    def refuse_if_spent(self, key: str, why: str) -> None:
        """Raise 429, with the time to wait, if the bucket is empty."""
        missing = 1 - self._level(key)
        if missing > 0:
            seconds = math.ceil(missing / self._per_second)
            raise HttpProblem(429, f"{why}: try again in {seconds} s", headers={"Retry-After": str(seconds)})

    def _level(self, key: str) -> float:
        level, at = self._levels.get(key, (self._burst, 0.0))
        return min(self._burst, level + (self._clock() - at) * self._per_second)
