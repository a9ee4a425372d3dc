"""Ids of traces and spans, computed from jobs, so that workers on several hosts agree without communicating."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from gribmill.queue.model import Job

TRACE_ID = re.compile(r"(?!0{32})[0-9a-f]{32}")
ROOT_JOB = re.compile(r"job-([1-9][0-9]{0,17})")


def arguments(job: Job) -> dict[str, Any]:
    found = json.loads(job.args) if isinstance(job.args, str) else job.args
    return found if isinstance(found, dict) else {}


def trace_id(job: Job) -> int:
    """The correlation id if it has the form of a trace id; otherwise one id per file of a chain of jobs."""
    chain = job.correlation_id or f"job-{job.id}"
    if TRACE_ID.fullmatch(chain):
        return int(chain, 16)
    args = arguments(job)
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


def _number(*parts: object, size: int) -> int:
    digest = hashlib.sha256(json.dumps([str(part) for part in parts]).encode()).digest()
    return int.from_bytes(digest[:size], "big") or 1
