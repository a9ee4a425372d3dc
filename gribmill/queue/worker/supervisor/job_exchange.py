"""A worker's exchange with the store: reporting finished attempts and claiming new ones."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gribmill.queue.errors import QueueError, StoreError
from gribmill.queue.model import AttemptRef, Claimed, ClaimRequest, Failed, Report
from gribmill.queue.redact import redacted
from gribmill.queue.store import Store
from gribmill.queue.worker.attempt_log import AttemptLog
from gribmill.queue.worker.executor.handle import ExecutorHandle
from gribmill.queue.worker.executor.lane import Lane
from gribmill.queue.worker.executor.pool import ExecutorPool
from gribmill.queue.worker.options import AttemptObserver, WorkerOptions
from gribmill.queue.worker.outage import StoreOutage

log = logging.getLogger("gribmill.worker")


@dataclass(frozen=True, slots=True)
class LoopResult:
    """The result of one pass of the supervisor's loop."""

    started: int = 0
    finished: int = 0
    fenced: int = 0


class JobExchange:
    """Reports and claims of one worker. `unsent` are reports that are not stored yet."""

    def __init__(
        self,
        store: Store,
        pool: ExecutorPool,
        attempts: AttemptLog,
        outage: StoreOutage,
        *,
        observer: AttemptObserver | None,
        on_settled: Callable[[], None],
        on_starved: Callable[[], None],
    ) -> None:
        self._store = store
        self._pool = pool
        self._attempts = attempts
        self._outage = outage
        self._observer = observer
        self._on_settled = on_settled
        self._on_starved = on_starved
        self.unsent: list[Report] = []
        self.started = 0
        self.finished = 0

    @property
    def _options(self) -> WorkerOptions:
        return self._pool.options

    @property
    def _lanes(self) -> Sequence[Lane]:
        return self._pool.lanes

    def turn(self, reports: list[Report], *, may_start: bool) -> LoopResult:
        """Report everything that ended and claim everything that can start, in one transaction."""
        if self._outage.lasts:
            self.unsent = reports
            return LoopResult()
        wanting = self._wanting() if may_start else []
        if not reports and not wanting:
            return LoopResult()
        claims = [self._request(executor, lane.types) for lane, executor in wanting]
        try:
            exchange = self._store.exchange(self._pool.worker_id, reports, claims)
        except StoreError as error:
            self._outage.failed(error)
            self.unsent = reports
            return LoopResult()
        except Exception as error:  # noqa: BLE001 — no result of a handler may stop the worker
            if not reports:
                self._outage.failed(error)
            self.unsent = self._without_refused(reports)
            return LoopResult()
        self._settle(reports, exchange.fenced)
        started = sum(
            self._hand_out(lane, executor, batch)
            for (lane, executor), batch in zip(wanting, exchange.batches, strict=True)
        )
        return LoopResult(started, len(exchange.accepted), len(exchange.fenced))

    def deliver(self) -> None:
        """Send the remaining reports. A refused result is reported as a failure instead."""
        while self.unsent and not self._outage.lasts:
            reports, self.unsent = self.unsent, []
            self.turn(reports, may_start=False)

    def top_up(self, executor: ExecutorHandle, limit: int) -> None:
        """Claim more siblings for an executor's batch, up to `limit`."""
        siblings: tuple[Claimed, ...] = ()
        if limit > 0 and executor.batch and executor.stop_reason is None:
            kind = executor.head.type
            most = min(limit, self._store.registry[kind].batch_max)
            try:
                siblings = self._store.claim_siblings(self._request(executor, (kind,)), executor.head, most)
            except QueueError as error:
                fields = self._attempts.job_fields(executor.head)
                log.error("no siblings for job %d: %s", executor.head.id, error, extra=fields)
        self.started += len(siblings)
        executor.add_siblings(siblings)

    def _wanting(self) -> list[tuple[Lane, ExecutorHandle]]:
        """The executors that can take a batch now, or once the pending reports are stored."""
        wanting = []
        for lane in self._lanes:
            for executor in lane.executors:
                frees = executor.done and executor.takes_more
                if frees and self._pool.too_old(executor):
                    executor.retire(self._options.kill_grace_seconds)
                    continue
                if frees or (executor.idle and lane.wants_work):
                    wanting.append((lane, executor))
        return wanting[:1] if self._options.until == "once" else wanting

    def _request(self, executor: ExecutorHandle, types: tuple[str, ...]) -> ClaimRequest:
        return ClaimRequest(self._pool.worker_id, types, self._options.lease_seconds, pid=executor.process.pid)

    def _settle(self, reports: list[Report], fenced: tuple[AttemptRef, ...]) -> None:
        """Release attempts whose reports were stored or fenced."""
        for report in reports:
            if report.ref in fenced:
                self._attempts.fenced(report.ref)
            else:
                self.finished += 1
                self._attempts.ended(report)
                if self._observer is not None:
                    self._observer.ended(report)
            self._forget(report.ref)
        if reports:
            self._on_settled()

    def _forget(self, ref: AttemptRef) -> None:
        self._pool.ending.pop(ref, None)
        self._attempts.forget(ref)
        for lane in self._lanes:
            for executor in lane.executors:
                if ref in executor.batch:
                    executor.release(ref)
                    lane.note_success()

    def _hand_out(self, lane: Lane, executor: ExecutorHandle, batch: tuple[Claimed, ...]) -> int:
        if not batch:
            lane.wants_work = False
            self._on_starved()
            return 0
        self.started += len(batch)
        for job in batch:
            self._attempts.started(job)
        executor.assign(batch, max(job.timeout_seconds for job in batch), self._options.logs)
        return len(batch)

    def _without_refused(self, reports: list[Report]) -> list[Report]:
        """The queue refused a report: find it by sending each one alone, and fail that job permanently."""
        kept = []
        for report in reports:
            try:
                self._settle([report], self._store.exchange(self._pool.worker_id, [report]).fenced)
            except StoreError as error:
                self._outage.failed(error)
                kept.append(report)
            except Exception as refusal:  # noqa: BLE001 — see turn
                kept += self._refused(report, refusal)
        return kept

    def _refused(self, report: Report, refusal: Exception) -> list[Report]:
        self._attempts.refused(report.ref, refusal)
        if isinstance(report.outcome, Failed):
            self._forget(report.ref)  # not even the failure can be stored: the lease will expire
            return []
        outcome = redacted(Failed(f"the job's result was refused: {refusal}", permanent=True))
        return [report._replace(outcome=outcome)]
