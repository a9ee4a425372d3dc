"""Job types and their arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

from gribmill.views.view import View

if TYPE_CHECKING:
    from gribmill.queue.job_type import JobType


class JobTypeView(View):
    """One declared type, with the JSON Schema of its arguments."""

    type: str
    description: str
    lane: str
    runnable: bool
    paused: bool
    timeout_seconds: int
    max_attempts: int
    backoff_base_seconds: float
    backoff_cap_seconds: float
    batch_max: int
    max_running: int | None
    on_lost: Literal["retry", "fail"]
    dedupe: bool | tuple[str, ...]
    arg_schema: dict[str, Any]
    active: bool
    backoff_jitter: float

    @classmethod
    def of(cls, kind: JobType, *, state: str | None) -> Self:
        return cls(
            type=kind.key,
            description=kind.description,
            lane=kind.lane,
            runnable=kind.handler is not None,
            paused=state == "paused",
            timeout_seconds=kind.timeout_seconds,
            max_attempts=kind.max_attempts,
            backoff_base_seconds=kind.backoff_base_s,
            backoff_cap_seconds=kind.backoff_cap_s,
            batch_max=kind.batch_max,
            max_running=kind.max_running,
            on_lost=kind.on_lost,
            dedupe=kind.dedupe,
            arg_schema=kind.schema(),
            active=state != "inactive",
            backoff_jitter=kind.backoff_jitter,
        )
