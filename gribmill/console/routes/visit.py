"""A request for a page or an action of the console: the visitor, what they may see, and the response."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Query, Request
from starlette.responses import HTMLResponse, Response

from gribmill.access.audit import AuditedChange
from gribmill.console.frame import AnyStore, Notice, Refresh, Visitor, frame
from gribmill.console.remembered import Remembered
from gribmill.console.render import render
from gribmill.console.routes.form import Form, form_of
from gribmill.console.routes.notices import back_with, forget_notice, read_notice
from gribmill.console.weather_look import WeatherLook, look_at_weather
from gribmill.console.wording import capital
from gribmill.errors import GribmillError
from gribmill.queue.store import Store
from gribmill.server.access.principal import CurrentPrincipal, Principal
from gribmill.server.change import current_change
from gribmill.server.context import Server, ServerContext
from gribmill.server.problems import http_status, problem_of

LOOK_SECONDS = 5.0
# The last id of the page before.
BeforeId = Annotated[int | None, Query(gt=0, lt=2**63)]


@dataclass(frozen=True, slots=True)
class Visit:
    """One request. Pages read the queue only through `handle`, which is limited to what the visitor may see."""

    request: Request
    server: ServerContext
    principal: Principal

    @property
    def handle(self) -> AnyStore:
        """The queue: all of it, or one tenant's."""
        tenant, store = self.principal.tenant_id, self.server.store
        return store if tenant is None else store.for_tenant(tenant)

    @property
    def visitor(self) -> Visitor:
        return visitor_of(self.principal)

    @property
    def by(self) -> str:
        """The visitor's name, as stored with changes."""
        return self.principal.name

    @property
    def change(self) -> AuditedChange:
        """The entry in the audit trail."""
        return current_change(self.request)

    @property
    def weather(self) -> Remembered[WeatherLook]:
        """The state of all models, cached for all pages of the server."""
        return remembered_weather(self.request.app)

    def regions(self) -> set[str] | None:
        """The regions that the visitor may see: a tenant's own and shared ones; None for all."""
        handle = self.handle
        if isinstance(handle, Store):
            return None
        return {*self.server.settings.chain.regions, *handle.tenant().regions}

    async def form(self) -> Form:
        return await form_of(self.request)

    async def show(
        self,
        template: str,
        title: str,
        values: Callable[[], Mapping[str, Any]],
        *,
        active: str = "",
        refresh: Refresh | None = None,
        status: int = 200,
    ) -> Response:
        """Read the values and render the page, in a worker thread."""
        notice = read_notice(self.request)

        def made() -> str:
            page = frame(self.visitor, title, active, refresh=refresh, notice=notice)
            return render(template, {"page": page, **values()})

        answer = HTMLResponse(await self.server.run(made), status)
        if notice is not None:
            forget_notice(answer)
        return answer

    async def act(self, action: Callable[[], str], back: str, about: str) -> Response:
        """Run the action, then redirect to `back` with its result or error as a notice. Missing objects are a 404.

        `about` names the object in the audit trail.
        """
        self.change.object = about
        try:
            notice = Notice(capital(await self.server.run(action)))
        except GribmillError as error:
            if http_status(error) == 404:
                raise
            notice = Notice(refusal(error), "bad")
        self.change.after = {"result" if notice.kind == "good" else "refused": notice.text}
        return back_with(back, notice)


def refusal(error: GribmillError) -> str:
    """Why something was not done, as a sentence for the visitor."""
    return capital(problem_of(error).detail)


def visitor_of(principal: Principal) -> Visitor:
    return Visitor(
        principal.name,
        principal.role,
        principal.tenant_id,
        reads_only=principal.reads_only,
        can_log_out=principal.kind == "session",
    )


def remembered_weather(app: FastAPI) -> Remembered[WeatherLook]:
    """The state of all models, cached for all pages of the server."""
    found: Remembered[WeatherLook] | None = getattr(app.state, "console_weather", None)
    if found is None:
        found = app.state.console_weather = Remembered(LOOK_SECONDS, partial(_look, app.state.context))
    return found


def _look(server: ServerContext) -> WeatherLook:
    return look_at_weather(server.weather)


async def _visit(request: Request, server: Server, principal: CurrentPrincipal) -> Visit:
    return Visit(request, server, principal)


CurrentVisit = Annotated[Visit, Depends(_visit)]
