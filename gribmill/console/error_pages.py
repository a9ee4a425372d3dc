"""Errors as pages, for browsers; everybody else gets the problem document."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from gribmill.console.frame import Visitor, frame
from gribmill.console.render import render
from gribmill.console.routes.page import visitor_of
from gribmill.console.wording import capital
from gribmill.server.access.principal import Principal

# Answers of the API are for programs, whatever they accept.
API = ("/api/", "/v1/", "/edr/", "/compat/")


def add_error_pages(app: FastAPI) -> None:
    """Let the handlers of errors answer browsers with a page, and send those who have to log in to the form."""
    for kind, handler in [*app.exception_handlers.items()]:
        app.exception_handlers[kind] = _for_browsers(handler)


def _for_browsers(handler: Any) -> Any:
    async def handle(request: Request, error: Exception) -> Response:
        answer: Response = await handler(request, error)
        if not wants_page(request):
            return answer
        if answer.status_code == 401 and request.method == "GET":
            where = f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
            return RedirectResponse(f"/login?to={quote(where, safe='/')}", 303)
        return _page(request, answer)

    return handle


def wants_page(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith(API)


def _page(request: Request, answer: Response) -> Response:
    try:
        detail = str(json.loads(bytes(answer.body))["detail"])
    except (ValueError, KeyError, TypeError):
        detail = ""
    principal = getattr(request.state, "principal", None)
    visitor: Visitor | None = None
    if isinstance(principal, Principal) and principal.kind != "nobody":
        visitor = visitor_of(principal)
    phrase = HTTPStatus(answer.status_code).phrase
    page = frame(visitor, phrase)
    text = render(
        "error.html",
        {"page": page, "status": answer.status_code, "phrase": phrase, "detail": capital(detail) if detail else ""},
    )
    kept = {name: value for name, value in answer.headers.items() if name in ("retry-after", "allow", "cache-control")}
    return HTMLResponse(text, answer.status_code, kept)
