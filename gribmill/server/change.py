"""Requests that change something: recorded in the audit trail, and executed once per Idempotency-Key."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Depends, Request, Response

from gribmill.access.audit import AuditedChange
from gribmill.access.idempotency import RequestKey, StoredAnswer
from gribmill.access.roles import WORKER
from gribmill.errors import GribmillError
from gribmill.server.access.principal import Principal, current_principal
from gribmill.server.access.table import access_of
from gribmill.server.context import ServerContext
from gribmill.server.problems import HttpProblem, answer_to

HEADER = "Idempotency-Key"
LONGEST_KEY = 200
REPLAYED = {"Idempotency-Replayed": "true"}
# Responses with a secret that is shown once are not stored.
SECRET_ANSWERS = frozenset({"create_token", "rotate_token", "log_in"})

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


def current_change(request: Request) -> AuditedChange:
    """The audit entry of this request; handlers fill in tenant, object, before and after."""
    change = request.state.change
    assert isinstance(change, AuditedChange)
    return change


CurrentChange = Annotated[AuditedChange, Depends(current_change)]


async def make_change(server: ServerContext, request: Request, operation: str, handle: Handler) -> Response:
    principal = current_principal(request)
    request.state.change = AuditedChange(operation, principal.tenant_id)
    key = request.headers.get(HEADER)
    if key is None:
        return (await _audited(server, request, principal, handle))[0]
    return await _once(server, request, principal, key, handle)


async def _once(server: ServerContext, request: Request, principal: Principal, key: str, handle: Handler) -> Response:
    operation = request.state.change.operation
    if not 0 < len(key) <= LONGEST_KEY or not key.isprintable() or not key.isascii():
        raise HttpProblem(422, f"an {HEADER} is 1 to {LONGEST_KEY} printable ASCII characters")
    wanted = RequestKey(principal.key, key, operation, await _request_hash(request))
    known = await server.run(server.idempotency.begin, wanted, 2 * server.settings.server.request_seconds)
    if known == "busy":
        raise HttpProblem(409, f"a request with this {HEADER} is being done", headers={"Retry-After": "1"})
    if known == "different":
        raise HttpProblem(422, f"this {HEADER} was used for another request")
    if isinstance(known, StoredAnswer):
        return _replayed(known)
    response, settled = await _audited(server, request, principal, handle)
    if response.status_code < 300:
        body = "" if operation in SECRET_ANSWERS else bytes(response.body).decode()
        await server.run(server.idempotency.finish, wanted, response.status_code, body)
    elif settled:
        await server.run(server.idempotency.forget, wanted)
    return response


def _replayed(known: StoredAnswer) -> Response:
    if known.operation in SECRET_ANSWERS:
        raise HttpProblem(409, "this was done already, and its answer held a secret that is shown only once")
    assert known.status is not None
    return Response(known.body, known.status, REPLAYED, "application/json" if known.body else None)


async def _request_hash(request: Request) -> str:
    head = f"{request.method} {request.url.path}?{request.url.query}\n".encode()
    return hashlib.sha256(head + await request.body()).hexdigest()


async def _audited(
    server: ServerContext, request: Request, principal: Principal, handle: Handler
) -> tuple[Response, bool]:
    """The answer, and whether it is certain what was done. What workers report is in the attempts of their jobs."""
    change: AuditedChange = request.state.change
    if access_of(change.operation).least == WORKER:
        return await _answered(request, handle)
    entry = await server.run(server.audit.begin, principal.actor, change)
    response, settled = await _answered(request, handle)
    await server.run(server.audit.finish, entry, change, response.status_code)
    return response, settled


async def _answered(request: Request, handle: Handler) -> tuple[Response, bool]:
    try:
        return await handle(request), True
    except Exception as error:  # noqa: BLE001 — every error is answered, and what is not known is logged
        response = answer_to(request, error)
        return response, response.status_code < 500 or isinstance(error, GribmillError)
