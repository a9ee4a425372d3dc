"""The session cookie.

With TLS its name begins with `__Host-`, so that no other host or path can set it. Browsers require Secure for such a
cookie, and not all of them accept Secure for http://localhost. On loopback without TLS it therefore has another name
and no Secure attribute; SameSite=Strict and HttpOnly still keep the id from other sites and from scripts, and it never
leaves the machine.
"""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from gribmill.access.sessions import ABSOLUTE
from gribmill.server.context import server_context

SECURE_NAME = "__Host-gribmill"
LOOPBACK_NAME = "gribmill-loopback"


def session_id_of(request: Request) -> str | None:
    return request.cookies.get(_name(request)) or None


def set_session(request: Request, response: Response, session_id: str) -> None:
    response.set_cookie(
        _name(request),
        session_id,
        max_age=round(ABSOLUTE.total_seconds()),
        path="/",
        secure=_is_encrypted(request),
        httponly=True,
        samesite="strict",
    )


def clear_session(request: Request, response: Response) -> None:
    response.delete_cookie(_name(request), path="/", secure=_is_encrypted(request), httponly=True, samesite="strict")


def _name(request: Request) -> str:
    return SECURE_NAME if _is_encrypted(request) else LOOPBACK_NAME


def _is_encrypted(request: Request) -> bool:
    """Whether TLS is used, by this server or by the proxy in front of it."""
    return request.scope["scheme"] == "https" or server_context(request).settings.server.behind_proxy
