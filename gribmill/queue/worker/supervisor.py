"""The supervisor: one loop that keeps executors fed, leases renewed and the dead replaced."""

from __future__ import annotations

import contextlib
import logging
import selectors
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gribmill.queue.errors import QueueError, StoreError
from gribmill.queue.model import Claimed, ClaimRequest, Failed, Report, Ticket
from gribmill.queue.store import Store
from gribmill.queue.store.workers import new_worker_id
from gribmill.queue.worker.child import Child, Hello, describe_exit
from gribmill.queue.worker.fence import Fence
from gribmill.queue.worker.lane import Lane, make_lanes
from gribmill.queue.worker.maintenance import Maintenance
from gribmill.queue.worker.options import WorkerOptions
from gribmill.queue.worker.signals import StopSignals
from gribmill.queue.worker.wire import outcome_from_wire

log = logging.getLogger("gribmill.worker")

STORE_RETRY_SECONDS = 1.0
MEMORY_CHECK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Round:
    """What one pass of the loop did."""

    started: int = 0
    finished: int = 0
    fenced: int = 0


class Supervisor:
    """Owns the store's side of every job; its executors only compute. One thread, `run_once` at a time."""

    def __init__(self, store: Store, options: WorkerOptions) -> None:
        self.store = store
        self.options = options
        self.worker_id = new_worker_id()
        self.lanes = make_lanes(store.types, options.lanes, options.only_types)
        self.draining = False
        self.started_jobs = 0
        self.finished_jobs = 0
        self._selector = selectors.DefaultSelector()
        self._listener = store.database.listener()
        self._signals = StopSignals()
        self._fence = Fence(options.lease_seconds, self._kill_busy)
        self._maintenance = Maintenance(store, options, self.worker_id)
        self._unsent: list[Report] = []
        self._next_heartbeat = 0.0
        self._next_poll = 0.0
        self._next_due = float("inf")
        self._store_back_at = 0.0

    # The life of a worker

    def run(self) -> int:
        """Until stopped, drained or done; the number of jobs that ended here."""
        self.start()
        try:
            while not self.finished:
                self.run_once(self._wait_seconds())
        finally:
            self.close()
        return self.finished_jobs

    def start(self) -> None:
        """Register, start the executors, begin to listen."""
        self._signals.install()
        self._selector.register(self._listener, selectors.EVENT_READ, self._on_wake)
        self._selector.register(self._signals, selectors.EVENT_READ, self._signals.drain)
        self._heartbeat()
        self._fence.start()
        self._spawn_missing()
        log.info(
            "worker %s runs %s",
            self.worker_id,
            ", ".join(f"{lane.name}×{lane.count} ({', '.join(lane.types)})" for lane in self.lanes),
        )

    def run_once(self, wait_seconds: float = 0.0) -> Round:
        """Wait for something to happen, at most so long; then do everything that is due."""
        reports = self._unsent
        self._unsent = []
        for key, _ in self._selector.select(wait_seconds):
            reports += key.data() or []
        self._obey_signals()
        self._stop_overdue()
        self._look_for_work()
        done = self._turn(reports)
        self._heartbeat_if_due()
        self._spawn_missing()
        return done

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to do here."""
        if any(child.batch for child in self._children) or self._unsent:
            return False
        if self.draining:
            return True
        if self.options.until == "stopped" or not any(child.ready for child in self._children):
            return False
        if self.options.until == "once":
            return self.started_jobs > 0 or not any(lane.hungry for lane in self.lanes)
        return not any(lane.hungry for lane in self.lanes)

    def close(self) -> None:
        """Stop whatever still runs, hand its jobs back, and say good-bye."""
        for child in self._children:
            child.stop("shutdown", 0.0) if child.batch else child.retire()
        for lane in self.lanes:
            for child in list(lane.children):
                self._unsent += self._bury(lane, child)
        self._fence.close()
        with contextlib.suppress(StoreError):
            self.store.finish(self.worker_id, self._unsent)
            self.store.heartbeat(self.worker_id, self.options.lease_seconds, state="stopped")
        self._listener.close()
        self._signals.restore()
        self._selector.close()

    # Reports and claims

    def _turn(self, reports: list[Report]) -> Round:
        """Everything that ended and everything that may start, in one transaction."""
        if time.monotonic() < self._store_back_at:
            self._unsent = reports
            return Round()
        wanting = self._wanting({report.ticket for report in reports})
        if not reports and not wanting:
            return Round()
        claims = [self._claim_request(lane, child) for lane, child in wanting]
        try:
            turn = self.store.finish(self.worker_id, reports, claims)
        except StoreError as error:
            self._store_failed(error)
            self._unsent = reports
            return Round()
        except QueueError as error:
            self._unsent = self._without_refused(reports, error)
            return Round()
        self._settle(reports, turn.fenced)
        started = sum(
            self._hand_out(lane, child, batch) for (lane, child), batch in zip(wanting, turn.batches, strict=True)
        )
        return Round(started, len(turn.accepted), len(turn.fenced))

    def _wanting(self, ending: set[Ticket]) -> list[tuple[Lane, Child]]:
        """The executors that can take a batch now, or once these attempts are settled."""
        if self.draining or (self.options.until == "once" and self.started_jobs):
            return []
        wanting = []
        for lane in self.lanes:
            for child in lane.children:
                frees = bool(child.batch) and child.batch.keys() <= ending and child.stop_reason is None
                if frees and not child.retiring and self._too_old(child):
                    child.retire()
                if (child.idle and lane.hungry) or (frees and not child.retiring):
                    wanting.append((lane, child))
        return wanting[:1] if self.options.until == "once" else wanting

    def _settle(self, reports: list[Report], fenced: tuple[Ticket, ...]) -> None:
        """The attempts are over, for us or altogether."""
        for ticket in fenced:
            log.warning(
                "job %d was given to another worker: our result is dropped", ticket.job_id, extra=vars_of(ticket)
            )
        for report in reports:
            self.finished_jobs += report.ticket not in fenced
            for lane in self.lanes:
                for child in lane.children:
                    if report.ticket in child.batch:
                        self._log_end(child.batch[report.ticket], report)
                        child.release(report.ticket)
                        lane.note_success()
        if reports:
            # A finished job may free a slot of a limited type, or have made new ones.
            for lane in self.lanes:
                lane.hungry = True

    def _hand_out(self, lane: Lane, child: Child, batch: tuple[Claimed, ...]) -> int:
        if not batch:
            lane.hungry = False
            self._note_next_due()
            return 0
        self.started_jobs += len(batch)
        for job in batch:
            log.debug("job %d starts", job.id, extra=self._job_fields(job))
        with contextlib.suppress(ConnectionError):  # it died just now: its end is reported when the socket says so
            child.assign(batch, self.store.types[batch[0].type].timeout_seconds)
        return len(batch)

    def _without_refused(self, reports: list[Report], error: QueueError) -> list[Report]:
        """Some report asks for what the queue refuses: find it alone, and let that job fail for good."""
        kept = []
        for report in reports:
            try:
                self._settle([report], self.store.finish(self.worker_id, [report]).fenced)
            except StoreError:
                kept.append(report)
            except QueueError as refusal:
                log.error("job %d: %s", report.ticket.job_id, refusal, extra=vars_of(report.ticket))
                failed = Failed(f"the job's result was refused: {refusal}", permanent=True)
                kept.append(Report(report.ticket, failed, report.exit_code, report.stdout_tail, report.stderr_tail))
        return kept

    def _claim_request(self, lane: Lane, child: Child) -> ClaimRequest:
        return ClaimRequest(self.worker_id, lane.types, self.options.lease_seconds, pid=child.process.pid)

    # Executors

    @property
    def _children(self) -> list[Child]:
        return [child for lane in self.lanes for child in lane.children]

    def _spawn_missing(self) -> None:
        if self.draining:
            return
        for lane in self.lanes:
            for _ in range(lane.missing):
                hello = Hello(
                    self.options.types_path, self.worker_id, lane.nice, self.options.log, self.options.environment
                )
                child = Child.spawn(hello)
                lane.children.append(child)
                self._selector.register(child.channel, selectors.EVENT_READ, self._reader(lane, child))
                for pipe in (child.process.stdout, child.process.stderr):
                    self._selector.register(pipe, selectors.EVENT_READ, self._drainer(child))  # type: ignore[arg-type]

    def _reader(self, lane: Lane, child: Child) -> Callable[[], list[Report]]:
        return lambda: self._on_channel(lane, child)

    def _drainer(self, child: Child) -> Callable[[], None]:
        return lambda: self._pass_output_on(child)

    def _on_channel(self, lane: Lane, child: Child) -> list[Report]:
        """What an executor says; or that it is gone."""
        messages, alive = child.channel.receive_ready()
        reports = []
        for message in messages:
            if "ready" in message:
                child.ready = True
            elif "top_up" in message:
                self._top_up(child, int(message["top_up"]))
            elif "report" in message:
                reports.append(self._report(child, message["report"]))
        return reports if alive else reports + self._bury(lane, child, {report.ticket for report in reports})

    def _report(self, child: Child, message: dict[str, Any]) -> Report:
        self._pass_output_on(child)
        ticket = Ticket(message["job_id"], message["attempt_no"])
        outcome = outcome_from_wire(message["outcome"])
        failed = isinstance(outcome, Failed)
        return Report(ticket, outcome, 1 if failed else 0, child.stdout.take(), child.stderr.take())

    def _top_up(self, child: Child, limit: int) -> None:
        siblings: tuple[Claimed, ...] = ()
        if child.batch and not self.draining:
            request = ClaimRequest(self.worker_id, (child.head.type,), self.options.lease_seconds, child.process.pid)
            with contextlib.suppress(StoreError):
                siblings = self.store.claim_siblings(request, child.head, limit)
        self.started_jobs += len(siblings)
        child.add_siblings(siblings)

    def _bury(self, lane: Lane, child: Child, reported: frozenset[Ticket] | set[Ticket] = frozenset()) -> list[Report]:
        """An executor is gone: report what it leaves behind, and make room for the next."""
        for source in (child.channel, child.process.stdout, child.process.stderr):
            self._selector.unregister(source)  # type: ignore[arg-type]
        self._pass_output_on(child)
        code = child.reap()
        if not child.retiring and child.stop_reason is None:
            lane.note_death()
            log.error("an executor of lane %s died: %s", lane.name, describe_exit(code))
        lane.children.remove(child)
        stdout, stderr = child.stdout.take(), child.stderr.take()
        reports = []
        for ticket, job in child.batch.items():
            outcome = None if ticket in reported else child.outcome_of_death(ticket, code)
            if outcome is not None:
                report = Report(ticket, outcome, code, stdout, stderr)
                reports.append(report)
                self._log_end(job, report)
        return reports

    def _pass_output_on(self, child: Child) -> None:
        if text := child.read_output():
            with contextlib.suppress(OSError):
                sys.stderr.buffer.write(text)
                sys.stderr.buffer.flush()

    def _too_old(self, child: Child) -> bool:
        if child.jobs_done + 1 >= self.options.max_jobs_per_executor:
            return True
        now = time.monotonic()
        if now < child.started + MEMORY_CHECK_SECONDS:
            return False
        return child.memory_mb() > self.options.max_memory_mb

    def _kill_busy(self) -> int:
        """For the fence, from its own thread: signals only."""
        busy = [child for child in self._children if child.batch]
        for child in busy:
            child.signal_group(signal.SIGKILL)
        return len(busy)

    # Time

    def _stop_overdue(self) -> None:
        now = time.monotonic()
        for child in self._children:
            if child.deadline is not None and now >= child.deadline:
                child.stop("timeout", self.options.kill_grace_seconds)
            if child.kill_at is not None and now >= child.kill_at:
                child.kill_at = None
                child.signal_group(signal.SIGKILL)

    def _heartbeat_if_due(self) -> None:
        if time.monotonic() >= self._next_heartbeat:
            self._heartbeat()
            if self._maintenance.run_once():
                self._feed_everyone()

    def _heartbeat(self) -> None:
        """Renew every lease in one statement, and learn what was cancelled or lost. Goes on while draining."""
        began = time.monotonic()
        self._next_heartbeat = began + self.options.lease_seconds / 3
        kinds = [key for lane in self.lanes for key in lane.types]
        try:
            held = self.store.heartbeat(
                self.worker_id,
                self.options.lease_seconds,
                types=kinds,
                state="draining" if self.draining else "active",
            )
        except StoreError as error:
            self._next_heartbeat = began + STORE_RETRY_SECONDS
            self._store_failed(error)
            return
        self._fence.renew(began)
        self._drop_lost({one.ticket for one in held})
        self._stop_cancelled([one.ticket for one in held if one.cancel_requested])

    def _drop_lost(self, held: set[Ticket]) -> None:
        for child in self._children:
            if child.batch and not child.batch.keys() & held:
                log.error("job %d was taken from us: stopping its executor", child.head.id)
                child.stop("fenced", 0.0)

    def _stop_cancelled(self, tickets: list[Ticket]) -> None:
        for child in self._children:
            wanted = child.batch.keys() & set(tickets)
            if wanted:
                child.cancelled |= wanted
                child.stop("cancel", self.options.kill_grace_seconds)

    def _look_for_work(self) -> None:
        """Slow polling is the truth beneath the wake-ups: it notices any commit of any other program."""
        now = time.monotonic()
        if now < self._next_poll and now < self._next_due:
            return
        self._next_poll = now + self.options.poll_seconds
        try:
            if self.store.database.changed() or now >= self._next_due:
                self._on_wake()
        except StoreError as error:
            self._store_failed(error)

    def _on_wake(self) -> None:
        self._listener.drain()
        self._next_due = float("inf")
        self._feed_everyone()
        if any(child.batch for child in self._children):
            with contextlib.suppress(StoreError):
                self._stop_cancelled(self.store.cancellations(self.worker_id))

    def _feed_everyone(self) -> None:
        for lane in self.lanes:
            lane.hungry = True

    def _note_next_due(self) -> None:
        with contextlib.suppress(StoreError):
            seconds = self.store.seconds_to_next_due()
            if seconds is not None:
                self._next_due = time.monotonic() + max(seconds, 0.001)

    def _wait_seconds(self) -> float:
        """Until the next thing that is due by the clock."""
        moments = [self._next_heartbeat, self._next_poll, self._next_due]
        moments += [moment for child in self._children for moment in (child.deadline, child.kill_at) if moment]
        moments += [lane.respawn_at for lane in self.lanes if len(lane.children) < lane.count]
        if self._unsent:
            moments.append(self._store_back_at)
        return max(0.0, min(moments) - time.monotonic())

    # Endings

    def _obey_signals(self) -> None:
        if self._signals.count and not self.draining:
            self.draining = True
            self._next_heartbeat = 0.0
            busy = sum(bool(child.batch) for child in self._children)
            log.info("draining: %d executors still work; a second signal stops them now", busy)
        if self._signals.count > 1:
            for child in self._children:
                if child.batch:
                    child.stop("shutdown", self.options.kill_grace_seconds)

    def _store_failed(self, error: StoreError) -> None:
        log.error("%s; trying again in %g s", error, STORE_RETRY_SECONDS)
        self._store_back_at = time.monotonic() + STORE_RETRY_SECONDS

    def _log_end(self, job: Claimed, report: Report) -> None:
        kind = type(report.outcome).__name__.lower()
        level = logging.WARNING if isinstance(report.outcome, Failed) else logging.INFO
        text = report.outcome.error.splitlines()[0] if isinstance(report.outcome, Failed) else ""
        log.log(level, "job %d %s%s", job.id, kind, f": {text}" if text else "", extra=self._job_fields(job))

    def _job_fields(self, job: Claimed) -> dict[str, Any]:
        fields = {"job_id": job.id, "type": job.type, "attempt_no": job.attempt_no}
        return {**fields, "worker_id": self.worker_id, "tenant_id": job.tenant_id}


def vars_of(ticket: Ticket) -> dict[str, int]:
    return {"job_id": ticket.job_id, "attempt_no": ticket.attempt_no}
