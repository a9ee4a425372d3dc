"""A limit of requests per minute to a publisher, shared by several machines.

A database hands out turns: points in time at equal intervals. A turn may be used late, by as many intervals as there
are requests in a burst (a tenth of the limit); after that it is lost. So no 60-second window has more requests than the
limit, regardless of which machines send them. A machine that has used up its turns takes several at once, and its
processes share them through a file.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol

from gribmill.ingest.http.errors import RateLimited
from gribmill.ingest.http.rate_limit import MINUTE, RateLimit

# The time of the next turn on this machine's monotonic clock, the turns left, and the turns taken last time.
_STATE = struct.Struct("<dII")


class TurnsTaken(NamedTuple):
    """Seconds until the first turn. If not `granted`, none was taken: the wait is too long, or see `reason`."""

    seconds: float
    granted: bool
    reason: str = ""


class TurnsGivenOut(Protocol):
    """Hands out turns to all machines."""

    def take(self, host: str, count: int, interval: float, late: float, longest_wait: float) -> TurnsTaken:
        """Takes the next `count` turns of a publisher. Each may be used up to `late` seconds after its time."""
        ...


class _Held(NamedTuple):
    """Turns that this machine has taken."""

    next_at: float
    left: int
    taken: int

    def without_lost(self, now: float, interval: float, late: float) -> _Held:
        """The turns that can still be used; turns more than `late` seconds late are lost."""
        lost = max(0, min(self.left, -int((self.next_at + late - now) // interval)))
        return self._replace(next_at=self.next_at + lost * interval, left=self.left - lost)


class SharedRateLimit(RateLimit):
    """Like RateLimit, for all machines that share one source of turns."""

    def __init__(
        self,
        folder: Path,
        turns: TurnsGivenOut,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(folder, clock=clock, sleep=sleep)
        self._turns = turns

    def _reserve(self, name: str, per_minute: int, url: str, longest_wait: float) -> float:
        burst = max(1, per_minute // 10)
        interval = MINUTE / max(1, per_minute - burst)
        late = (burst - 1) * interval
        self.folder.mkdir(parents=True, exist_ok=True)
        place = os.open(self.folder / f"{name}.turns", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            self._lock(place, url, longest_wait)
            held = _held(place).without_lost(self._clock(), interval, late)
            if not held.left or held.next_at > self._clock() + longest_wait + MINUTE:
                held = self._taken(held, name, per_minute, interval, late, url, longest_wait)
            os.pwrite(place, _STATE.pack(held.next_at + interval, held.left - 1, held.taken), 0)
            wait = held.next_at - self._clock()
            return max(0.0, wait)
        finally:
            os.close(place)

    def _taken(
        self, held: _Held, name: str, per_minute: int, interval: float, late: float, url: str, longest_wait: float
    ) -> _Held:
        """Takes new turns: twice as many as last time if all were used, one if some were lost."""
        most = max(1, per_minute // 20)
        used_up = held.taken > 0 and self._clock() <= held.next_at + late
        count = min(most, held.taken * 2) if used_up else 1
        asked = self._clock()
        taken = self._turns.take(name, count, interval, late, longest_wait)
        if not taken.granted:
            reason = f"{name} allows {per_minute} requests a minute; the next turn is in {taken.seconds:.1f} s"
            raise RateLimited(url, taken.reason or reason, taken.seconds)
        # Counted from the time of the response, so that a turn is never used too early.
        return _Held(max(asked, self._clock()) + taken.seconds, count, count)


def _held(place: int) -> _Held:
    data = os.pread(place, _STATE.size, 0)
    return _Held(*_STATE.unpack(data)) if len(data) == _STATE.size else _Held(0.0, 0, 0)
