"""Who made a request: a token, a session of the console, or somebody on this machine."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Depends, Request

from gribmill.server.access.roles import SUPER_ADMIN, Role
from gribmill.server.access.same_origin import refuse_cross_site
from gribmill.server.access.table import access_of
from gribmill.server.context import ServerContext, server_context
from gribmill.server.problems import HttpProblem

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
# What a proxy adds: a request that carries one of these comes from elsewhere, whatever the address of its connection.
FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")


@dataclass(frozen=True, slots=True)
class Principal:
    """Who acts. `tenant_id` is None for those who may act for every tenant."""

    name: str
    role: Role
    tenant_id: str | None
    address: str
    kind: Literal["token", "session", "loopback", "nobody"]
    reads_only: bool = False
    token_id: str | None = None

    @property
    def any_tenant(self) -> bool:
        return self.tenant_id is None


NOBODY = Principal("nobody", "tenant_viewer", "", "", "nobody", reads_only=True)


async def authorize(request: Request) -> Principal:
    """Who made the request, if the table of access admits it; a problem otherwise. One dependency of every route."""
    server = server_context(request)
    access = access_of(request.scope["route"].operation_id)
    principal = await identify(server, request)
    request.state.principal = principal
    if access.least is None:
        return principal
    if principal.kind == "nobody":
        raise HttpProblem(401, "this needs a token: send it as `Authorization: Bearer gm_…`", challenge=True)
    if not access.admits(principal.role):
        raise HttpProblem(403, f"the role {principal.role} may not do this: it needs {access.least}")
    if principal.reads_only and request.method not in SAFE_METHODS:
        raise HttpProblem(401, "without a token requests from this machine can only read", challenge=True)
    return principal


async def identify(server: ServerContext, request: Request) -> Principal:
    address = request.client.host if request.client else ""
    refuse_cross_site(request)
    if _from_this_machine(server, request, address):
        return Principal("loopback", SUPER_ADMIN, None, address, "loopback", reads_only=not server.dev)
    return NOBODY


def _from_this_machine(server: ServerContext, request: Request, address: str) -> bool:
    """Behind a proxy every connection may come from loopback: then it says nothing."""
    if server.settings.server.behind_proxy or any(name in request.headers for name in FORWARDED):
        return False
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


CurrentPrincipal = Annotated[Principal, Depends(authorize)]
