"""A job as its handler sees it."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from gribmill.errors import GribmillError
from gribmill.queue.model import DEFAULT_TENANT, AttemptRef, Claimed, Failed, Outcome, Succeeded

if TYPE_CHECKING:
    from gribmill.queue.arguments import Args

ArgsT = TypeVar("ArgsT", bound="Args")


class PermanentFailure(GribmillError):
    """Raised by a handler if retrying would not help."""


@dataclass(frozen=True, slots=True)
class Task:
    """One job, as passed to a handler."""

    job_id: int
    type: str
    args: str
    attempt_no: int
    tenant_id: str
    worker_id: str
    environment: dict[str, Any] = field(default_factory=dict)
    """The worker's settings, as plain data."""
    definition: str | None = None
    """For a definition with a command: the command and the payload's schema, as JSON text."""
    claimant: str = DEFAULT_TENANT
    """The tenant whose turn it used; for shared work, the one that requested it."""

    @classmethod
    def of(cls, job: Claimed, worker_id: str, environment: dict[str, Any]) -> Task:
        return cls(
            job.id, job.type, job.args, job.attempt_no, job.tenant_id, worker_id, environment, job.command, job.claimant
        )

    @property
    def requested_by(self) -> str | None:
        """The tenant that requested shared work; None if the job belongs to that tenant."""
        return None if self.claimant == self.tenant_id else self.claimant

    @property
    def ref(self) -> AttemptRef:
        return AttemptRef(self.job_id, self.attempt_no)

    def args_as(self, model: builtins.type[ArgsT]) -> ArgsT:
        """The arguments, validated again because the row may have been written manually."""
        return model.model_validate_json(self.args)

    def log_fields(self) -> dict[str, Any]:
        return {
            "job_id": self.job_id,
            "type": self.type,
            "attempt_no": self.attempt_no,
            "worker_id": self.worker_id,
            "tenant_id": self.tenant_id,
        }


class Batch:
    """Sibling jobs for one handler call. Each is reported on its own, as soon as it is done."""

    def __init__(
        self,
        tasks: Sequence[Task],
        report: Callable[[Task, Outcome], None],
        top_up: Callable[[int], list[Task]],
    ) -> None:
        self.tasks = list(tasks)
        self._open = {task.ref: task for task in tasks}
        self._report = report
        self._top_up = top_up

    @property
    def unreported(self) -> list[Task]:
        return list(self._open.values())

    def done(self, task: Task, outcome: Outcome | None = None) -> None:
        """Report one task; the others continue."""
        if task.ref not in self._open:
            raise ValueError(f"job {task.job_id} was reported before")
        # Raises if the outcome cannot be sent; the task can then still be failed.
        self._report(task, outcome or Succeeded())
        del self._open[task.ref]

    def fail(self, task: Task, error: str, *, permanent: bool = False) -> None:
        self.done(task, Failed(error, permanent=permanent))

    def top_up(self, limit: int = 100) -> list[Task]:
        """Claim siblings that arrived since the batch was claimed, and add them to it."""
        more = self._top_up(limit)
        self.tasks += more
        self._open |= {task.ref: task for task in more}
        return more
