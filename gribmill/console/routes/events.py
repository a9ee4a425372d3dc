"""Events, webhooks and their deliveries."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import Path
from starlette.responses import Response

from gribmill.console.frame import Refresh
from gribmill.console.routes.visit import BeforeId, CurrentVisit, Visit, refusal
from gribmill.queue.errors import BadArguments, QueueError
from gribmill.queue.redact import redact_json
from gribmill.server.router import SecuredRouter

router = SecuredRouter(tag="console", in_docs=False)

ROWS = 50
REFRESH = Refresh(5)
LONGEST_TEXT = 300
DELIVERIES_SHOWN = 50
Id = Annotated[int, Path(gt=0, lt=2**63)]


def payload_text(payload: Any) -> str:
    """A payload on one line: `model_id hrrr, run_id 20261118_12`."""
    if not isinstance(payload, dict):
        return json.dumps(payload, ensure_ascii=False)[:LONGEST_TEXT]
    texts = (
        (key, one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)) for key, one in payload.items()
    )
    return ", ".join(f"{key} {text}" for key, text in texts if text)[:LONGEST_TEXT]


@router.get("/events")
async def console_events(visit: CurrentVisit, name: str = "", before: BeforeId = None) -> Response:
    """Events, newest first."""

    def values() -> dict[str, Any]:
        problem = None
        found: Any = []
        try:
            handle = visit.handle
            found = handle.events.list(pattern=name.strip() or None, before_id=before, limit=ROWS + 1)
        except BadArguments as error:
            problem = refusal(error)
        shown = [(one, payload_text(redact_json(one.payload))) for one in found[:ROWS]]
        following = found[ROWS - 1].id if len(found) > ROWS else None
        return {"events": shown, "next_before": following, "before": before, "pattern": name, "problem": problem}

    refresh = REFRESH if before is None else None
    return await visit.show("rules/events.html", "Events", values, active="events", refresh=refresh)


@router.get("/events/{event_id}")
async def console_event(visit: CurrentVisit, event_id: Id) -> Response:
    """One event with its payload."""

    def values() -> dict[str, Any]:
        handle = visit.handle
        event = handle.events.get(event_id)
        return {"event": event, "payload": redact_json(event.payload), "webhooks": handle.webhooks.list()}

    return await visit.show("rules/event.html", f"Event {event_id}", values, active="events")


@router.post("/events/{event_id}/redeliver")
async def console_redeliver_event(visit: CurrentVisit, event_id: Id) -> Response:
    """Deliver an event again to one webhook."""
    webhook_id = next(iter((await visit.form()).ids("webhook")), 0)
    webhooks = visit.handle.webhooks

    def redeliver() -> str:
        made = webhooks.redeliver(event_id, webhook_id)
        return f"job {made[0].id} delivers it again"

    about = f"event {event_id}, webhook {webhook_id}"
    return await visit.act(redeliver, f"/webhooks/{webhook_id}", about)


@router.get("/webhooks")
async def console_webhooks(visit: CurrentVisit) -> Response:
    """All webhooks."""
    return await _webhooks(visit)


async def _webhooks(
    visit: Visit,
    *,
    secret: str | None = None,
    problem: str | None = None,
    typed: dict[str, str] | None = None,
) -> Response:
    def values() -> dict[str, Any]:
        rows = visit.handle.webhooks.list()
        return {"rows": rows, "secret": secret, "problem": problem, "typed": typed or {"url": "", "events": ""}}

    status = 422 if problem else 200
    return await visit.show("rules/webhooks.html", "Webhooks", values, active="webhooks", status=status)


@router.post("/webhooks")
async def console_add_webhook(visit: CurrentVisit) -> Response:
    """Add a webhook; its secret is shown once."""
    form = await visit.form()
    typed = {"url": form.one("url"), "events": form.one("events")}
    change = visit.change
    change.after = typed
    webhooks = visit.handle.webhooks
    names = typed["events"].replace(",", " ").split()
    try:
        made = await visit.server.run(webhooks.add, typed["url"], names, created_by=visit.by)
    except QueueError as error:
        return await _webhooks(visit, problem=refusal(error), typed=typed)
    change.object = f"webhook {made.id}"
    return await _webhooks(visit, secret=made.secret)


@router.get("/webhooks/{webhook_id}")
async def console_webhook(visit: CurrentVisit, webhook_id: Id) -> Response:
    """One webhook and its deliveries."""

    def values() -> dict[str, Any]:
        webhooks = visit.handle.webhooks
        return {
            "webhook": webhooks.get(webhook_id),
            "deliveries": webhooks.deliveries(webhook_id, DELIVERIES_SHOWN),
        }

    return await visit.show(
        "rules/webhook.html",
        f"Webhook {webhook_id}",
        values,
        active="webhooks",
        refresh=REFRESH,
    )


@router.post("/webhooks/{webhook_id}/test")
async def console_test_webhook(visit: CurrentVisit, webhook_id: Id) -> Response:
    """Send a test event to this webhook only."""
    webhooks = visit.handle.webhooks

    def test() -> str:
        return f"job {webhooks.test(webhook_id).id} delivers a test"

    return await visit.act(test, f"/webhooks/{webhook_id}", f"webhook {webhook_id}")


@router.post("/webhooks/{webhook_id}/enable")
async def console_enable_webhook(visit: CurrentVisit, webhook_id: Id) -> Response:
    """Enable a webhook."""
    return await _switch(visit, webhook_id, enabled=True)


@router.post("/webhooks/{webhook_id}/disable")
async def console_disable_webhook(visit: CurrentVisit, webhook_id: Id) -> Response:
    """Disable a webhook."""
    return await _switch(visit, webhook_id, enabled=False)


async def _switch(visit: Visit, webhook_id: int, *, enabled: bool) -> Response:
    webhooks = visit.handle.webhooks

    def switch() -> str:
        webhooks.set_enabled(webhook_id, enabled=enabled)
        return "it gets events again" if enabled else "it gets no events; they are not delivered later"

    return await visit.act(switch, f"/webhooks/{webhook_id}", f"webhook {webhook_id}")


@router.post("/webhooks/{webhook_id}/remove")
async def console_remove_webhook(visit: CurrentVisit, webhook_id: Id) -> Response:
    """Remove a webhook with its deliveries."""
    webhooks = visit.handle.webhooks

    def remove() -> str:
        webhooks.remove(webhook_id)
        return f"webhook {webhook_id} was removed"

    return await visit.act(remove, "/webhooks", f"webhook {webhook_id}")
