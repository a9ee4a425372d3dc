"""Webhooks: URLs that receive events."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Response
from pydantic import Field

from gribmill.queue.model import Delivery, Enqueued, Webhook
from gribmill.queue.store.events.webhooks import Webhooks
from gribmill.server.api.scope import Scope
from gribmill.server.api.values import EditBody, Name, PageLimit, PathId, RequestBody
from gribmill.server.change import CurrentChange
from gribmill.server.context import Server
from gribmill.server.problems import HttpProblem
from gribmill.server.router import SecuredRouter
from gribmill.views.queue.job_result import EnqueuedView
from gribmill.views.queue.webhook import DeliveryView, NewWebhookView, WebhookView

router = SecuredRouter("/api/v1/webhooks", tag="webhooks")

Address = Annotated[str, Field(min_length=1, max_length=2000)]
Patterns = Annotated[tuple[Name, ...], Field(min_length=1, max_length=50)]
Secret = Annotated[str, Field(min_length=1, max_length=200)]


class NewWebhookBody(RequestBody):
    """A URL and the events to send. A secret is generated unless one is given."""

    url: Address
    events: Patterns = ("*",)
    secret: Secret | None = None


class EditWebhookBody(EditBody):
    """The fields to change; others keep their value."""

    url: Address = ""
    events: Patterns = ("*",)
    secret: Secret = ""
    is_enabled: bool = True


def shown(webhook: Webhook) -> dict[str, Any]:
    return WebhookView.of(webhook).model_dump()


@router.get("")
async def list_webhooks(server: Server, scope: Scope) -> tuple[WebhookView, ...]:
    """List webhooks, without their secrets."""
    return tuple(map(WebhookView.of, await server.run(lambda: scope.acting().webhooks.list())))


@router.post("", status_code=201)
async def create_webhook(
    body: NewWebhookBody, server: Server, scope: Scope, change: CurrentChange, response: Response
) -> NewWebhookView:
    """Add a webhook. Its signing secret is returned only in this response."""

    def add() -> Webhook:
        hooks = scope.acting().webhooks
        return hooks.add(body.url, body.events, secret=body.secret, created_by=scope.by)

    made = await server.run(add)
    change.tenant_id, change.object, change.after = made.tenant_id, f"webhook {made.id}", shown(made)
    response.headers["Location"] = f"/api/v1/webhooks/{made.id}"
    return NewWebhookView.of(made)


@router.get("/{webhook_id}")
async def show_webhook(webhook_id: PathId, server: Server, scope: Scope) -> WebhookView:
    """Show one webhook."""
    return WebhookView.of(await server.run(lambda: scope.acting().webhooks.get(webhook_id)))


@router.patch("/{webhook_id}")
async def edit_webhook(
    webhook_id: PathId, body: EditWebhookBody, server: Server, scope: Scope, change: CurrentChange
) -> WebhookView:
    """Change a webhook; `is_enabled` enables or disables it."""
    changes = body.given()
    enabled = changes.pop("is_enabled", None)
    if not changes and enabled is None:
        raise HttpProblem(422, "nothing to change: give at least one field")

    def edit() -> tuple[Webhook, Webhook]:
        hooks = scope.acting().webhooks
        before = after = hooks.get(webhook_id)
        if changes:
            after = hooks.edit(webhook_id, **changes)
        if enabled is not None:
            after = hooks.set_enabled(webhook_id, enabled=enabled)
        return before, after

    change.object = f"webhook {webhook_id}"
    before, after = await server.run(edit)
    change.tenant_id, change.before, change.after = before.tenant_id, shown(before), shown(after)
    return WebhookView.of(after)


@router.delete("/{webhook_id}", status_code=204)
async def delete_webhook(webhook_id: PathId, server: Server, scope: Scope, change: CurrentChange) -> None:
    """Remove a webhook with its deliveries."""

    def remove() -> Webhook:
        hooks = scope.acting().webhooks
        before = hooks.get(webhook_id)
        hooks.remove(webhook_id)
        return before

    change.object = f"webhook {webhook_id}"
    before = await server.run(remove)
    change.tenant_id, change.before = before.tenant_id, shown(before)


@router.get("/{webhook_id}/deliveries")
async def list_deliveries(
    webhook_id: PathId, server: Server, scope: Scope, limit: PageLimit = 20
) -> tuple[DeliveryView, ...]:
    """List the latest deliveries of a webhook and their results."""

    def look() -> tuple[Delivery, ...]:
        return tuple(scope.acting().webhooks.deliveries(webhook_id, limit))

    return tuple(map(DeliveryView.of, await server.run(look)))


@router.post("/{webhook_id}/test", status_code=201)
async def check_webhook(webhook_id: PathId, server: Server, scope: Scope, change: CurrentChange) -> EnqueuedView:
    """Send a test event to this webhook; the response names the job that delivers it."""

    def test() -> Enqueued:
        hooks = scope.acting().webhooks
        change.tenant_id = hooks.get(webhook_id).tenant_id
        return hooks.test(webhook_id)

    change.object = f"webhook {webhook_id}"
    made = await server.run(test)
    change.after = {"job": made.id}
    return EnqueuedView.of(made)


@router.post("/{webhook_id}/deliveries/{event_id}", status_code=201)
async def redeliver_event(
    webhook_id: PathId, event_id: PathId, server: Server, scope: Scope, change: CurrentChange
) -> tuple[EnqueuedView, ...]:
    """Deliver an event again to a webhook."""

    def again() -> tuple[Enqueued, ...]:
        hooks = scope.acting().webhooks
        change.tenant_id = hooks.get(webhook_id).tenant_id
        if isinstance(hooks, Webhooks):
            server.store.events.get(event_id)
        return tuple(hooks.redeliver(event_id, webhook_id))

    change.object = f"webhook {webhook_id}, event {event_id}"
    made = await server.run(again)
    change.after = {"jobs": [one.id for one in made]}
    return tuple(map(EnqueuedView.of, made))
