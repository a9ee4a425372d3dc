"""How attempts began and ended: as log lines with the job's fields, and for one line on a terminal."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from gribmill.queue.model import AttemptRef, Claimed, Failed, Outcome, Report, Snoozed, Stopped, Succeeded
from gribmill.queue.redact import redact

log = logging.getLogger("gribmill.worker")

# Enough to name a model, a run and an hour; arguments may be long.
ARGS_LOGGED = 200
EndKind = Literal["succeeded", "skipped", "failed", "snoozed", "stopped"]


class AttemptLog:
    """Logs the start and end of each attempt of this worker."""

    def __init__(self, worker_id: str, ending: Mapping[AttemptRef, Claimed]) -> None:
        self._worker_id = worker_id
        self._ending = ending
        self._began: dict[AttemptRef, float] = {}

    def started(self, job: Claimed) -> None:
        self._began[job.ref] = time.monotonic()
        log.debug("job %d starts", job.id, extra=self.job_fields(job))

    def ended(self, report: Report) -> None:
        kind = type(report.outcome).__name__.lower()
        level = logging.WARNING if isinstance(report.outcome, Failed) else logging.INFO
        text = ""
        if isinstance(report.outcome, Failed):
            text = report.outcome.error.partition("\n")[0]
        elif isinstance(report.outcome, Snoozed):
            text = f"{report.outcome.reason} (again in {report.outcome.seconds:.0f} s)"
        fields = self.fields(report.ref)
        if job := self._ending.get(report.ref):
            seconds = time.monotonic() - self._began.pop(report.ref, time.monotonic())
            fields["job_end"] = JobEnd.of(job, report.outcome, seconds)
        log.log(level, "job %d %s%s", report.ref.job_id, kind, f": {text}" if text else "", extra=fields)

    def fenced(self, ref: AttemptRef) -> None:
        log.warning("job %d is no longer ours: its result is dropped", ref.job_id, extra=self.fields(ref))

    def refused(self, ref: AttemptRef, refusal: Exception) -> None:
        log.error("the result of job %d is refused: %s", ref.job_id, refusal, extra=self.fields(ref))

    def forget(self, ref: AttemptRef) -> None:
        self._began.pop(ref, None)

    def fields(self, ref: AttemptRef) -> dict[str, Any]:
        """The log fields of an attempt's job."""
        if job := self._ending.get(ref):
            return self.job_fields(job)
        return {"job_id": ref.job_id, "attempt_no": ref.attempt_no, "worker_id": self._worker_id}

    def job_fields(self, job: Claimed) -> dict[str, Any]:
        fields = {
            "job_id": job.id,
            "type": job.type,
            "attempt_no": job.attempt_no,
            "job_args": redact(job.args[:ARGS_LOGGED]),
        }
        return {**fields, "worker_id": self._worker_id, "tenant_id": job.tenant_id}


@dataclass(frozen=True, slots=True)
class JobEnd:
    """One ended attempt. `text` is its error, or why it was skipped or snoozed."""

    job_id: int
    type: str
    args: str
    kind: EndKind
    text: str
    seconds: float
    artifacts: tuple[str, ...]
    new_jobs: int
    """How many jobs it enqueued."""
    again_seconds: float | None = None
    """When a snoozed job runs again."""

    @classmethod
    def of(cls, job: Claimed, outcome: Outcome, seconds: float) -> JobEnd:
        kind: EndKind = "stopped"
        text, again, new_jobs = "", None, 0
        artifacts: tuple[str, ...] = ()
        match outcome:
            case Succeeded():
                kind, text = ("skipped", outcome.skipped) if outcome.skipped else ("succeeded", "")
                artifacts, new_jobs = outcome.artifacts, len(outcome.then)
            case Failed():
                kind, text = "failed", outcome.error
            case Snoozed():
                kind, text, again, new_jobs = "snoozed", outcome.reason, outcome.seconds, len(outcome.then)
            case Stopped():
                text = outcome.error
        return cls(job.id, job.type, job.args, kind, text, seconds, artifacts, new_jobs, again)
