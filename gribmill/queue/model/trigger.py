"""A trigger: a rule that enqueues jobs on a schedule or in response to an event."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from gribmill.queue.model.job import DEFAULT_TENANT, Enqueued, Json

Misfire = Literal["skip", "latest", "all"]
TriggerKind = Literal["schedule", "event", "adaptive"]
# In place of cron fields, for a schedule whose times are chosen by a program.
ADAPTIVE = "@adaptive"
EVENT_WINDOW_SECONDS = 300


@dataclass(frozen=True, slots=True)
class NewTrigger:
    """A trigger to add: `cron` in `timezone`, or `event`. `args` may have placeholders for the slot or the payload."""

    label: str
    type: str
    args: dict[str, Any] = field(default_factory=dict)
    cron: str | None = None
    timezone: str | None = None
    """The schedule's time zone; None: the tenant's."""
    event: str | None = None
    priority: int | None = None
    """None: that of the template, or 0."""
    tenant_id: str = DEFAULT_TENANT
    dedupe_window_seconds: int | None = None
    """Create no further job within this time, for the same event (default 5 minutes) or for a schedule (default 0)."""
    misfire: Misfire | None = None
    """What to do about a schedule's missed slots; by default, fire the latest."""
    created_by: str | None = None
    template_id: int | None = None
    """The job template that `type` comes from; `args` override its arguments."""

    @property
    def window_seconds(self) -> int:
        default = EVENT_WINDOW_SECONDS if self.cron is None else 0
        return default if self.dedupe_window_seconds is None else self.dedupe_window_seconds


@dataclass(frozen=True, slots=True)
class Trigger:
    """A stored trigger. `template` holds the arguments of its jobs, with placeholders: a dict, unless the row was
    written manually."""

    id: int
    label: str
    type: str
    template: Json
    cron: str | None
    timezone: str | None
    event: str | None
    priority: int | None
    """None: that of the job template."""
    tenant_id: str
    dedupe_window_seconds: int
    misfire: Misfire
    is_enabled: bool
    last_fired_at: datetime | None
    next_fire_at: datetime | None
    created_by: str | None
    template_id: int | None = None

    @property
    def kind(self) -> TriggerKind:
        if self.cron is None:
            return "event"
        return "adaptive" if self.cron == ADAPTIVE else "schedule"


@dataclass(frozen=True, slots=True)
class BrokenTrigger:
    """A manually written row that is not a valid trigger."""

    id: int
    reason: str


@dataclass(frozen=True, slots=True)
class Fired:
    """One firing of a trigger: the job that it created, or the reason why it created none."""

    trigger_id: int
    occasion: str
    job: Enqueued | None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Firing:
    """A recorded firing with its job; the status is None after the job has been pruned."""

    occasion: str
    job_id: int | None
    fired_at: datetime | None
    job_status: str | None
