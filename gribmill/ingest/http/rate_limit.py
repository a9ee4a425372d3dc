"""Limits of requests per minute to a host, shared by all processes on this machine, or by several machines."""

from __future__ import annotations

import fcntl
import os
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

from gribmill.ingest.errors import RateLimited
from gribmill.ingest.mirror import Host

# When the token bucket will be full again, on the monotonic clock of the machine.
_FULL_AT = struct.Struct("<d")
# The time of the next turn on this machine's monotonic clock, the turns left, and the turns taken last time.
_TURNS = struct.Struct("<dII")
LOCK_PAUSE_SECONDS = 0.002
MINUTE = 60.0


class RateLimit:
    """Grants turns. `folder` contains a small file per host; if a process dies, only the turns it took are lost.

    No 60-second window has more requests than `requests_per_minute`: a tenth may be a burst, the rest is spread out.
    """

    def __init__(
        self,
        folder: Path,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.folder, self._clock, self._sleep = folder, clock, sleep

    def take(self, host: Host, url: str, longest_wait: float) -> float:
        """Waits for a turn and returns the seconds waited. Raises RateLimited at once if the wait would be too long."""
        if host.requests_per_minute is None:
            return 0.0
        wait = self._reserve(host.name, host.requests_per_minute, url, longest_wait)
        if wait > 0:
            self._sleep(wait)
        return wait

    def _reserve(self, name: str, per_minute: int, url: str, longest_wait: float) -> float:
        """Reserves a turn and returns the seconds until it. Turns are granted in order, so no process starves."""
        interval, burst_seconds = _pace(per_minute)
        with self._locked(f"{name}.rate", url, longest_wait) as place:
            now = self._clock()
            full_at = max(self._read(place, now, longest_wait), now)
            wait = max(0.0, full_at - now - burst_seconds)
            if wait > longest_wait:
                raise RateLimited(url, _why(name, per_minute, wait), wait)
            os.pwrite(place, _FULL_AT.pack(full_at + interval), 0)
            return wait

    @contextmanager
    def _locked(self, file: str, url: str, longest_wait: float) -> Iterator[int]:
        """The open file, locked. The lock is held for microseconds; only a stopped process can hold it longer."""
        self.folder.mkdir(parents=True, exist_ok=True)
        # CLOCK_MONOTONIC is the same for all processes and is not affected by setting the time of day.
        place = os.open(self.folder / file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            self._lock(place, url, longest_wait)
            yield place
        finally:
            os.close(place)

    @staticmethod
    def _lock(place: int, url: str, longest_wait: float) -> None:
        deadline = time.monotonic() + max(longest_wait, 1.0)
        while True:
            try:
                fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise RateLimited(url, "another process holds the lock of the rate limit", 1.0) from None
                time.sleep(LOCK_PAUSE_SECONDS)

    @staticmethod
    def _read(place: int, now: float, longest_wait: float) -> float:
        data = os.pread(place, _FULL_AT.size, 0)
        if len(data) < _FULL_AT.size:
            return now
        (full_at,) = _FULL_AT.unpack(data)
        # A time too far ahead was written before the machine restarted, or is damaged.
        return full_at if full_at <= now + longest_wait + MINUTE else now


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


class SharedRateLimit(RateLimit):
    """Like RateLimit, for all machines that share one source of turns, such as a database.

    Turns are points in time at equal intervals. A turn may be used late, by as many intervals as there are requests in
    a burst (a tenth of the limit); after that it is lost. So no 60-second window has more requests than the limit,
    regardless of which machines send them. A machine that has used up its turns takes several at once, and its
    processes share them through a file.
    """

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
        interval, late = _pace(per_minute)
        with self._locked(f"{name}.turns", url, longest_wait) as place:
            held = _held(place).without_lost(self._clock(), interval, late)
            if not held.left or held.next_at > self._clock() + longest_wait + MINUTE:
                held = self._taken(held, name, per_minute, url, longest_wait)
            os.pwrite(place, _TURNS.pack(held.next_at + interval, held.left - 1, held.taken), 0)
            wait = held.next_at - self._clock()
            return max(0.0, wait)

    def _taken(self, held: _Held, name: str, per_minute: int, url: str, longest_wait: float) -> _Held:
        """Takes new turns: twice as many as last time if all were used, one if some were lost."""
        interval, late = _pace(per_minute)
        most = max(1, per_minute // 20)
        used_up = held.taken > 0 and self._clock() <= held.next_at + late
        count = min(most, held.taken * 2) if used_up else 1
        asked = self._clock()
        taken = self._turns.take(name, count, interval, late, longest_wait)
        if not taken.granted:
            raise RateLimited(url, taken.reason or _why(name, per_minute, taken.seconds), taken.seconds)
        # Counted from the time of the response, so that a turn is never used too early.
        return _Held(max(asked, self._clock()) + taken.seconds, count, count)


class _Held(NamedTuple):
    """Turns that this machine has taken."""

    next_at: float
    left: int
    taken: int

    def without_lost(self, now: float, interval: float, late: float) -> _Held:
        """The turns that can still be used; turns more than `late` seconds late are lost."""
        lost = max(0, min(self.left, -int((self.next_at + late - now) // interval)))
        return self._replace(next_at=self.next_at + lost * interval, left=self.left - lost)


def _held(place: int) -> _Held:
    data = os.pread(place, _TURNS.size, 0)
    return _Held(*_TURNS.unpack(data)) if len(data) == _TURNS.size else _Held(0.0, 0, 0)


def _pace(per_minute: int) -> tuple[float, float]:
    """The seconds between two turns, and the seconds of turns that a burst may use at once."""
    burst = max(1, per_minute // 10)
    interval = MINUTE / max(1, per_minute - burst)
    return interval, (burst - 1) * interval


def _why(name: str, per_minute: int, seconds: float) -> str:
    return f"{name} allows {per_minute} requests a minute; the next turn is in {seconds:.1f} s"
