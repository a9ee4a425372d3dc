"""Scans: jobs that look for new files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from gribmill.views.view import View

if TYPE_CHECKING:
    from gribmill.queue.model import Enqueued, NewJob, Outcome


class ScanView(View):
    """The scan of one model. `new` is false when one was active already."""

    model: str
    job_id: int
    new: bool

    @classmethod
    def of(cls, model: str, made: Enqueued) -> Self:
        return cls(model=model, job_id=made.id, new=made.created)


class ScanResultView(ScanView):
    """A scan and what it found: how many new files, and a note. The outcome is null when it was not run here."""

    outcome: str | None
    files: int
    note: str | None

    @classmethod
    def with_outcome(cls, model: str, made: Enqueued, outcome: Outcome | None) -> Self:
        notes = (getattr(outcome, name, None) for name in ("skipped", "reason", "error"))
        return cls(
            model=model,
            job_id=made.id,
            new=made.created,
            outcome=type(outcome).__name__.lower() if outcome else None,
            files=len(getattr(outcome, "then", ())),
            note=next((note.partition("\n")[0] for note in notes if note), None),
        )


class NotifiedScanView(View):
    """The scan of one run that a notification led to. `new` is false when one was active already."""

    model_id: str
    run_id: str
    job_id: int
    new: bool

    @classmethod
    def of(cls, job: NewJob, made: Enqueued) -> Self:
        return cls(**job.args, job_id=made.id, new=made.created)
