"""How a job ended, for one line on a terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gribmill.queue.model import Claimed, Failed, Outcome, Snoozed, Stopped, Succeeded

EndKind = Literal["succeeded", "skipped", "failed", "snoozed", "stopped"]


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
