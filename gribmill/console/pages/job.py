"""One job: its timeline, attempts with output, related jobs, and possible actions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from gribmill.console.chain_graph import chain_graph
from gribmill.console.frame import AnyStore
from gribmill.pipeline.job_text import job_text
from gribmill.queue.errors import QueueError
from gribmill.queue.model import FINISHED, Attempt, AttemptRef, Job, shown_status
from gribmill.queue.redact import redact, redact_json
from gribmill.queue.store.jobs.listing import History
from gribmill.queue.worker.output import OutputLogs

GOOD_ENDS = ("succeeded", "skipped")
SIBLINGS_SHOWN = 100
TAIL_BYTES = 8192


@dataclass(frozen=True, slots=True)
class JobMoment:
    """One line of a timeline."""

    at: datetime | None
    text: str
    kind: str = ""
    after_seconds: float | None = None
    """Since the previous line."""


@dataclass(frozen=True, slots=True)
class AttemptBlock:
    number: int
    status: str
    worker_id: str
    pid: int | None
    started_at: datetime | None
    finished_at: datetime | None
    seconds: float | None
    exit_code: int | None
    error: str
    live_tail: str
    """The end of the log, if the attempt is still running."""
    stdout: str
    stderr: str
    artifacts: tuple[str, ...]
    log_path: str | None


def job_values(handle: AnyStore, job_id: int, logs: OutputLogs) -> dict[str, Any]:
    """The page of one job; raises JobNotFound if there is none."""
    history = handle.jobs.history(job_id)
    job = history.job
    waits_for = handle.jobs.readiness().why_not(job) if job.status == "pending" else None
    return {
        "job": job,
        "text": job_text(job.args),
        "status": shown_status(job),
        "args": redact_json(job.args),
        "error": redact(job.error_message) if job.error_message else "",
        "waits_for": waits_for,
        "timeline": _with_gaps([*_timeline(history)]),
        "attempts": [_block(one, _live_tail(logs, one)) for one in reversed(history.attempts)],
        "chain": history.chain,
        "siblings": [(one.id, one.status, job_text(one.args)) for one in history.siblings[:SIBLINGS_SHOWN]],
        "more_siblings": max(0, len(history.siblings) - SIBLINGS_SHOWN),
        "graph": chain_graph(handle, history),
        "related": _related(handle, job),
        "actions": job_actions(job),
    }


def job_actions(job: Job) -> tuple[str, ...]:
    """The actions that the job's state allows, by the names used in forms."""
    if job.status in FINISHED:
        return ("retry",)
    if job.status == "processing":
        return () if job.cancel_requested_at else ("cancel",)
    run_now = ("run_now",) if job.next_run_at is not None else ()
    return (*run_now, "move_to_front", "move_to_back", "cancel")


def _timeline(history: History) -> Iterator[JobMoment]:
    job = history.job
    by = f" by {job.created_by}" if job.created_by else ""
    yield JobMoment(job.created_at, f"enqueued{by} ({job.source}{f': {job.source_ref}' if job.source_ref else ''})")
    for one in history.attempts:
        yield JobMoment(one.started_at, f"attempt {one.attempt_no} started on {one.worker_id}", "busy")
        if one.finished_at is not None:
            kind = "ok" if one.status in GOOD_ENDS else "" if one.status == "snoozed" else "bad"
            yield JobMoment(one.finished_at, f"attempt {one.attempt_no} {one.status}", kind)
    if job.cancel_requested_at is not None:
        yield JobMoment(job.cancel_requested_at, "asked to stop")
    if job.dead_lettered_at is not None:
        yield JobMoment(job.dead_lettered_at, "dead letter: no attempts left", "bad")
    elif job.completed_at is not None:
        yield JobMoment(job.completed_at, job.status, "ok" if job.status == "completed" else "bad")
    elif job.status == "pending" and job.next_run_at is not None:
        yield JobMoment(job.next_run_at, "may start again" if job.attempt_no else "may start")


def _with_gaps(moments: list[JobMoment]) -> list[JobMoment]:
    far = datetime.max.replace(tzinfo=UTC)
    ordered = sorted(moments, key=lambda one: one.at or far)
    found: list[JobMoment] = []
    last: datetime | None = None
    for one in ordered:
        gap = (one.at - last).total_seconds() if one.at and last else None
        found.append(JobMoment(one.at, one.text, one.kind, gap))
        last = one.at or last
    return found


def _live_tail(logs: OutputLogs, one: Attempt) -> str:
    """The latest output of a running attempt, if its log is on this host."""
    if one.status != "running":
        return ""
    try:
        with logs.path(AttemptRef(one.job_id, one.attempt_no)).open("rb") as file:
            end = file.seek(0, 2)
            file.seek(max(0, end - TAIL_BYTES))
            text = file.read(TAIL_BYTES).decode("utf-8", "replace")
    except OSError:  # the log is on another host, or not written yet
        return ""
    return text if end <= TAIL_BYTES else text.partition("\n")[2]


def _block(one: Attempt, live_tail: str) -> AttemptBlock:
    seconds = None
    if one.started_at is not None:
        seconds = ((one.finished_at or datetime.now(UTC)) - one.started_at).total_seconds()
    return AttemptBlock(
        one.attempt_no,
        one.status,
        one.worker_id,
        one.pid,
        one.started_at,
        one.finished_at,
        seconds,
        one.exit_code,
        redact(one.error_text or ""),
        live_tail,
        one.stdout_tail or "",
        one.stderr_tail or "",
        one.artifacts,
        one.log_path,
    )


def _related(handle: AnyStore, job: Job) -> dict[str, Any]:
    """Jobs with the same correlation id, and the group."""
    found: dict[str, Any] = {"correlated": [], "group": None}
    if job.correlation_id is not None:
        counts = handle.jobs.progress(job.correlation_id)
        found["correlated"] = [(kind, status, n) for (kind, status), n in sorted(counts.items())]
    if job.group_id is not None:
        try:
            found["group"] = handle.groups.get(job.group_id)
        except QueueError:
            found["group"] = None  # it was pruned
    return found
