"""What all routes of the console share: the visitor, rendering pages, parsing forms, and running actions."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from fastapi import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from gribmill.console.frame import Handle, Notice, Visitor, frame
from gribmill.console.remembered import Remembered
from gribmill.console.render import render
from gribmill.console.weather_look import WeatherLook, look_at_weather
from gribmill.console.wording import capital
from gribmill.errors import GribmillError
from gribmill.server.access.principal import Principal
from gribmill.server.change import current_change
from gribmill.server.context import ServerContext
from gribmill.server.problems import HttpProblem, problem_of

NOTICE_COOKIE = "gribmill_notice"
LONGEST_NOTICE = 1500
MOST_FIELDS = 5000
LOOK_SECONDS = 5.0


class ConsoleState:
    """State shared by all pages of a server."""

    def __init__(self, server: ServerContext) -> None:
        self.weather: Remembered[WeatherLook] = Remembered(LOOK_SECONDS, partial(_look, server))


def _look(server: ServerContext) -> WeatherLook:
    return look_at_weather(server.weather)


def console_state(request: Request, server: ServerContext) -> ConsoleState:
    state: ConsoleState | None = getattr(request.app.state, "console", None)
    if state is None:
        state = request.app.state.console = ConsoleState(server)
    return state


def handle_of(server: ServerContext, principal: Principal) -> Handle:
    """The queue as the visitor may see it: all of it, or one tenant's. Pages use nothing else."""
    return server.store if principal.tenant_id is None else server.store.for_tenant(principal.tenant_id)


def visitor_of(principal: Principal) -> Visitor:
    return Visitor(
        principal.name,
        principal.role,
        principal.tenant_id,
        reads_only=principal.reads_only,
        can_log_out=principal.kind == "session",
    )


async def show(
    request: Request,
    server: ServerContext,
    principal: Principal,
    template: str,
    title: str,
    values: Callable[[], Mapping[str, Any]],
    *,
    active: str = "",
    refresh_seconds: float | None = None,
    status: int = 200,
) -> Response:
    """Read the values and render the page, in a worker thread."""
    notice = read_notice(request)

    def made() -> str:
        page = frame(visitor_of(principal), title, active, refresh_seconds=refresh_seconds, notice=notice)
        return render(template, {"page": page, **values()})

    answer = HTMLResponse(await server.run(made), status)
    if notice is not None:
        answer.delete_cookie(NOTICE_COOKIE, path="/")
    return answer


async def act(request: Request, server: ServerContext, action: Callable[[], str], back: str, about: str) -> Response:
    """Run the action, then redirect to `back` with its result or error as a notice. Missing objects are a 404.

    `about` names the object in the audit trail.
    """
    change = current_change(request)
    change.object = about
    try:
        notice = Notice(capital(await server.run(action)))
    except GribmillError as error:
        if problem_of(error).status == 404:
            raise
        notice = Notice(capital(str(error)), "bad")
    change.after = {"result" if notice.kind == "good" else "refused": notice.text}
    return back_with(back, notice)


def back_with(path: str, notice: Notice) -> Response:
    answer = RedirectResponse(path, 303)
    text = json.dumps([notice.kind, notice.text[:LONGEST_NOTICE]])
    value = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
    answer.set_cookie(NOTICE_COOKIE, value, max_age=60, path="/", httponly=True, samesite="strict")
    return answer


def read_notice(request: Request) -> Notice | None:
    value = request.cookies.get(NOTICE_COOKIE)
    if not value:
        return None
    try:
        kind, text = json.loads(base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)))
    except (binascii.Error, ValueError, TypeError):
        return None
    return Notice(str(text), kind) if kind in ("good", "bad", "note") else None


class Form:
    """The fields of a submitted form; a field may occur several times."""

    def __init__(self, fields: list[tuple[str, str]]) -> None:
        self.fields = fields

    def one(self, name: str, default: str = "") -> str:
        """The last value of a field, stripped."""
        return next((value.strip() for key, value in reversed(self.fields) if key == name), default)

    def several(self, name: str) -> list[str]:
        return [value for key, value in self.fields if key == name]

    def ids(self, name: str) -> list[int]:
        """The values of a field that are valid ids."""
        return [int(value) for value in self.several(name) if value.isdecimal() and len(value) < 19]

    def __contains__(self, name: str) -> bool:
        return any(key == name for key, _ in self.fields)


async def form_of(request: Request) -> Form:
    """Parse the form in the body; a problem 400 if it is invalid."""
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        raise HttpProblem(415, "the request must be a form: application/x-www-form-urlencoded")
    try:
        text = (await request.body()).decode("utf-8")
        return Form(parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict"))
    except (UnicodeDecodeError, ValueError):
        raise HttpProblem(400, "the form is not valid UTF-8, or has too many fields") from None
