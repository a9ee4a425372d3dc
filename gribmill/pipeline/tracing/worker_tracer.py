"""Traces a worker's attempts in the background: a slow or unreachable collector never delays a job."""

from __future__ import annotations

import json
import logging
import queue
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache

from gribmill.config_file import SettingsError
from gribmill.pipeline.tracing.spans import SpanRecord, root_job, spans_of
from gribmill.queue.errors import QueueError
from gribmill.queue.model import Attempt, AttemptRef, Job, Report, Succeeded
from gribmill.queue.store import Store
from gribmill.settings.schema import TraceSettings

log = logging.getLogger("gribmill.trace")

MOST_WAITING = 10_000
LAST_SECONDS = 5.0
MEASURED = ("decode_seconds", "encode_seconds")
Ended = tuple[AttemptRef, dict[str, float]]


class WorkerTracer:
    """Created by a supervisor. `ended` returns at once; a thread reads the attempt's rows and sends its spans."""

    def __init__(self, settings: TraceSettings, store: Store, worker_id: str) -> None:
        try:
            from gribmill.pipeline.tracing.otlp import OtlpSender
        except ImportError as error:
            raise SettingsError("trace.endpoint needs OpenTelemetry: pip install 'gribmill[trace]'") from error
        self._store = store
        self._sender = OtlpSender(settings.endpoint, settings.share, worker_id)
        self._waiting: queue.Queue[Ended | None] = queue.Queue(MOST_WAITING)
        self._dropped = 0
        self._scan = lru_cache(maxsize=256)(self._read_scan)
        self._thread = threading.Thread(target=self._run, name="gribmill-trace", daemon=True)
        self._thread.start()

    def ended(self, report: Report) -> None:
        """Called after the end of an attempt was stored."""
        try:
            self._waiting.put_nowait((report.ref, _measured(report)))
        except queue.Full:
            self._dropped += 1

    def close(self) -> None:
        """Send the remaining spans, for at most a few seconds."""
        try:
            self._waiting.put(None, timeout=LAST_SECONDS)
        except queue.Full:
            self._dropped += self._waiting.qsize()
        self._thread.join(LAST_SECONDS)
        self._sender.close(LAST_SECONDS)
        if self._dropped:
            log.warning("%d attempts are in no trace: they ended faster than they could be sent", self._dropped)

    def _run(self) -> None:
        while (ended := self._waiting.get()) is not None:
            try:
                for span in self._spans(*ended):
                    self._sender.send(span)
            except QueueError as error:
                log.warning("no trace of job %d: %s", ended[0].job_id, error, extra={"job_id": ended[0].job_id})

    def _spans(self, ref: AttemptRef, measured: dict[str, float]) -> Iterator[SpanRecord]:
        job = self._store.jobs.get(ref.job_id)
        attempt = next((one for one in self._store.attempts.of(ref.job_id) if one.attempt_no == ref.attempt_no), None)
        if attempt is None:
            return
        root = root_job(job) if job.type == "ingest_grib" else None
        yield from spans_of(job, attempt, None if root is None else self._scan(root), measured)

    def _read_scan(self, job_id: int) -> tuple[Job, Attempt] | None:
        """The scan with this id and the attempt that succeeded; None if the job is not a scan, or was pruned."""
        try:
            job = self._store.jobs.get(job_id)
        except QueueError:
            return None
        if job.type != "scan_source":
            return None
        done = [one for one in self._store.attempts.of(job_id) if one.status == "succeeded"]
        return (job, done[-1]) if done else None


def worker_tracer(settings: TraceSettings) -> Callable[[Store, str], WorkerTracer] | None:
    """A factory of tracers for workers; None if tracing is off."""
    if not settings.endpoint:
        return None
    return lambda store, worker_id: WorkerTracer(settings, store, worker_id)


def _measured(report: Report) -> dict[str, float]:
    """How long the tiles of an hour took, if the outcome contains it."""
    if not isinstance(report.outcome, Succeeded):
        return {}
    found = [json.loads(effect.payload) for effect in report.outcome.also if effect.kind == "tiles_cut"]
    return {f"gribmill.{name}": one[name] for one in found for name in MEASURED if isinstance(one.get(name), float)}
