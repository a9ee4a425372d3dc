"""Running a few jobs in the calling process: for `gribmill tick`, tests and debuggers."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any

from gribmill.queue.errors import StoreError
from gribmill.queue.model import Claimed, ClaimRequest, Outcome, Report, Snoozed, exit_code_of
from gribmill.queue.redact import redacted
from gribmill.queue.store import Store
from gribmill.queue.store.workers import new_worker_id
from gribmill.queue.worker.output_tail import OutputTail
from gribmill.queue.worker.run_handler import run_batch
from gribmill.queue.worker.task import Batch, Task
from gribmill.queue.worker.trigger_poller import TriggerPoller

log = logging.getLogger("gribmill.worker")


@dataclass(frozen=True, slots=True)
class Ran:
    """One job that a tick ran."""

    job: Claimed
    outcome: Outcome
    seconds: float
    accepted: bool


class Ticker:
    """Claims and runs a limited number of jobs, one after the other. No timeouts: a process cannot kill its own job."""

    def __init__(self, store: Store, lease_seconds: float, environment: dict[str, Any] | None = None) -> None:
        self.worker_id = new_worker_id()
        self._store = store
        self._lease_seconds = lease_seconds
        self._environment = environment or {}

    def tick(self, limit: int, types: Sequence[str] = ()) -> list[Ran]:
        """Run up to `limit` ready jobs; what became of each."""
        kinds = tuple(types) or tuple(kind.key for kind in self._store.registry.runnable())
        ran: list[Ran] = []
        self._store.maintenance.recover_dead_processes()
        self._store.maintenance.recover()  # where cron runs the ticks, no other process does either of these
        TriggerPoller(self._store).fire_if_due()
        with _Heartbeats(self._store, self.worker_id, self._lease_seconds, kinds):
            while len(ran) < limit:
                left = limit - len(ran)
                request = ClaimRequest(self.worker_id, kinds, self._lease_seconds, pid=os.getpid(), batch_limit=left)
                batch = self._store.claim(request)
                if not batch:
                    break
                ran += self._run(batch)
        return ran

    def _run(self, jobs: tuple[Claimed, ...]) -> list[Ran]:
        by_ref = {job.ref: job for job in jobs}
        ran: list[Ran] = []
        began = time.monotonic()

        stdout, stderr = _Tee(sys.stdout), _Tee(sys.stderr)

        def report(task: Task, outcome: Outcome) -> None:
            outcome = redacted(outcome)
            ended = Report(task.ref, outcome, exit_code_of(outcome), stdout.tail.text(), stderr.tail.text())
            exchange = self._store.exchange(self.worker_id, [ended])
            job = by_ref[task.ref]
            ran.append(Ran(job, outcome, time.monotonic() - began, bool(exchange.accepted)))

        tasks = [Task.of(job, self.worker_id, self._environment) for job in jobs]
        batch = Batch(tasks, report, lambda limit: [])
        try:
            with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
                run_batch(self._store.registry, batch)
        except KeyboardInterrupt:
            for task in batch.unreported:
                batch.done(task, Snoozed(0, "the tick was interrupted"))
            raise
        return ran


class _Tee(io.TextIOBase):
    """Passes on what is printed, and keeps the end of it."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self.tail = OutputTail()

    def write(self, text: str) -> int:
        self.tail.add(text.encode("utf-8", "backslashreplace"))
        return self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()


class _Heartbeats:
    """Renews the leases from a thread while the calling one works."""

    def __init__(self, store: Store, worker_id: str, lease_seconds: float, types: Sequence[str]) -> None:
        self._store = store
        self._worker_id = worker_id
        self._lease_seconds = lease_seconds
        self._types = types
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeats", daemon=True)

    def __enter__(self) -> None:
        self._store.workers.heartbeat(self._worker_id, self._lease_seconds, types=self._types)
        self._thread.start()

    def __exit__(self, *exc: object) -> None:
        self._over.set()
        self._thread.join()
        self._store.workers.heartbeat(self._worker_id, self._lease_seconds, types=self._types, state="stopped")

    def _beat(self) -> None:
        while not self._over.wait(self._lease_seconds / 3):
            try:
                self._store.workers.heartbeat(self._worker_id, self._lease_seconds, types=self._types)
            except StoreError as error:
                log.error("no heartbeat: %s", error)
        self._store.close()
