"""Building a trigger's job from its arguments and the fields of a slot or an event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from gribmill.database.protocol import Snapshot
from gribmill.queue.errors import BadTrigger
from gribmill.queue.model import JobSource, JobTemplate, NewJob, NewTrigger, Trigger
from gribmill.queue.store.types.templates import find_template, job_of
from gribmill.queue.times import to_rfc3339


class Occasion(NamedTuple):
    """The slot or event that fires a trigger. A trigger fires once per key."""

    key: str
    source: JobSource
    fields: Mapping[str, Any]
    correlation_id: str | None = None


def trigger_job(
    rule: NewTrigger | Trigger,
    template: JobTemplate | None,
    args: Any,
    source: JobSource,
    source_ref: str = "",
    correlation_id: str | None = None,
) -> NewJob:
    job = job_of(template, args) if template else NewJob(rule.type, args, tenant_id=rule.tenant_id)
    return replace(
        job,
        priority=job.priority if rule.priority is None else rule.priority,
        source=source,
        source_ref=source_ref,
        correlation_id=job.correlation_id or correlation_id,
        created_by=f"trigger {rule.label}",
    )


def job_template_of(tx: Snapshot, rule: NewTrigger | Trigger) -> JobTemplate | None:
    """The job template of a trigger; raises BadTrigger if it does not match the trigger."""
    if rule.template_id is None:
        return None
    template = find_template(tx, rule.template_id)
    if template is None or template.tenant_id != rule.tenant_id:
        raise BadTrigger(f"the tenant {rule.tenant_id} has no template with the id {rule.template_id}")
    if template.type != rule.type:
        raise BadTrigger(f"template {template.name} makes jobs of the type {template.type}, not {rule.type}")
    return template


def arguments_of(trigger: Trigger) -> dict[str, Any]:
    if not isinstance(trigger.template, dict):
        raise BadTrigger(f"the template of trigger {trigger.id} is not a JSON object")
    return trigger.template


def slot_fields(slot: datetime) -> dict[str, Any]:
    return {"schedule": {"slot": slot_name(slot)}}


def slot_name(slot: datetime) -> str:
    return to_rfc3339(slot) or ""
