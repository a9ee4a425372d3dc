"""Running a few jobs in the calling process: for `gribmill tick`, tests and debuggers."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

from gribmill.logs import HumanFormatter
from gribmill.queue.errors import NotAllowed, StoreError
from gribmill.queue.model import (
    AttemptRef,
    Claimed,
    ClaimRequest,
    Failed,
    Outcome,
    Report,
    Snoozed,
    Stopped,
    exit_code_of,
)
from gribmill.queue.redact import redact, redacted
from gribmill.queue.store import Store
from gribmill.queue.store.workers import new_worker_id
from gribmill.queue.worker.output import OutputLog, OutputLogs, OutputTail, WholeLines, note_logs
from gribmill.queue.worker.supervisor.trigger_poller import TriggerPoller
from gribmill.queue.worker.task import Batch, Task, run_batch

log = logging.getLogger("gribmill.worker")

INTERRUPTED = Snoozed(0, "the tick was interrupted")


@dataclass(frozen=True, slots=True)
class TickedJob:
    """The result of one job that a tick ran."""

    job: Claimed
    outcome: Outcome
    seconds: float
    accepted: bool


class TimedOut(BaseException):
    """Raised in the calling thread when its job takes too long. Not an Exception, so handlers do not catch it."""


class Ticker:
    """Claims and runs a few jobs, one after the other. There are no timeouts: a process cannot kill its own job."""

    def __init__(
        self,
        store: Store,
        lease_seconds: float,
        environment: dict[str, Any] | None = None,
        when_interrupted: Snoozed | Stopped = INTERRUPTED,
        logs: OutputLogs | None = None,
    ) -> None:
        self._logs = logs
        self._when_interrupted = when_interrupted
        self.worker_id = new_worker_id()
        self._store = store
        self._lease_seconds = lease_seconds
        self._environment = environment or {}

    def tick(self, limit: int, types: Sequence[str] = ()) -> list[TickedJob]:
        """Run up to `limit` ready jobs; returns the result of each."""
        kinds = tuple(types) or tuple(kind.key for kind in self._store.registry.runnable())
        ran: list[TickedJob] = []
        # With ticks from cron, no other process may be doing this.
        for recovered in (self._store.maintenance.recover_dead_processes(), self._store.maintenance.recover()):
            note_logs(self._store, self._logs, recovered)
        TriggerPoller(self._store).fire_if_due()
        with self.heartbeats(kinds):
            while len(ran) < limit:
                left = limit - len(ran)
                batch = self._store.claim(self.request(kinds, left))
                if not batch:
                    break
                ran += self.run(batch)
        return ran

    def run_jobs(self, ids: Iterable[int]) -> list[TickedJob]:
        """Run these jobs ahead of their turn, except those that cannot start now."""
        ran: list[TickedJob] = []
        with self.heartbeats():
            for job_id in ids:
                with contextlib.suppress(NotAllowed):
                    ran += self.run((self._store.claim_job(self.request(), job_id),))
        return ran

    def request(self, types: tuple[str, ...] = (), limit: int | None = None) -> ClaimRequest:
        return ClaimRequest(self.worker_id, types, self._lease_seconds, pid=os.getpid(), batch_limit=limit)

    @contextlib.contextmanager
    def heartbeats(self, types: Sequence[str] = (), on_beat: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Renew the leases in a thread within this context, calling `on_beat` each time."""
        with Heartbeats(self._store, self.worker_id, self._lease_seconds, types, on_beat):
            try:
                yield
            except KeyboardInterrupt:
                self._return_claimed()
                raise

    def _return_claimed(self) -> None:
        """Report jobs that were claimed when the interrupt came, and had not started."""
        for job_id in self._store.attempts.running().get(self.worker_id, []):
            ref = AttemptRef(job_id, self._store.attempts.of(job_id)[-1].attempt_no)
            self._store.exchange(self.worker_id, [Report(ref, self._when_interrupted)])

    def run(self, jobs: tuple[Claimed, ...]) -> list[TickedJob]:
        """Run claimed jobs in this thread, and report on each."""
        by_ref = {job.ref: job for job in jobs}
        ran: list[TickedJob] = []
        began = time.monotonic()

        kept = self._logs.open(jobs[0].ref) if self._logs else None
        stdout, stderr = _Tee(sys.stdout, kept), _Tee(sys.stderr, kept)

        def report(task: Task, outcome: Outcome) -> None:
            outcome = redacted(outcome)
            tails = (stdout.end_line().text(), stderr.end_line().text())
            path = kept.name_for(task.ref) if kept else None
            ended = Report(task.ref, outcome, exit_code_of(outcome), *tails, path)
            exchange = self._store.exchange(self.worker_id, [ended])
            job = by_ref[task.ref]
            ran.append(TickedJob(job, outcome, time.monotonic() - began, bool(exchange.accepted)))

        tasks = [Task.of(job, self.worker_id, self._environment) for job in jobs]
        batch = Batch(tasks, report, lambda limit: [])
        try:
            with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr), _logged_to(stderr):
                run_batch(self._store.registry, batch)
        except TimedOut as error:
            for task in batch.unreported:
                batch.done(task, Failed(str(error), timeout=True))
        except KeyboardInterrupt:
            for task in batch.unreported:
                batch.done(task, self._when_interrupted)
            raise
        finally:
            if kept:
                kept.close()
        return ran


class _Tee(io.TextIOBase):
    """Passes output on, keeps its tail, and writes all of it to the attempt's log."""

    def __init__(self, stream: IO[str], kept: OutputLog | None) -> None:
        self._stream = stream
        self._tail = OutputTail()
        self._log = kept
        self._lines = WholeLines()

    def write(self, text: str) -> int:
        self.keep(text)
        return self._stream.write(text)

    def keep(self, text: str) -> None:
        data = text.encode("utf-8", "backslashreplace")
        self._tail.add(data)
        if self._log and not self._log.closed:
            self._write(self._lines.add(data))

    def end_line(self) -> OutputTail:
        """Complete the current line; returns the tail."""
        if self._log and (rest := self._lines.add(b"", last=True)):
            self._write(rest + b"\n")
        return self._tail

    def _write(self, lines: bytes) -> None:
        if self._log and lines:
            self._log.write(redact(lines.decode("utf-8", "replace")).encode())

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()


class _Keeper(logging.Handler):
    """Keeps log lines, which already go to this process's stderr."""

    def __init__(self, tee: _Tee) -> None:
        super().__init__()
        self._tee = tee

    def emit(self, record: logging.LogRecord) -> None:
        self._tee.keep(self.format(record) + "\n")


@contextlib.contextmanager
def _logged_to(tee: _Tee) -> Iterator[None]:
    """Add log lines of handlers to their output, as in an executor."""
    logger = logging.getLogger("gribmill")
    keeper = _Keeper(tee)
    keeper.setFormatter(HumanFormatter())
    logger.addHandler(keeper)
    try:
        yield
    finally:
        logger.removeHandler(keeper)


class Heartbeats:
    """Renews the leases from a thread while the calling thread works."""

    def __init__(
        self, store: Store, worker_id: str, lease_seconds: float, types: Sequence[str], on_beat: Callable[[], None]
    ) -> None:
        self._store = store
        self._worker_id = worker_id
        self._lease_seconds = lease_seconds
        self._types = types
        self._on_beat = on_beat
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
                self._on_beat()
            except StoreError as error:
                log.error("no heartbeat: %s", error)
        self._store.close()
