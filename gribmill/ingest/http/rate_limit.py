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

# The file contains one number: when the token bucket will be full again, on the monotonic clock of the machine.
_STATE = struct.Struct("<d")
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
        burst = max(1, per_minute // 10)
        interval = MINUTE / max(1, per_minute - burst)
        self.folder.mkdir(parents=True, exist_ok=True)
        # CLOCK_MONOTONIC is the same for all processes and is not affected by setting the time of day.
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
        """Takes the lock, which is held for microseconds; only a stopped process can hold it longer."""
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
        # A time too far ahead was written before the machine restarted, or is damaged.
        return full_at if full_at <= now + longest_wait + MINUTE else now
