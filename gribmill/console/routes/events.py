"""Events, webhooks and their deliveries."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import Path, Query, Request
from starlette.responses import Response

from gribmill.console.routes.page import act, form_of, handle_of, show
from gribmill.console.wording import capital
from gribmill.queue.errors import BadArguments, QueueError
from gribmill.queue.redact import redact_json
from gribmill.server.access.principal import CurrentPrincipal, Principal
from gribmill.server.change import current_change
from gribmill.server.context import Server, ServerContext
from gribmill.server.router import SecuredRouter

router = SecuredRouter(tag="console", in_docs=False)

ROWS = 50
REFRESH_SECONDS = 5
LONGEST_TEXT = 300
DELIVERIES_SHOWN = 50
Id = Annotated[int, Path(gt=0, lt=2**63)]
Before = Annotated[int | None, Query(gt=0, lt=2**63)]


@router.get("/events")
async def console_events(
    request: Request, server: Server, principal: CurrentPrincipal, name: str = "", before: Before = None
) -> Response:
    """Events, newest first."""

    def values() -> dict[str, Any]:
        problem = None
        found: Any = []
        try:
            handle = handle_of(server, principal)
            found = handle.events.list(pattern=name.strip() or None, before_id=before, limit=ROWS + 1)
        except BadArguments as error:
            problem = capital(str(error))
        shown = [(one, json.dumps(redact_json(one.payload), ensure_ascii=False)[:LONGEST_TEXT]) for one in found[:ROWS]]
        following = found[ROWS - 1].id if len(found) > ROWS else None
        return {"events": shown, "next_before": following, "before": before, "pattern": name, "problem": problem}

    refresh = REFRESH_SECONDS if before is None else None
    return await show(
        request, server, principal, "events.html", "Events", values, active="events", refresh_seconds=refresh
    )


@router.get("/events/{event_id}")
async def console_event(request: Request, server: Server, principal: CurrentPrincipal, event_id: Id) -> Response:
    """One event with its payload."""

    def values() -> dict[str, Any]:
        handle = handle_of(server, principal)
        event = handle.events.get(event_id)
        return {"event": event, "payload": redact_json(event.payload), "webhooks": handle.webhooks.list()}

    return await show(request, server, principal, "event.html", f"Event {event_id}", values, active="events")


@router.post("/events/{event_id}/redeliver")
async def console_redeliver_event(
    request: Request, server: Server, principal: CurrentPrincipal, event_id: Id
) -> Response:
    """Deliver an event again to one webhook."""
    webhook_id = next(iter((await form_of(request)).ids("webhook")), 0)
    webhooks = handle_of(server, principal).webhooks

    def redeliver() -> str:
        made = webhooks.redeliver(event_id, webhook_id)
        return f"job {made[0].id} delivers it again"

    about = f"event {event_id}, webhook {webhook_id}"
    return await act(request, server, redeliver, f"/webhooks/{webhook_id}", about)


@router.get("/webhooks")
async def console_webhooks(request: Request, server: Server, principal: CurrentPrincipal) -> Response:
    """All webhooks."""
    return await _webhooks(request, server, principal)


async def _webhooks(
    request: Request,
    server: ServerContext,
    principal: Principal,
    *,
    secret: str | None = None,
    problem: str | None = None,
    typed: dict[str, str] | None = None,
) -> Response:
    def values() -> dict[str, Any]:
        rows = handle_of(server, principal).webhooks.list()
        return {"rows": rows, "secret": secret, "problem": problem, "typed": typed or {"url": "", "events": ""}}

    status = 422 if problem else 200
    return await show(request, server, principal, "webhooks.html", "Webhooks", values, active="webhooks", status=status)


@router.post("/webhooks")
async def console_add_webhook(request: Request, server: Server, principal: CurrentPrincipal) -> Response:
    """Add a webhook; its secret is shown once."""
    form = await form_of(request)
    typed = {"url": form.one("url"), "events": form.one("events")}
    change = current_change(request)
    change.after = typed
    webhooks = handle_of(server, principal).webhooks
    names = typed["events"].replace(",", " ").split()
    try:
        made = await server.run(webhooks.add, typed["url"], names, created_by=principal.name)
    except QueueError as error:
        return await _webhooks(request, server, principal, problem=capital(str(error)), typed=typed)
    change.object = f"webhook {made.id}"
    return await _webhooks(request, server, principal, secret=made.secret)


@router.get("/webhooks/{webhook_id}")
async def console_webhook(request: Request, server: Server, principal: CurrentPrincipal, webhook_id: Id) -> Response:
    """One webhook and its deliveries."""

    def values() -> dict[str, Any]:
        webhooks = handle_of(server, principal).webhooks
        return {
            "webhook": webhooks.get(webhook_id),
            "deliveries": webhooks.deliveries(webhook_id, DELIVERIES_SHOWN),
        }

    return await show(
        request,
        server,
        principal,
        "webhook.html",
        f"Webhook {webhook_id}",
        values,
        active="webhooks",
        refresh_seconds=REFRESH_SECONDS,
    )


@router.post("/webhooks/{webhook_id}/test")
async def console_test_webhook(
    request: Request, server: Server, principal: CurrentPrincipal, webhook_id: Id
) -> Response:
    """Send an event that only this webhook gets."""
    webhooks = handle_of(server, principal).webhooks

    def test() -> str:
        return f"job {webhooks.test(webhook_id).id} delivers a test"

    return await act(request, server, test, f"/webhooks/{webhook_id}", f"webhook {webhook_id}")


@router.post("/webhooks/{webhook_id}/enable")
async def console_enable_webhook(
    request: Request, server: Server, principal: CurrentPrincipal, webhook_id: Id
) -> Response:
    """Enable a webhook."""
    return await _switch(request, server, principal, webhook_id, enabled=True)


@router.post("/webhooks/{webhook_id}/disable")
async def console_disable_webhook(
    request: Request, server: Server, principal: CurrentPrincipal, webhook_id: Id
) -> Response:
    """Disable a webhook."""
    return await _switch(request, server, principal, webhook_id, enabled=False)


async def _switch(
    request: Request, server: ServerContext, principal: Principal, webhook_id: int, *, enabled: bool
) -> Response:
    webhooks = handle_of(server, principal).webhooks

    def switch() -> str:
        webhooks.set_enabled(webhook_id, enabled=enabled)
        return "it gets events again" if enabled else "it gets no events; they are not delivered later"

    return await act(request, server, switch, f"/webhooks/{webhook_id}", f"webhook {webhook_id}")


@router.post("/webhooks/{webhook_id}/remove")
async def console_remove_webhook(
    request: Request, server: Server, principal: CurrentPrincipal, webhook_id: Id
) -> Response:
    """Remove a webhook with its deliveries."""
    webhooks = handle_of(server, principal).webhooks

    def remove() -> str:
        webhooks.remove(webhook_id)
        return f"webhook {webhook_id} was removed"

    return await act(request, server, remove, "/webhooks", f"webhook {webhook_id}")
