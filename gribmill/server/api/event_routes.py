"""Events: reporting, listing and streaming."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from typing import Annotated

from fastapi import Header, Query, Request
from pydantic import Field
from starlette.responses import StreamingResponse

from gribmill.queue.model import Fired, PublishedEvent
from gribmill.queue.store.events.events import check_pattern
from gribmill.server.access.authentication import is_still_known
from gribmill.server.api.scope import Scope, TenantScope
from gribmill.server.api.values import HIGHEST_ID, Cursor, JsonObject, Moment, Name, PageLimit, PathId, RequestBody
from gribmill.server.change import CurrentChange
from gribmill.server.context import Server, ServerContext
from gribmill.server.problems import HttpProblem
from gribmill.server.router import SecuredRouter
from gribmill.views.queue.event import EventView
from gribmill.views.queue.trigger import FiredView

router = SecuredRouter("/api/v1/events", tag="events")

KEEP_ALIVE_SECONDS = 15.0
# A stream ends within this time after its token expires or is revoked.
CHECK_AGAIN_SECONDS = 60.0
REPLAY_PAGE = 1000
RETRY_MILLISECONDS = 2000
STREAM = "text/event-stream"
Pattern = Annotated[str | None, Query(max_length=200, description="A name, with asterisks: run.*")]


class NewEventBody(RequestBody):
    """An event to report. With an id it is recorded only once."""

    name: Name
    payload: JsonObject = Field(default_factory=dict)
    id: Name | None = None


@router.post("", status_code=201)
async def emit_event(body: NewEventBody, server: Server, scope: Scope, change: CurrentChange) -> tuple[FiredView, ...]:
    """Report an event; the response lists the jobs that its triggers created."""

    def emit() -> tuple[Fired, ...]:
        return tuple(scope.acting().events.emit(body.name, body.payload, event_id=body.id))

    change.object = f"event {body.name}"
    fired = await server.run(emit)
    change.tenant_id, change.after = scope.new_tenant_id, {"fired": [one.trigger_id for one in fired]}
    return tuple(map(FiredView.of, fired))


@router.get("")
async def list_events(
    server: Server, scope: Scope, name: Pattern = None, since: Moment | None = None, limit: PageLimit = 50,
    cursor: Cursor = None,
) -> tuple[EventView, ...]:  # fmt: skip
    """List events, newest first. The cursor is the id of the last one."""

    def look() -> tuple[EventView, ...]:
        found = scope.acting().events.list(pattern=name, since=since, before_id=cursor, limit=limit)
        return tuple(map(EventView.of, found))

    return await server.run(look)


@router.get(
    "/stream",
    response_class=StreamingResponse,
    responses={200: {"content": {STREAM: {"schema": {"type": "string"}}}, "description": "Server-sent events."}},
)
async def stream_events(
    server: Server,
    request: Request,
    scope: Scope,
    name: Pattern = None,
    last_event_id: Annotated[str | None, Header(max_length=20)] = None,
) -> StreamingResponse:
    """Stream events as they happen (server-sent events). With `Last-Event-ID`, missed events come first."""
    check_pattern(name)
    since = None
    if last_event_id:
        if not last_event_id.isascii() or not last_event_id.isdigit() or int(last_event_id) > HIGHEST_ID:
            raise HttpProblem(422, "Last-Event-ID must be the id of an event")
        since = int(last_event_id)
    await server.run(scope.acting)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_stream(server, request, scope, name, since), media_type=STREAM, headers=headers)


@router.get("/{event_id}")
async def show_event(event_id: PathId, server: Server, scope: Scope) -> EventView:
    """Show one event."""
    return EventView.of(await server.run(lambda: scope.acting().events.get(event_id)))


async def _stream(
    server: ServerContext, request: Request, scope: TenantScope, pattern: str | None, since: int | None
) -> AsyncIterator[bytes]:
    """Missed events up to the start of the subscription, then new ones. The first message carries the start position
    as its id, so that a stream that breaks before its first event can resume too."""
    async with server.feed.subscribe(scope.tenant_id, pattern) as (stream, newest):
        yield f"retry: {RETRY_MILLISECONDS}\n".encode()
        yield b"\n" if since is not None else f"id: {newest}\n\n".encode()
        if since is not None:
            async for event in _missed(server, scope, pattern, since, newest):
                yield event
        check_at = time.monotonic() + CHECK_AGAIN_SECONDS
        while not server.closing.is_set():
            if time.monotonic() >= check_at:
                if not await is_still_known(server, request):
                    return
                check_at = time.monotonic() + CHECK_AGAIN_SECONDS
            try:
                event_or_end = await asyncio.wait_for(stream.waiting.get(), KEEP_ALIVE_SECONDS)
            except TimeoutError:
                yield b": still here\n\n"
                continue
            if event_or_end is None:
                return
            yield _text(event_or_end)


async def _missed(
    server: ServerContext, scope: TenantScope, pattern: str | None, since: int, newest: int
) -> AsyncIterator[bytes]:
    """Events after the client's last one, up to the start of the subscription."""

    def look(after: int) -> Sequence[PublishedEvent]:
        return scope.acting().events.after(after, pattern=pattern, through_id=newest, limit=REPLAY_PAGE)

    while page := await server.run(look, since):
        for event in page:
            yield _text(event)
        since = page[-1].id


def _text(event: PublishedEvent) -> bytes:
    """One message: id, name, and the event as JSON on one line."""
    data = json.dumps(EventView.of(event).model_dump(mode="json", warnings=False))
    name = event.name.replace("\n", " ").replace("\r", " ")
    return f"id: {event.id}\nevent: {name}\ndata: {data}\n\n".encode()
