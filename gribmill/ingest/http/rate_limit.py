"""A limit of requests per minute to a host, shared by all processes on this machine."""

from __future__ import annotations

import fcntl
import os
import struct
import time
from collections.abc import Callable
from pathlib import Path

from gribmill.ingest.http.errors import RateLimited
from gribmill.ingest.mirrors.mirror import Host

# The file holds one number: when the bucket will be full again, on the clock that all processes share.
_STATE = struct.Struct("<d")
LOCK_PAUSE_SECONDS = 0.002
MINUTE = 60.0


class RateLimit:
    """Grants turns. `folder` holds a small file per host; a process that dies only loses the turns it took.

    No 60 seconds have more than the host's `requests_per_minute`: a tenth may come at once, the rest is spread out.
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
        """Waits for a turn and returns the seconds waited; RateLimited at once if the wait would be too long."""
        if host.requests_per_minute is None:
            return 0.0
        wait = self._reserve(host.name, host.requests_per_minute, url, longest_wait)
        if wait > 0:
            self._sleep(wait)
        return wait

    def _reserve(self, name: str, per_minute: int, url: str, longest_wait: float) -> float:
        """Turns are granted in the order of requests, so no process waits forever."""
        burst = max(1, per_minute // 10)
        interval = MINUTE / max(1, per_minute - burst)
        self.folder.mkdir(parents=True, exist_ok=True)
        # CLOCK_MONOTONIC is the same for all processes, and setting the time of day does not move it.
        place = os.open(self.folder / f"{name}.rate", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            self._lock(place, url, longest_wait)
            now = self._clock()
            full_at = max(self._read(place, now, longest_wait), now)
            wait = max(0.0, full_at - now - (burst - 1) * interval)
            if wait > longest_wait:
                reason = f"{name} allows {per_minute} requests a minute; the next turn is in {wait:.1f} s"
                raise RateLimited(url, reason, wait)
            os.pwrite(place, _STATE.pack(full_at + interval), 0)
            return wait
        finally:
            os.close(place)

    def _lock(self, place: int, url: str, longest_wait: float) -> None:
        """The lock is held for microseconds; only a stopped process can hold it longer."""
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
        data = os.pread(place, _STATE.size, 0)
        if len(data) < _STATE.size:
            return now
        (full_at,) = _STATE.unpack(data)
        # Further ahead than any queue can reach: written before the machine restarted, or damaged.
        return full_at if full_at <= now + longest_wait + MINUTE else now
