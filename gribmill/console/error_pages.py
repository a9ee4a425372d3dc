"""Shows errors as pages to browsers; other clients get the problem document."""

from __future__ import annotations

import json
from http import HTTPStatus
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gribmill.console.frame import frame
from gribmill.console.render import render
from gribmill.console.routes.visit import visitor_of
from gribmill.console.wording import capital
from gribmill.server.access.principal import Principal
from gribmill.server.access.return_path import login_address

PROBLEM = b"application/problem+json"
# Paths for programs, which never get pages, whatever the Accept header says.
FOR_PROGRAMS = ("/api/", "/edr/", "/v1/", "/compat/", "/static/")
KEPT = ("retry-after", "allow")


class ErrorPages:
    """Turns problem documents into pages, and redirects to the login form if needed."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not wants_page(Request(scope)):
            await self._app(scope, receive, send)
            return
        held: list[Message] = []

        async def hold_problems(message: Message) -> None:
            if message["type"] == "http.response.start" and dict(message["headers"]).get(b"content-type") == PROBLEM:
                held.append(message)
            elif not held:
                await send(message)
            else:
                held.append(message)
                if not message.get("more_body"):
                    await _page(Request(scope), held)(scope, receive, send)

        await self._app(scope, receive, hold_problems)


def wants_page(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith(FOR_PROGRAMS)


def _address_of(request: Request) -> str:
    """The requested path and query."""
    query = request.scope["query_string"].decode("latin-1")
    return quote(request.scope["path"]) + (f"?{query}" if query else "")


def _page(request: Request, held: list[Message]) -> Response:
    status: int = held[0]["status"]
    if status == 401 and request.method == "GET":
        return RedirectResponse(login_address(_address_of(request)), 303)
    try:
        detail = str(json.loads(b"".join(one.get("body", b"") for one in held[1:]))["detail"])
    except (ValueError, KeyError, TypeError):
        detail = ""
    principal = getattr(request.state, "principal", None)
    known = principal if isinstance(principal, Principal) and principal.kind != "nobody" else None
    phrase = HTTPStatus(status).phrase
    page = frame(visitor_of(known) if known else None, phrase)
    text = render("error.html", {"page": page, "status": status, "phrase": phrase, "detail": capital(detail)})
    headers = {name.decode(): value.decode() for name, value in held[0]["headers"] if name.decode() in KEPT}
    return HTMLResponse(text, status, headers)
