"""Requests that change something: recorded in the audit trail, and executed once per Idempotency-Key."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Depends, Request, Response

from gribmill.access.audit import AuditedChange
from gribmill.access.idempotency import RequestKey, StoredAnswer
from gribmill.access.permissions import WORKER
from gribmill.errors import GribmillError
from gribmill.server.access.principal import Principal, current_principal
from gribmill.server.access.table import access_of
from gribmill.server.context import ServerContext
from gribmill.server.problems import HttpProblem, answer_to

HEADER = "Idempotency-Key"
LONGEST_KEY = 200
REPLAYED = {"Idempotency-Replayed": "true"}
# Operations whose responses have a secret that is shown once, and what to do if one was lost: they are not stored.
SECRET_ANSWERS = {
    "create_token": "revoke the token and create another",
    "rotate_token": "rotate the token again",
    "create_webhook": "give the webhook another secret",
    "log_in": "log in again",
}
FORM_TYPE = "application/x-www-form-urlencoded"
# The hidden field of forms that must be executed only once.
FORM_KEY = b"once="
FORM_WAIT_SECONDS = 0.1

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class RequestBusy(HttpProblem):
    """The first request with this key is still being executed."""

    def __init__(self) -> None:
        super().__init__(409, f"a request with this {HEADER} is being executed", headers={"Retry-After": "1"})


def current_change(request: Request) -> AuditedChange:
    """The audit entry of this request; handlers fill in tenant, object, before and after."""
    change = request.state.change
    assert isinstance(change, AuditedChange)
    return change


async def _of_request(request: Request) -> AuditedChange:
    """Async because FastAPI runs plain functions in a thread, of which it would keep up to forty."""
    return current_change(request)


CurrentChange = Annotated[AuditedChange, Depends(_of_request)]


async def make_change(server: ServerContext, request: Request, operation: str, handle: Handler) -> Response:
    principal = current_principal(request)
    request.state.change = AuditedChange(operation, principal.tenant_id)
    key = request.headers.get(HEADER)
    if key is None and await _has_form_key(request):
        return await _form_once(server, request, principal, handle)
    if key is None:
        return (await _audited(server, request, principal, handle))[0]
    if not 0 < len(key) <= LONGEST_KEY or not key.isprintable() or not key.isascii():
        raise HttpProblem(422, f"an {HEADER} is 1 to {LONGEST_KEY} printable ASCII characters")
    return await _once(server, request, principal, key, handle)


async def _has_form_key(request: Request) -> bool:
    if not request.headers.get("content-type", "").startswith(FORM_TYPE):
        return False
    return any(part.startswith(FORM_KEY) for part in (await request.body()).split(b"&"))


async def _form_once(server: ServerContext, request: Request, principal: Principal, handle: Handler) -> Response:
    """Execute a form once, even if it is submitted twice (a double click). A hidden random field makes it unique."""
    for _ in range(round(server.settings.server.request_seconds / FORM_WAIT_SECONDS)):
        try:
            return await _once(server, request, principal, f"form {await _request_hash(request)}", handle)
        except RequestBusy:
            await asyncio.sleep(FORM_WAIT_SECONDS)
    raise RequestBusy


async def _once(server: ServerContext, request: Request, principal: Principal, key: str, handle: Handler) -> Response:
    wanted = RequestKey(principal.key, key, request.state.change.operation, await _request_hash(request))
    known = await server.run(server.idempotency.begin, wanted, 2 * server.settings.server.request_seconds)
    if known == "busy":
        raise RequestBusy
    if known == "different":
        raise HttpProblem(422, f"this {HEADER} was used for another request")
    if isinstance(known, StoredAnswer):
        return _replayed(known)
    response, settled = await _audited(server, request, principal, handle)
    if _is_done(response):
        body = "" if wanted.operation in SECRET_ANSWERS else bytes(response.body).decode()
        location = response.headers.get("location")
        await server.run(server.idempotency.finish, wanted, response.status_code, body, location)
    elif settled:
        await server.run(server.idempotency.forget, wanted)
    return response


def _is_done(response: Response) -> bool:
    """Whether the change was made and must not be repeated. The console redirects after a change; a page in response
    shows an error or a secret, and is not stored."""
    is_page = response.headers.get("content-type", "").startswith("text/html")
    return response.status_code == 303 or (response.status_code < 300 and not is_page)


def _replayed(known: StoredAnswer) -> Response:
    headers = REPLAYED if known.location is None else {**REPLAYED, "Location": known.location}
    if remedy := SECRET_ANSWERS.get(known.operation):
        text = (
            f"this was already done; its response contained a secret that is shown only once. If it was lost, {remedy}"
        )
        raise HttpProblem(409, text, headers=headers)
    assert known.status is not None
    return Response(known.body, known.status, headers, "application/json" if known.body else None)


async def _request_hash(request: Request) -> str:
    head = f"{request.method} {request.url.path}?{request.url.query}\n".encode()
    return hashlib.sha256(head + await request.body()).hexdigest()


async def _audited(
    server: ServerContext, request: Request, principal: Principal, handle: Handler
) -> tuple[Response, bool]:
    """The response, and whether its outcome is certain. Workers' reports are not audited: the attempts record them."""
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
    except Exception as error:  # noqa: BLE001 — every error gets a response, and unexpected ones are logged
        response = answer_to(request, error)
        return response, response.status_code < 500 or isinstance(error, GribmillError)
