"""Job definitions: a job type as stored, with the code's values and the operators' changes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from gribmill.queue.model.job import Json

RetryAs = Literal["same_row", "new_job"]
QueueOrder = Literal["arrival", "due"]
TUNABLE = (
    "timeout_seconds", "max_attempts", "backoff_base_s", "backoff_cap_s", "backoff_jitter", "batch_max", "max_running",
    "lane", "resources", "on_lost", "retry_as", "poll_limit", "queue_order", "default_args",
)  # fmt: skip
"""The values that operators can change for any type, without changing what its jobs do."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A row of `job_definitions`. The columns hold the effective values: `declared`, changed by `overrides`."""

    key: str
    description: str
    arg_schema: Json
    default_args: Json
    timeout_seconds: int
    max_attempts: int
    backoff_base_s: float
    backoff_cap_s: float
    backoff_jitter: float
    batch_max: int
    max_running: int | None
    lane: str
    resources: tuple[str, ...]
    on_lost: Literal["retry", "fail"]
    retry_as: RetryAs
    poll_limit: int | None
    queue_order: QueueOrder
    command: Json
    """The command, for a type that an operator added; None for a type declared in code."""
    declared: Json
    overrides: Json
    version: int
    is_paused: bool
    is_active: bool
    created_at: datetime | None
    updated_at: datetime | None

    @property
    def effective(self) -> dict[str, Any]:
        """The effective tunable values."""
        return {name: getattr(self, name) for name in TUNABLE}


@dataclass(frozen=True, slots=True)
class DefinitionVersion:
    """A definition as of one change."""

    version: int
    changed_at: datetime | None
    changed_by: str | None
    change: str
    definition: Json
