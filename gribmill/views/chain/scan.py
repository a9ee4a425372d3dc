"""Scans: jobs that look for new files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from gribmill.views.view import View

if TYPE_CHECKING:
    from gribmill.queue.model import Enqueued, NewJob, Outcome


class ScanView(View):
    """The scan of one model. `new` is false if a scan was already active."""

    model: str
    job_id: int
    new: bool

    @classmethod
    def of(cls, model: str, made: Enqueued) -> Self:
        return cls(model=model, job_id=made.id, new=made.created)


@dataclass(frozen=True, slots=True)
class ScanFinding:
    """The result of a scan: its outcome, the number of new files, a note, and the worker (None: this process)."""

    outcome: str
    files: int
    note: str | None
    worker: str | None = None

    @classmethod
    def of(cls, outcome: Outcome) -> Self:
        notes = (getattr(outcome, name, None) for name in ("skipped", "reason", "error"))
        note = next((note for note in notes if note), None)
        return cls(type(outcome).__name__.lower(), len(getattr(outcome, "then", ())), note)


class ScanResultView(ScanView):
    """A scan and its result: the number of new files, and a note. The outcome is null if it was not run.

    `worker` is null if this command ran it.
    """

    outcome: str | None
    files: int
    note: str | None
    worker: str | None

    @classmethod
    def with_finding(cls, model: str, made: Enqueued, found: ScanFinding | None) -> Self:
        return cls(
            model=model,
            job_id=made.id,
            new=made.created,
            outcome=found.outcome if found else None,
            files=found.files if found else 0,
            note=found.note.partition("\n")[0] if found and found.note else None,
            worker=found.worker if found else None,
        )


class NotifiedScanView(View):
    """The scan of one run, caused by a notification. `new` is false if a scan was already active."""

    model_id: str
    run_id: str
    job_id: int
    new: bool

    @classmethod
    def of(cls, job: NewJob, made: Enqueued) -> Self:
        return cls(**job.args, job_id=made.id, new=made.created)
