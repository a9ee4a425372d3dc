"""What a handler sees of its job."""

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
    """Raised by a handler: trying again would not help."""


@dataclass(frozen=True, slots=True)
class Task:
    """One job in a handler's hands."""

    job_id: int
    type: str
    args: str
    attempt_no: int
    tenant_id: str
    worker_id: str
    environment: dict[str, Any] = field(default_factory=dict)
    """What the worker was started with: the settings, as plain data."""
    definition: str | None = None
    """For a definition with a command: that and the schema of its payload, as JSON text."""
    claimant: str = DEFAULT_TENANT
    """The tenant whose turn it took: of shared work, the one that asked for it."""

    @classmethod
    def of(cls, job: Claimed, worker_id: str, environment: dict[str, Any]) -> Task:
        return cls(
            job.id, job.type, job.args, job.attempt_no, job.tenant_id, worker_id, environment, job.command, job.claimant
        )

    @property
    def requested_by(self) -> str | None:
        """The tenant that asked for work which belongs to another; None if it asked for its own."""
        return None if self.claimant == self.tenant_id else self.claimant

    @property
    def ref(self) -> AttemptRef:
        return AttemptRef(self.job_id, self.attempt_no)

    def args_as(self, model: builtins.type[ArgsT]) -> ArgsT:
        """The arguments, checked once more: the row may have been written by hand."""
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
    """Sibling jobs that one handler call works on. Each is reported on its own, as soon as it is done."""

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
        """This one is finished; the others go on."""
        if task.ref not in self._open:
            raise ValueError(f"job {task.job_id} was reported before")
        # An outcome that cannot be sent raises here, and the job is still open to be failed for it.
        self._report(task, outcome or Succeeded())
        del self._open[task.ref]

    def fail(self, task: Task, error: str, *, permanent: bool = False) -> None:
        self.done(task, Failed(error, permanent=permanent))

    def top_up(self, limit: int = 100) -> list[Task]:
        """Siblings that have arrived since the batch was claimed; they belong to it from now on."""
        more = self._top_up(limit)
        self.tasks += more
        self._open |= {task.ref: task for task in more}
        return more
