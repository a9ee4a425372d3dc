"""The supervisor: one loop that gives executors work, renews leases and replaces executors that died."""

from __future__ import annotations

import contextlib
import logging
import selectors
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from gribmill.database.protocol import FileDatabase
from gribmill.queue.errors import QueueError, StoreError, StoreReplaced
from gribmill.queue.model import AttemptRef, Claimed, ClaimRequest, Failed, Report, Snoozed
from gribmill.queue.redact import redact, redacted
from gribmill.queue.store import Store
from gribmill.queue.store.workers import new_worker_id
from gribmill.queue.worker.executor.handle import ExecutorHandle
from gribmill.queue.worker.executor.pool import ExecutorPool
from gribmill.queue.worker.job_end import JobEnd
from gribmill.queue.worker.lane import Lane, lane_types, make_lanes
from gribmill.queue.worker.lease_watchdog import LeaseWatchdog
from gribmill.queue.worker.maintenance import Maintenance
from gribmill.queue.worker.options import WorkerOptions
from gribmill.queue.worker.signals import StopSignals
from gribmill.queue.worker.throttled_log import ThrottledLog
from gribmill.queue.worker.trigger_poller import TriggerPoller

log = logging.getLogger("gribmill.worker")

STORE_RETRY_SECONDS = 1.0
LATE_SECONDS = 1.0
# Enough to name a model, a run and an hour; arguments may be long.
ARGS_LOGGED = 200


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
        self.lanes = make_lanes(store.registry, options.lanes, options.only_types, options.niceness)
        self._types_seen = store.registry.generation
        self.draining = False
        self.started_jobs = 0
        self.finished_jobs = 0
        self._selector = selectors.DefaultSelector()
        self.pool = ExecutorPool(self.lanes, options, self.worker_id, self._selector, self._top_up)
        self._listener = store.database.listener()
        self._signals = StopSignals()
        self._watchdog = LeaseWatchdog(options.lease_seconds, self.pool.kill_busy, self._is_blocked)
        self._maintenance = Maintenance(store, options, self.worker_id)
        self._triggers = TriggerPoller(store)
        self._unsent: list[Report] = []
        self._began: dict[AttemptRef, float] = {}
        self._next_heartbeat = 0.0
        self._last_heartbeat = 0.0
        self._next_poll = 0.0
        self._next_due = float("inf")
        self._stop_at = float("inf")
        self._store_back_at = 0.0
        self._trouble = ThrottledLog()

    # The life of a worker

    def run(self, until: Callable[[], bool] | None = None) -> int:
        """Until stopped, drained or done, or until the caller says so; the number of attempts that ended here."""
        try:
            self.start()
            while not self.finished:
                self.run_once(self._wait_seconds())
                if until is not None and not self.pool.busy and until():
                    self.draining = True
        finally:
            self.close()
        return self.finished_jobs

    def start(self) -> None:
        """Register, start the executors, begin to listen. A damaged database is refused."""
        if isinstance(self.store.database, FileDatabase):
            self.store.database.check_sound()
        self._signals.install()
        self._selector.register(self._listener, selectors.EVENT_READ, self._on_wake)
        self._selector.register(self._signals, selectors.EVENT_READ, self._signals.drain)
        self._heartbeat()
        self._maintenance.take_back()
        if self.options.until != "stopped":
            self._maintenance.run_once()  # it may not live until the next heartbeat
        self._watchdog.start()
        self.pool.spawn_missing()
        log.info(
            "worker %s runs %s",
            self.worker_id,
            ", ".join(f"{lane.name}×{lane.count}" for lane in self.lanes),
            extra={"types": {lane.name: [*lane.types] for lane in self.lanes}},
        )

    def run_once(self, wait_seconds: float = 0.0) -> Round:
        """Wait for something to happen, at most `wait_seconds`; then do everything that is due."""
        reports = self._unsent
        self._unsent = []
        for key, _ in self._selector.select(wait_seconds):
            reports += key.data() or []
        reports += self.pool.reap()
        self._obey_signals()
        self.pool.stop_overdue()
        self._look_for_work()
        if not self.draining and self._triggers.fire_if_due():
            self._feed_everyone()
        done = self._turn(reports)
        self._heartbeat_if_due()
        if not self.draining:
            self.pool.spawn_missing()
        self.pool.watch_channels()
        return done

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to do here."""
        if self.pool.busy:
            return False
        if self._unsent and self._signals.count < 2 and not self._watchdog.lapsed:
            return False
        if self.draining:
            return True
        if self.options.until == "stopped" or not any(executor.ready for executor in self.pool.executors):
            return False
        if self.options.until == "once":
            return self.started_jobs > 0 or not any(lane.hungry for lane in self.lanes)
        return not any(lane.hungry for lane in self.lanes)

    def close(self) -> None:
        """Stop what still runs, give its jobs back, and deregister."""
        for lane in self.lanes:
            for executor in list(lane.executors):
                executor.stop("shutdown", 0.0)
                self._unsent += self.pool.bury(lane, executor)
        self._watchdog.close()
        self._deregister()
        self._listener.close()
        self._signals.restore()
        self._selector.close()

    def _deregister(self) -> None:
        self.draining = True
        self._store_back_at = 0.0
        self._deliver()
        if not self._unsent:
            self._heartbeat("stopped")
            self._deliver()
        if self._unsent:
            log.error("%d results could not be stored: those jobs will run again", len(self._unsent))

    def _deliver(self) -> None:
        """Hand in what is left. A refused result is handed in again as a failure."""
        while self._unsent and time.monotonic() >= self._store_back_at:
            reports, self._unsent = self._unsent, []
            self._turn(reports)

    # Reports and claims

    def _turn(self, reports: list[Report]) -> Round:
        """Everything that ended and everything that may start, in one transaction."""
        if time.monotonic() < self._store_back_at:
            self._unsent = reports
            return Round()
        wanting = self._wanting()
        if not reports and not wanting:
            return Round()
        claims = [self._claim_request(lane, executor) for lane, executor in wanting]
        try:
            exchange = self.store.exchange(self.worker_id, reports, claims)
        except StoreError as error:
            self._store_failed(error)
            self._unsent = reports
            return Round()
        except Exception as error:  # noqa: BLE001 — a result may ask for anything; that must not end the worker
            if not reports:
                self._store_failed(error)
            self._unsent = self._without_refused(reports)
            return Round()
        self._settle(reports, exchange.fenced)
        started = sum(
            self._hand_out(lane, executor, batch)
            for (lane, executor), batch in zip(wanting, exchange.batches, strict=True)
        )
        return Round(started, len(exchange.accepted), len(exchange.fenced))

    @property
    def _may_start(self) -> bool:
        return not (self.draining or (self.options.until == "once" and self.started_jobs))

    def _wanting(self) -> list[tuple[Lane, ExecutorHandle]]:
        """The executors that can take a batch now, or once the reports at hand are settled."""
        wanting = []
        for lane in self.lanes if self._may_start else []:
            for executor in lane.executors:
                frees = executor.done and executor.takes_more
                if frees and self.pool.too_old(executor):
                    executor.retire(self.options.kill_grace_seconds)
                    continue
                if frees or (executor.idle and lane.hungry):
                    wanting.append((lane, executor))
        return wanting[:1] if self.options.until == "once" else wanting

    def _settle(self, reports: list[Report], fenced: tuple[AttemptRef, ...]) -> None:
        """The attempts are over, for us or altogether."""
        for report in reports:
            if report.ref in fenced:
                fields = self._fields(report.ref)
                log.warning("job %d is no longer ours: its result is dropped", report.ref.job_id, extra=fields)
            else:
                self.finished_jobs += 1
                self._log_end(report)
            self._forget(report.ref)
        if reports:
            # A finished job may free a slot of a limited type, or have made new ones, or events.
            self._feed_everyone()
            self._triggers.nudge()

    def _forget(self, ref: AttemptRef) -> None:
        self.pool.ending.pop(ref, None)
        self._began.pop(ref, None)
        for lane in self.lanes:
            for executor in lane.executors:
                if ref in executor.batch:
                    executor.release(ref)
                    lane.note_success()

    def _hand_out(self, lane: Lane, executor: ExecutorHandle, batch: tuple[Claimed, ...]) -> int:
        if not batch:
            lane.hungry = False
            self._note_next_due()
            return 0
        self.started_jobs += len(batch)
        for job in batch:
            self._began[job.ref] = time.monotonic()
            log.debug("job %d starts", job.id, extra=self._job_fields(job))
        executor.assign(batch, max(job.timeout_seconds for job in batch))
        return len(batch)

    def _without_refused(self, reports: list[Report]) -> list[Report]:
        """Some report asks for what the queue refuses: find it alone, and let that job fail for good."""
        kept = []
        for report in reports:
            try:
                self._settle([report], self.store.exchange(self.worker_id, [report]).fenced)
            except StoreError as error:
                self._store_failed(error)
                kept.append(report)
            except Exception as refusal:  # noqa: BLE001 — see _turn
                kept += self._refused(report, refusal)
        return kept

    def _refused(self, report: Report, refusal: Exception) -> list[Report]:
        ref = report.ref
        log.error("the result of job %d is refused: %s", ref.job_id, refusal, extra=self._fields(ref))
        if isinstance(report.outcome, Failed):
            self._forget(ref)  # not even a failure can be stored: the lease will run out
            return []
        outcome = redacted(Failed(f"the job's result was refused: {refusal}", permanent=True))
        return [Report(ref, outcome, report.exit_code, report.stdout_tail, report.stderr_tail)]

    def _claim_request(self, lane: Lane, executor: ExecutorHandle) -> ClaimRequest:
        return ClaimRequest(self.worker_id, lane.types, self.options.lease_seconds, pid=executor.process.pid)

    def _top_up(self, executor: ExecutorHandle, limit: int) -> None:
        siblings: tuple[Claimed, ...] = ()
        if executor.batch and executor.stop_reason is None and not self.draining:
            kind = executor.head.type
            request = ClaimRequest(self.worker_id, (kind,), self.options.lease_seconds, executor.process.pid)
            try:
                siblings = self.store.claim_siblings(
                    request, executor.head, min(limit, self.store.registry[kind].batch_max)
                )
            except QueueError as error:
                log.error("no siblings for job %d: %s", executor.head.id, error, extra=self._job_fields(executor.head))
        self.started_jobs += len(siblings)
        executor.add_siblings(siblings)

    # Time

    def _heartbeat_if_due(self) -> None:
        if time.monotonic() >= self._next_heartbeat:
            self._triggers.nudge()
            self._follow_definitions()
            if self._heartbeat() and self._maintenance.run_once():
                self._feed_everyone()

    def _heartbeat(self, state: Literal["active", "draining", "stopped"] | None = None) -> bool:
        """Renew every lease in one statement, and learn what was cancelled or lost. Goes on while draining."""
        began = time.monotonic()
        self._next_heartbeat = began + self.options.lease_seconds / 3
        kinds = [key for lane in self.lanes for key in lane.types]
        state = state or ("draining" if self.draining else "active")
        try:
            held = self.store.workers.heartbeat(self.worker_id, self.options.lease_seconds, types=kinds, state=state)
        except StoreError as error:
            self._next_heartbeat = began + STORE_RETRY_SECONDS
            self._store_failed(error)
            return False
        self._trouble.over("the queue can be written again")
        self._note_late_heartbeat()
        self._watchdog.renew(began)
        self._drop_lost({one.ref for one in held})
        self._return_strays({one.ref for one in held})
        self.pool.stop_cancelled([one.ref for one in held if one.cancel_requested])
        return True

    def _note_late_heartbeat(self) -> None:
        """If ours was late, those of other workers may have been, for the same reason: they renew before a sweep."""
        now = time.monotonic()
        if self._last_heartbeat and now - self._last_heartbeat > self.options.lease_seconds / 3 + LATE_SECONDS:
            self._maintenance.postpone_sweep()
        self._last_heartbeat = now

    def _drop_lost(self, held: set[AttemptRef]) -> None:
        for executor in self.pool.executors:
            if executor.batch and not executor.batch.keys() & held:
                fields = self._job_fields(executor.head)
                log.error("job %d was taken from us: stopping its executor", executor.head.id, extra=fields)
                executor.stop("fenced", 0.0)

    def _return_strays(self, held: set[AttemptRef]) -> None:
        """A claim whose answer was lost (the disk filled behind the commit) would be ours, and idle, for ever."""
        known = {ref for executor in self.pool.executors for ref in executor.batch} | self.pool.ending.keys()
        for ref in held - known:
            log.error("job %d is ours, but no executor has it: giving it back", ref.job_id)
            self._unsent.append(Report(ref, Snoozed(0, "claimed by a worker that never heard of it")))

    def _look_for_work(self) -> None:
        """Slow polling is the truth beneath the wake-ups: it notices any commit of any other program."""
        now = time.monotonic()
        if now < self._next_poll and now < self._next_due:
            return
        self._next_poll = now + self.options.poll_seconds
        try:
            if self.store.database.may_have_work() or now >= self._next_due:
                self._on_wake()
        except StoreReplaced:
            raise  # the end of this worker: jobs are now enqueued in another file
        except StoreError as error:
            self._store_failed(error)

    def _follow_definitions(self) -> None:
        """Types that operators have added, or moved to another lane, run from now on."""
        registry = self.store.registry
        with contextlib.suppress(StoreError):
            registry.refresh()
        if registry.generation == self._types_seen:
            return
        self._types_seen = registry.generation
        types = lane_types(registry, [key for key in self.options.only_types if key in registry])
        for lane in self.lanes:
            lane.types = types.pop(lane.name, ())
        for name in types.keys() & self.options.lanes.keys():
            self.lanes.append(Lane(name, types[name], self.options.lanes[name], self.options.niceness.get(name, 0)))

    def _on_wake(self) -> None:
        self._listener.drain()
        self._follow_definitions()
        self._next_due = float("inf")
        self._triggers.nudge()
        self._feed_everyone()
        if self.pool.busy:
            with contextlib.suppress(StoreError):
                self.pool.stop_cancelled(self.store.attempts.cancellations(self.worker_id))

    def _feed_everyone(self) -> None:
        for lane in self.lanes:
            lane.hungry = True

    def _note_next_due(self) -> None:
        with contextlib.suppress(StoreError):
            seconds = self.store.jobs.seconds_to_next_due()
            if seconds is not None:
                self._next_due = time.monotonic() + max(seconds, 0.001)

    def _wait_seconds(self) -> float:
        """Until the next thing that is due by the clock."""
        moments = [self._next_heartbeat, self._next_poll, self._next_due]
        if time.monotonic() < self._stop_at:
            moments.append(self._stop_at)
        moments += self.pool.due()
        if not self.draining:
            moments += [self._triggers.next_look, *(lane.respawn_at for lane in self.lanes if lane.missing > 0)]
        # A worker that ends by itself looks again at once; another has time until it is woken, or its next poll.
        in_a_hurry = self.options.until != "stopped" or self._store_back_at > time.monotonic()
        if self._unsent or (in_a_hurry and self._hungry):
            moments.append(self._store_back_at)
        return max(0.0, min(moments) - time.monotonic())

    @property
    def _hungry(self) -> bool:
        return self._may_start and any(lane.hungry and lane.idle for lane in self.lanes)

    # Endings

    def _obey_signals(self) -> None:
        if self._signals.count and not self.draining:
            self.draining = True
            self._stop_at = time.monotonic() + self.options.drain_seconds
            self._next_heartbeat = 0.0
            log.info("draining: %d executors still work; a second signal stops them now", self.pool.busy)
        if self._signals.count > 1 or time.monotonic() >= self._stop_at:
            for executor in self.pool.executors:
                if executor.batch:
                    executor.stop("shutdown", self.options.kill_grace_seconds)

    def _is_blocked(self) -> bool:
        """For the fence, from its own thread."""
        database = self.store.database
        return isinstance(database, FileDatabase) and database.blocked()

    def _store_failed(self, error: Exception) -> None:
        self._trouble.tell(f"{error}; trying again every {STORE_RETRY_SECONDS:g} s")
        self._store_back_at = time.monotonic() + STORE_RETRY_SECONDS

    def _log_end(self, report: Report) -> None:
        kind = type(report.outcome).__name__.lower()
        level = logging.WARNING if isinstance(report.outcome, Failed) else logging.INFO
        text = ""
        if isinstance(report.outcome, Failed):
            text = report.outcome.error.partition("\n")[0]
        elif isinstance(report.outcome, Snoozed):
            text = f"{report.outcome.reason} (again in {report.outcome.seconds:.0f} s)"
        fields = self._fields(report.ref)
        if job := self.pool.ending.get(report.ref):
            seconds = time.monotonic() - self._began.pop(report.ref, time.monotonic())
            fields["job_end"] = JobEnd.of(job, report.outcome, seconds)
        log.log(level, "job %d %s%s", report.ref.job_id, kind, f": {text}" if text else "", extra=fields)

    def _fields(self, ref: AttemptRef) -> dict[str, Any]:
        """For the log: the job of an attempt that is ending."""
        if job := self.pool.ending.get(ref):
            return self._job_fields(job)
        return {"job_id": ref.job_id, "attempt_no": ref.attempt_no, "worker_id": self.worker_id}

    def _job_fields(self, job: Claimed) -> dict[str, Any]:
        fields = {
            "job_id": job.id,
            "type": job.type,
            "attempt_no": job.attempt_no,
            "job_args": redact(job.args[:ARGS_LOGGED]),
        }
        return {**fields, "worker_id": self.worker_id, "tenant_id": job.tenant_id}
