"""Attempts, as stored in the database and as reported by `gribmill tick`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from gribmill.queue.model import Attempt, AttemptStatus, Failed, Job
from gribmill.queue.redact import redact_json
from gribmill.views.view import Time, View

if TYPE_CHECKING:
    from gribmill.queue.worker.in_process import TickedJob


class AttemptView(View):
    """One attempt: every column, and how long it took."""

    job_id: int
    attempt_no: int
    worker_id: str
    pid: int | None
    started_at: Time | None
    finished_at: Time | None
    status: AttemptStatus
    exit_code: int | None
    stdout_tail: str | None
    stderr_tail: str | None
    error_text: str | None
    artifacts: Any
    log_path: str | None
    seconds: float | None
    run_id: str
    """Unique in the whole queue, as in the view `job_runs`."""
    template_id: int | None
    params_snapshot: Any
    """The arguments that the attempt ran with."""
    downloaded_bytes: int | None
    """Bytes that the handler received from the network; null if it did not report them."""
    written_bytes: int | None
    ready_at: Time | None
    """When the attempt could have started."""
    wait_seconds: float | None
    """From `ready_at` to the start: excludes backoff, delay and waiting for dependencies."""

    @classmethod
    def of(cls, attempt: Attempt, job: Job) -> Self:
        seconds = None
        if attempt.started_at is not None and attempt.finished_at is not None:
            seconds = round((attempt.finished_at - attempt.started_at).total_seconds(), 3)
        return cls.copy_of(
            attempt,
            artifacts=attempt.artifacts or None,
            seconds=seconds,
            wait_seconds=None if attempt.wait_seconds is None else round(attempt.wait_seconds, 3),
            run_id=f"{attempt.job_id}-{attempt.attempt_no}",
            template_id=job.template_id,
            params_snapshot=redact_json(job.args),
        )


class TickView(View):
    """An attempt in this process. `accepted` is false if the job was taken away meanwhile."""

    job_id: int
    type: str
    attempt_no: int
    outcome: str
    seconds: float
    accepted: bool
    error: str | None

    @classmethod
    def of(cls, ran: TickedJob) -> Self:
        return cls(
            job_id=ran.job.id,
            type=ran.job.type,
            attempt_no=ran.job.attempt_no,
            outcome=type(ran.outcome).__name__.lower(),
            seconds=round(ran.seconds, 3),
            accepted=ran.accepted,
            error=ran.outcome.error.partition("\n")[0] if isinstance(ran.outcome, Failed) else None,
        )
