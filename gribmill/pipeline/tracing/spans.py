"""Jobs and attempts as spans: ids, parents, times and attributes. Independent of OpenTelemetry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from gribmill.pipeline.tracing.trace_ids import (
    arguments,
    attempt_span,
    download_span,
    scan_span,
    trace_id,
)
from gribmill.queue.model import Attempt, Job

Attributes = dict[str, str | int | float | bool]
# Types that follow a download, and the span attributes of arguments.
OF_A_FILE = ("build_tile", "publish")
ARGUMENTS = {
    "model_id": "gribmill.model",
    "run_id": "gribmill.run",
    "hour": "gribmill.hour",
    "region": "gribmill.region",
}
DONE = ("succeeded", "skipped")
FAILED = ("failed", "timeout", "lost")


@dataclass(frozen=True, slots=True)
class SpanRecord:
    """One span, ready to send."""

    trace_id: int
    span_id: int
    parent_id: int | None
    name: str
    started_at: datetime
    ended_at: datetime
    error: str | None = None
    attributes: Attributes = field(default_factory=dict)


def spans_of(
    job: Job, attempt: Attempt, scan: tuple[Job, Attempt] | None, measured: Mapping[str, float]
) -> Iterator[SpanRecord]:
    """The span of an attempt; for the first attempt of a download, also that of the scan that found the file."""
    trace = trace_id(job)
    download = job.type == "ingest_grib"
    span, parent = attempt_span(trace, job.id, attempt.attempt_no), None
    if download:
        span = download_span(trace) if attempt.status in DONE else span
        parent = scan_span(trace) if scan is not None else None
    elif job.type in OF_A_FILE:
        parent = download_span(trace)
    if download and scan is not None and attempt.attempt_no == 1:
        yield from _span(*scan, trace, scan_span(trace), None, {})
    yield from _span(job, attempt, trace, span, parent, measured)


def _span(
    job: Job, attempt: Attempt, trace: int, span: int, parent: int | None, measured: Mapping[str, float]
) -> Iterator[SpanRecord]:
    if attempt.started_at is None or attempt.finished_at is None:
        return
    error = (attempt.error_text or attempt.status) if attempt.status in FAILED else None
    attributes = {**_attributes(job, attempt), **measured}
    yield SpanRecord(trace, span, parent, job.type, attempt.started_at, attempt.finished_at, error, attributes)


def _attributes(job: Job, attempt: Attempt) -> Attributes:
    found: Attributes = {
        "gribmill.job_id": job.id,
        "gribmill.tenant_id": job.tenant_id,
        "gribmill.type": job.type,
        "gribmill.attempt_no": attempt.attempt_no,
        "gribmill.worker_id": attempt.worker_id,
        "gribmill.status": attempt.status,
    }
    if job.correlation_id is not None:
        found["gribmill.correlation_id"] = job.correlation_id
    if job.created_at is not None and attempt.started_at is not None:
        found["gribmill.seconds_since_enqueued"] = max(0.0, (attempt.started_at - job.created_at).total_seconds())
    for name, value in (("downloaded", attempt.downloaded_bytes), ("written", attempt.written_bytes)):
        if value is not None:
            found[f"gribmill.{name}_bytes"] = value
    args = arguments(job)
    return found | {word: args[name] for name, word in ARGUMENTS.items() if isinstance(args.get(name), str | int)}
