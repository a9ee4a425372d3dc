"""A request for every operation that reaches the objects of one tenant."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

NAMED = "TENANT"
"""In a body: the name of the tenant whose objects are asked for."""

MADE = "MADE"
"""In a form: the id of a new object, of the kind that the field is named after."""


@dataclass(frozen=True)
class Asked:
    """`path` maps path variables to kinds of objects; other variables have a value in `fixed`."""

    path: dict[str, str] = field(default_factory=dict)
    json: Any = None
    form: dict[str, str] | None = None
    fixed: dict[str, str] = field(default_factory=dict)
    names_tenant: bool = True
    """Whether a collection takes `tenant_id`; else it shows what is the caller's own."""
    refused: tuple[int, ...] = ()
    """Statuses of an allowed request that its object's state does not admit."""


JOB, TRIGGER, GROUP = {"job_id": "job"}, {"trigger_id": "trigger"}, {"group_id": "group"}
WEBHOOK, EVENT, TOKEN = {"webhook_id": "webhook"}, {"event_id": "event"}, {"token_id": "token"}
TEMPLATE, ENDED = {"name": "template"}, {"job_id": "ended_job"}
NEW_TRIGGER = {"label": "new", "trigger_type": "event", "event_name": "folder.changed", "definition_key": "sleep"}
NOTHING_CHOSEN = {"status": "queued", "correlation_id": "none"}
OF_TRIGGER = {"label": "changed", "type": "sleep", "kind": "event", "event": "folder.changed", "args": "{}"}

API: dict[str, Asked] = {
    "create_job": Asked(json={"definition_key": "sleep", "payload": {"seconds": 0}}),
    "list_jobs": Asked(),
    "summarize_jobs": Asked(),
    "show_job": Asked(JOB),
    "list_attempts": Asked(JOB),
    "cancel_job": Asked(JOB),
    "retry_job": Asked(ENDED),
    "run_job_now": Asked(JOB),
    "move_job": Asked(JOB, json={"to": "front"}),
    "bulk_jobs": Asked(json={"action": "cancel", "filter": NOTHING_CHOSEN}),
    "show_bulk": Asked({"operation_id": "bulk"}),
    "list_triggers": Asked(),
    "create_trigger": Asked(json=NEW_TRIGGER),
    "show_trigger": Asked(TRIGGER),
    "edit_trigger": Asked(TRIGGER, json={"label": "changed"}),
    "delete_trigger": Asked(TRIGGER),
    "fire_trigger": Asked(TRIGGER),
    "list_groups": Asked(),
    "open_group": Asked(json={"name": "new"}),
    "show_group": Asked(GROUP),
    "cancel_group": Asked(GROUP),
    "retry_group": Asked(GROUP),
    "resume_group": Asked(GROUP),
    "list_templates": Asked(),
    "create_template": Asked(json={"name": "new", "definition_key": "sleep"}, refused=(409,)),
    "show_template": Asked(TEMPLATE),
    "edit_template": Asked(TEMPLATE, json={"description": "changed"}),
    "delete_template": Asked(TEMPLATE),
    "run_template": Asked(TEMPLATE),
    "emit_event": Asked(json={"name": "folder.changed"}),
    "list_events": Asked(),
    "stream_events": Asked(),
    "show_event": Asked(EVENT),
    "list_webhooks": Asked(),
    "create_webhook": Asked(json={"url": "https://new.example/hook"}),
    "show_webhook": Asked(WEBHOOK),
    "edit_webhook": Asked(WEBHOOK, json={"events": ["job.*"]}),
    "delete_webhook": Asked(WEBHOOK),
    "list_deliveries": Asked(WEBHOOK),
    "check_webhook": Asked(WEBHOOK),
    "redeliver_event": Asked(WEBHOOK | EVENT),
    "list_tenants": Asked(names_tenant=False),
    "show_tenant": Asked({"name": "tenant_name"}),
    "list_tokens": Asked(names_tenant=False),
    "create_token": Asked(json={"name": "new", "role": "tenant_viewer", "tenant_id": NAMED}),
    "rotate_token": Asked(TOKEN),
    "revoke_token": Asked(TOKEN),
    "list_audit": Asked(),
}


def page(path: dict[str, str] | None = None, **more: Any) -> Asked:
    return Asked(path or {}, names_tenant=False, **more)


def button(path: dict[str, str] | None = None, form: dict[str, str] | None = None, **more: Any) -> Asked:
    return Asked(path or {}, form=form or {}, names_tenant=False, **more)


CONSOLE: dict[str, Asked] = {
    "console_overview": page(),
    "console_jobs": page(),
    "console_job": page(JOB),
    "console_job_log": page({"job_id": "logged_job"}, fixed={"attempt_no": "1"}),
    "console_definitions": page(),
    "console_definition": page(fixed={"key": "sleep"}),
    "console_events": page(),
    "console_event": page(EVENT),
    "console_webhooks": page(),
    "console_webhook": page(WEBHOOK),
    "console_groups": page(),
    "console_group": page(GROUP),
    "console_runs": page(),
    "console_triggers": page(),
    "console_trigger": page(TRIGGER),
    "console_new_trigger": page(),
    # Runs are shared by all tenants; there are none here.
    "console_run": page(fixed={"model_id": "hrrr", "run_id": "20261118_00"}, refused=(404,)),
    "console_hour": page(fixed={"model_id": "hrrr", "run_id": "20261118_00", "hour": "1"}, refused=(404,)),
    "console_bulk": page(fixed={"operation_id": "nothere"}, refused=(404,)),
    "console_enqueue_job": button(form={"arg.seconds": "0"}, fixed={"key": "sleep"}),
    "console_redeliver_event": button(EVENT, form={"webhook": MADE}),
    "console_add_webhook": button(form={"url": "https://new.example/hook", "events": "run.*"}),
    "console_test_webhook": button(WEBHOOK),
    "console_enable_webhook": button(WEBHOOK),
    "console_disable_webhook": button(WEBHOOK),
    "console_remove_webhook": button(WEBHOOK),
    "console_cancel_group": button(GROUP),
    "console_retry_group": button(GROUP),
    "console_change_jobs": button(form={"action": "cancel", "scope": "selected", "confirmed": "1", "id": MADE}),
    "console_cancel_job": button(JOB),
    "console_retry_job": button(ENDED),
    "console_run_job": button(JOB),
    "console_advance_job": button(JOB),
    "console_postpone_job": button(JOB),
    "console_add_trigger": button(form=OF_TRIGGER),
    "console_edit_trigger": button(TRIGGER, form=OF_TRIGGER),
    "console_fire_trigger": button(TRIGGER),
    "console_enable_trigger": button(TRIGGER),
    "console_disable_trigger": button(TRIGGER),
    "console_remove_trigger": button(TRIGGER),
}

REQUESTS = {**API, **CONSOLE}
