"""Direct execution: one job in the foreground, ahead of the queue, under its own reservation."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from typing import Any

from gribmill.queue.errors import NotAllowed
from gribmill.queue.model import Claimed, NewJob, Stopped
from gribmill.queue.store import Store
from gribmill.queue.store.reservations import EVERYTHING
from gribmill.queue.worker.in_process import TickedJob, Ticker, TimedOut
from gribmill.queue.worker.output import OutputLogs

POLL_SECONDS = 0.2


class DirectRun:
    """Reserves, enqueues and claims in one step, runs the job, and releases. If the process dies, all of it expires."""

    def __init__(
        self,
        store: Store,
        lease_seconds: float,
        environment: dict[str, Any] | None = None,
        logs: OutputLogs | None = None,
    ) -> None:
        self._store = store
        self._lease_seconds = lease_seconds
        self._ticker = Ticker(store, lease_seconds, environment, Stopped("interrupted"), logs)

    def run(self, job: NewJob, reserved_by: str, *, wait_seconds: float = 0.0, exclusive: bool = False) -> TickedJob:
        """Run the job and return its result. Reserved or NotAllowed if it could not start within the wait."""
        deadline = time.monotonic() + wait_seconds
        scope = EVERYTHING if exclusive else job.type
        worker_id = self._ticker.worker_id
        held = self._store.reservations.reserve(
            reserved_by, self._lease_seconds, scope, worker_id=worker_id, wait_seconds=wait_seconds
        )

        def beat() -> None:
            with contextlib.suppress(NotAllowed):  # it expired while this process was suspended
                self._store.reservations.extend(held.id, self._lease_seconds)
            if self._store.attempts.cancellations(worker_id):
                os.kill(os.getpid(), signal.SIGINT)

        try:
            with self._ticker.heartbeats((job.type,), beat):
                claimed = self._claim(job, deadline)
                with _time_limit(claimed.timeout_seconds):
                    (ran,) = self._ticker.run((claimed,))
                return ran
        finally:
            with contextlib.suppress(NotAllowed):
                self._store.reservations.release(held.id)

    def _claim(self, job: NewJob, deadline: float) -> Claimed:
        """Claim the job, waiting while a limit of its type is reached."""
        while True:
            try:
                return self._store.claim_new(self._ticker.request(), job)
            except NotAllowed:
                if time.monotonic() + POLL_SECONDS > deadline:
                    raise
            time.sleep(POLL_SECONDS)


@contextlib.contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise TimedOut in the main thread after `seconds`."""

    def ring(number: int, frame: object) -> None:
        raise TimedOut(f"timed out after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
