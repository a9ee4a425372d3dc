"""Events: named records of what happened; and what responds to them, triggers and webhooks."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from gribmill.queue.model.job import DEFAULT_TENANT, Enqueued, Json

# These occur with every attempt or tile, so they are recorded only if something consumes them.
OPTIONAL_EVENTS = ("attempt.metered", "tile.built")
# The first words of the names that gribmill publishes. Nobody else may report events of such names: a receiver could
# not tell them from real ones.
RESERVED_NOUNS = frozenset(
    ("attempt", "disk", "gribmill", "hour", "job", "mirror", "model", "run", "tile", "webhook", "worker")
)
Misfire = Literal["skip", "latest", "all"]
TriggerKind = Literal["schedule", "event", "adaptive"]
# In place of cron fields, for a schedule whose times are chosen by a program.
ADAPTIVE = "@adaptive"
EVENT_WINDOW_SECONDS = 300
DeliveryStatus = Literal["pending", "delivered", "failed"]
# The tenant of a webhook that receives the events of all.
ALL_TENANTS = "*"


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event to publish. The publisher is responsible for the payload's schema."""

    name: str
    payload: dict[str, Any] = field(default_factory=dict)
    tenant_id: str = DEFAULT_TENANT


@dataclass(frozen=True, slots=True)
class PublishedEvent:
    """A row of the outbox. `job_id` is the job whose attempt caused it, `event_key` the id assigned by its emitter."""

    id: int
    name: str
    tenant_id: str
    payload: Json
    created_at: datetime | None
    job_id: int | None
    event_key: str | None
    dispatched_at: datetime | None

    @property
    def values(self) -> dict[str, Any]:
        """The payload as a dict; empty if a manually written row holds anything else."""
        return self.payload if isinstance(self.payload, dict) else {}

    @property
    def correlation_id(self) -> str:
        """What the jobs made for this event share."""
        return f"event-{self.id}"


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


@dataclass(frozen=True, slots=True)
class Webhook:
    """A stored webhook. `events` are names, possibly with asterisks; the tenant `*` means all tenants."""

    id: int
    tenant_id: str
    url: str
    events: tuple[str, ...]
    secret: str = field(repr=False)
    is_enabled: bool
    disabled_reason: str | None
    failing_since: datetime | None
    last_error: str | None
    last_delivered_at: datetime | None
    created_by: str | None
    created_at: datetime | None
    updated_at: datetime | None

    @property
    def job_tenant(self) -> str:
        """The tenant that its delivery jobs belong to."""
        return DEFAULT_TENANT if self.tenant_id == ALL_TENANTS else self.tenant_id

    def may_receive(self, event: PublishedEvent) -> bool:
        """Whether the event is of its tenant."""
        return self.tenant_id in (ALL_TENANTS, event.tenant_id)


@dataclass(frozen=True, slots=True)
class Delivery:
    """One event on its way to one webhook."""

    webhook_id: int
    event_id: int
    event_name: str
    job_id: int | None
    status: DeliveryStatus
    http_status: int | None
    error: str | None
    created_at: datetime | None
    updated_at: datetime | None


@dataclass(frozen=True, slots=True)
class WebhookAnswer:
    """The result of one delivery attempt. A failure disables the webhook if it has failed for too long, or if its
    URL is gone."""

    webhook_id: int
    event_id: int
    delivered: bool
    http_status: int | None = None
    error: str | None = None
    gone: bool = False
    last: bool = False
    """Whether this was the last attempt."""
    disable_after_seconds: float = 432_000.0
