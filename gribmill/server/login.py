"""Console sessions: exchanges a token for a cookie. There are no passwords."""

from __future__ import annotations

import json
from urllib.parse import parse_qs

from fastapi import Request, Response
from starlette.responses import JSONResponse, RedirectResponse

from gribmill.server.access.authentication import verify_token
from gribmill.server.access.principal import CurrentPrincipal
from gribmill.server.access.return_path import LOGIN_PAGE, login_address, return_path
from gribmill.server.access.same_origin import refuse_cross_site
from gribmill.server.access.session_cookie import clear_session, session_id_of, set_session
from gribmill.server.change import CurrentChange
from gribmill.server.context import Server
from gribmill.server.problems import HttpProblem
from gribmill.server.router import SecuredRouter
from gribmill.views.view import View

router = SecuredRouter(tag="console", in_docs=False)

FORM = "application/x-www-form-urlencoded"


class WhoView(View):
    """The caller and its role."""

    name: str
    role: str
    tenant_id: str | None
    kind: str
    reads_only: bool
    scopes: tuple[str, ...]
    token_id: str | None


@router.post("/login")
async def log_in(request: Request, server: Server, principal: CurrentPrincipal, change: CurrentChange) -> Response:
    """Exchange a token for a session: JSON `{"token": "gm_…"}`, or a form with `token` and the page to show `next`."""
    refuse_cross_site(request)
    is_form = request.headers.get("content-type", "").partition(";")[0].strip() == FORM
    fields = _fields_of(await request.body(), is_form=is_form)
    text, back = fields.get("token", "").strip(), fields.get("next", "")
    token = await verify_token(server, text, principal.address) if text else None
    if token is None:
        if is_form:
            return RedirectResponse(login_address(back, refused=True), 303)
        raise HttpProblem(401, "the token is not valid, has expired or was revoked")
    session_id = await server.run(server.sessions.begin, token, principal.address)
    change.object, change.tenant_id = f"token {token.id}", token.tenant_id
    response: Response = RedirectResponse(return_path(back), 303) if is_form else JSONResponse({"ok": True})
    set_session(request, response, session_id)
    return response


@router.post("/logout")
async def log_out(request: Request, server: Server) -> Response:
    """End the session of this cookie."""
    session_id = session_id_of(request)
    if session_id is not None:
        await server.run(server.sessions.end, session_id)
        server.verified.clear()
    response = RedirectResponse(LOGIN_PAGE, 303)
    clear_session(request, response)
    return response


@router.get("/api/v1/session")
async def show_session(principal: CurrentPrincipal) -> WhoView:
    """Show who made this request: a token, a session, or a local process."""
    return WhoView.copy_of(principal)


def _fields_of(body: bytes, *, is_form: bool) -> dict[str, str]:
    """The text fields of the body; empty if it cannot be parsed, which is then refused like an invalid token."""
    try:
        if is_form:
            return {name: values[0] for name, values in parse_qs(body.decode()).items()}
        given = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return {name: value for name, value in given.items() if isinstance(value, str)} if isinstance(given, dict) else {}
