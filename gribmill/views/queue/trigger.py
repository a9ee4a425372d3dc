"""Triggers and their firings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Self

from gribmill.queue.model import Misfire, TriggerKind
from gribmill.queue.redact import redact_json
from gribmill.views.queue.job_result import DoneView
from gribmill.views.view import Time, View

if TYPE_CHECKING:
    from gribmill.queue.model import Fired, Trigger


class TriggerView(View):
    """A rule that enqueues jobs on a schedule (`cron` in `timezone`) or in response to an `event`."""

    id: int
    label: str
    type: str
    template: str
    cron: str | None
    timezone: str | None
    event: str | None
    priority: int | None
    """null: the priority of the job template."""
    tenant_id: str
    dedupe_window_seconds: int
    misfire: Misfire
    is_enabled: bool
    last_fired_at: Time | None
    next_fire_at: Time | None
    created_by: str | None
    kind: TriggerKind
    """adaptive: `gribmill run` chooses the times, and there are no cron fields."""
    template_id: int | None
    """The job template whose arguments `template` overrides."""
    args: Any
    """The parsed `template`."""

    @classmethod
    def of(cls, trigger: Trigger) -> Self:
        return cls.copy_of(trigger, **_shown(trigger))


def _shown(trigger: Trigger) -> dict[str, Any]:
    """The fields that are not shown as stored."""
    clock = {"cron": None, "timezone": None} if trigger.kind == "adaptive" else {}
    return {"template": _text(trigger.template), "args": redact_json(trigger.template), **clock}


def _text(template: Any) -> str:
    """The template as stored: JSON text, or whatever was manually written in its place."""
    shown = redact_json(template)
    return shown if isinstance(shown, str) else json.dumps(shown)


class SwitchedTriggerView(TriggerView, DoneView):
    """A trigger that was switched on or off."""

    @classmethod
    def of(cls, trigger: Trigger) -> Self:
        return cls.copy_of(trigger, **_shown(trigger), ok=True)


class FiredView(View):
    """The result of one event for one trigger. Without a job or an error, the event had already been reported."""

    trigger_id: int
    job_id: int | None
    new: bool
    error: str | None

    @classmethod
    def of(cls, fired: Fired) -> Self:
        return cls(
            trigger_id=fired.trigger_id,
            job_id=fired.job.id if fired.job else None,
            new=fired.job.created if fired.job else False,
            error=fired.error,
        )
