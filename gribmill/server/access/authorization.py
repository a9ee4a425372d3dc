"""Authorization: the access table, scopes, and rate limits."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import Request

from gribmill.access.permissions import covers
from gribmill.server.access.authentication import identify
from gribmill.server.access.principal import Principal
from gribmill.server.access.roles import Access
from gribmill.server.access.same_origin import SAFE_METHODS
from gribmill.server.context import ServerContext
from gribmill.server.problems import HttpProblem


async def authorize(server: ServerContext, request: Request, access: Access, part: str) -> Principal:
    """Identify the caller and check its access; raises a problem if the request is refused."""
    principal = await identify(server, request)
    request.state.principal = principal
    if principal.kind != "loopback":
        server.requests.refuse_if_spent(principal.key, "too many requests")
        server.requests.take(principal.key)
    if access.least is not None:
        _check(principal, access, part, writes=request.method not in SAFE_METHODS)
    return principal


def _check(principal: Principal, access: Access, part: str, *, writes: bool) -> None:
    if principal.kind == "nobody":
        raise HttpProblem(401, "this needs a token: send it as `Authorization: Bearer gm_…`", challenge=True)
    if not access.admits(principal.role):
        raise HttpProblem(403, f"the role {principal.role} may not do this: it needs {access.least}")
    if principal.reads_only and writes:
        raise HttpProblem(401, "without a token, requests from this machine can only read", challenge=True)
    if not covers(principal.scopes, part, writes=writes):
        wanted = part if writes else f"{part}:read"
        raise HttpProblem(403, f"the scopes of this token do not cover {wanted}")


def refuse_wider(principal: Principal, scopes: Sequence[str]) -> None:
    """Refuse to issue a token with scopes that the caller's token lacks. A token without scopes is unrestricted."""
    if principal.scopes and not (scopes and set(scopes) <= set(principal.scopes)):
        raise HttpProblem(403, "a token with scopes can create and rotate only tokens whose scopes it has")
