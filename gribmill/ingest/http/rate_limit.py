"""A limit of requests per minute for a host, kept by all processes of this machine together."""

from __future__ import annotations

import fcntl
import os
import struct
import time
from collections.abc import Callable
from pathlib import Path

from gribmill.ingest.http.errors import RateLimited
from gribmill.ingest.mirrors.host import Host

# The file holds one number: when the bucket will be full again, on the clock that all processes share.
_STATE = struct.Struct("<d")
LOCK_PAUSE_SECONDS = 0.002
MINUTE = 60.0


class RateLimit:
    """Hands out turns. `folder` holds a small file per host; a process that dies only loses the turns it took.

    In no 60 seconds more than the host's `requests_per_minute` begin: a tenth may come at once, the rest is spread.
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
        """Waits for a turn and gives the seconds waited; RateLimited at once where it would be longer than allowed."""
        if host.requests_per_minute is None:
            return 0.0
        wait = self._reserve(host.name, host.requests_per_minute, url, longest_wait)
        if wait > 0:
            self._sleep(wait)
        return wait

    def _reserve(self, name: str, per_minute: int, url: str, longest_wait: float) -> float:
        """Turns are given in the order of asking, so none waits forever."""
        burst = max(1, per_minute // 10)
        interval = MINUTE / max(1, per_minute - burst)
        self.folder.mkdir(parents=True, exist_ok=True)
        # CLOCK_MONOTONIC is one for the whole machine, and no correction of the time of day moves it.
        place = os.open(self.folder / f"{name}.rate", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            self._lock(place, url, longest_wait)
            now = self._clock()
            full_at = max(self._read(place, now, longest_wait), now)
            wait = max(0.0, full_at - now - (burst - 1) * interval)
            if wait > longest_wait:
                reason = f"{name} takes {per_minute} requests a minute; the next turn is in {wait:.1f} s"
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
                    raise RateLimited(url, "another process holds the count of requests", 1.0) from None
                time.sleep(LOCK_PAUSE_SECONDS)

    @staticmethod
    def _read(place: int, now: float, longest_wait: float) -> float:
        data = os.pread(place, _STATE.size, 0)
        if len(data) < _STATE.size:
            return now
        (full_at,) = _STATE.unpack(data)
        # Beyond any queue that can have formed: written before the machine was started anew, or damaged.
        return full_at if full_at <= now + longest_wait + MINUTE else now
