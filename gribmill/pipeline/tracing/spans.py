"""Jobs and attempts as spans: ids, parents, times and attributes. Independent of OpenTelemetry.

Ids are computed from jobs, so that workers on several hosts agree without communicating.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

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
TRACE_ID = re.compile(r"(?!0{32})[0-9a-f]{32}")
ROOT_JOB = re.compile(r"job-([1-9][0-9]{0,17})")


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
    args = _arguments(job)
    return found | {word: args[name] for name, word in ARGUMENTS.items() if isinstance(args.get(name), str | int)}


def trace_id(job: Job) -> int:
    """The correlation id if it has the form of a trace id; otherwise one id per file of a chain of jobs."""
    chain = job.correlation_id or f"job-{job.id}"
    if TRACE_ID.fullmatch(chain):
        return int(chain, 16)
    args = _arguments(job)
    file = [args.get(name) for name in ("model_id", "run_id", "hour")]
    return _number(chain, *(file if None not in file else ()), size=16)


def attempt_span(trace: int, job_id: int, attempt_no: int) -> int:
    return _number(trace, job_id, attempt_no, size=8)


def scan_span(trace: int) -> int:
    """The span id of the scan that found the file."""
    return _number(trace, "scan", size=8)


def download_span(trace: int) -> int:
    """The span id of the attempt that downloaded the file, the parent of its tiles."""
    return _number(trace, "download", size=8)


def root_job(job: Job) -> int | None:
    """The job that started the chain, if the correlation id names another one."""
    named = ROOT_JOB.fullmatch(job.correlation_id or "")
    found = int(named.group(1)) if named else None
    return None if found == job.id else found


def _arguments(job: Job) -> dict[str, Any]:
    found = json.loads(job.args) if isinstance(job.args, str) else job.args
    return found if isinstance(found, dict) else {}


def _number(*parts: object, size: int) -> int:
    digest = hashlib.sha256(json.dumps([str(part) for part in parts]).encode()).digest()
    return int.from_bytes(digest[:size], "big") or 1
