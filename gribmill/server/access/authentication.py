"""Authentication: by bearer token, by session cookie, or because the request is local."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable

from fastapi import Request

from gribmill.access.permissions import SUPER_ADMIN
from gribmill.access.tokens import Token
from gribmill.server.access.principal import Principal, current_principal, nobody
from gribmill.server.access.same_origin import refuse_cross_site
from gribmill.server.access.session_cookie import session_id_of
from gribmill.server.context import ServerContext
from gribmill.server.problems import HttpProblem
from gribmill.server.state.verified_tokens import Kind

LONGEST_TOKEN = 200
# Headers that proxies add. A request with one of them is not local, even if it arrives from loopback.
FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")


async def identify(server: ServerContext, request: Request) -> Principal:
    """Identify the caller. An invalid token is refused, even from this machine."""
    address = address_of(server, request)
    if "authorization" in request.headers:
        return await _bearer(server, request, address)
    session_id = session_id_of(request)
    if session_id is not None:
        token = await _recognised(server, "session", session_id, server.sessions.verify)
        if token is not None:
            refuse_cross_site(request, by_cookie=True)
            return Principal.of(token, address, "session")
    refuse_cross_site(request)
    if is_from_this_machine(server, request):
        return Principal("loopback", SUPER_ADMIN, None, address, "loopback", reads_only=not server.dev)
    return nobody(address)


async def is_still_known(server: ServerContext, request: Request) -> bool:
    """Whether the caller of a long request would still be recognised now."""
    try:
        return (await identify(server, request)).key == current_principal(request).key
    except HttpProblem as problem:
        return problem.status >= 500  # the database is unavailable


async def _bearer(server: ServerContext, request: Request, address: str) -> Principal:
    given = request.headers.getlist("authorization")
    kind, _, text = given[0].partition(" ")
    text = text.strip()
    # A proxy might have checked another one than the first.
    if kind.lower() != "bearer" or not text or len(given) > 1:
        raise HttpProblem(401, "there must be one Authorization header, `Bearer gm_…`", challenge=True)
    token = await verify_token(server, text, address)
    if token is None:
        raise HttpProblem(401, "the token is not valid, has expired or was revoked", challenge=True)
    return Principal.of(token, address, "token")


async def verify_token(server: ServerContext, text: str, address: str) -> Token | None:
    """Verify a token. Raises 429 for an invalid one from an address that sent too many.

    Valid ones are never refused: others may share the address with a host whose token was revoked.
    """
    token = await _recognised(server, "token", text, server.tokens.verify) if len(text) <= LONGEST_TOKEN else None
    if token is None:
        server.failures.refuse_if_spent(address, "too many invalid tokens from this address")
        server.failures.take(address)
    return token


async def _recognised(
    server: ServerContext, kind: Kind, text: str, verify: Callable[[str], Token | None]
) -> Token | None:
    """Look up a token or session in the database at most once a second."""
    known = server.verified.get(kind, text)
    if known is None:
        known = await server.run(verify, text)
        if known is not None:
            server.verified.put(kind, text, known)
    return known


def address_of(server: ServerContext, request: Request) -> str:
    """The client's address; behind a proxy, the last address in X-Forwarded-For, which the proxy added.

    Some proxies append it to the client's header, others add a header of their own.
    """
    forwarded = request.headers.getlist("x-forwarded-for") if server.settings.server.behind_proxy else ()
    if forwarded:
        return forwarded[-1].rpartition(",")[2].strip()[:60]
    return request.client.host if request.client else ""


def is_from_this_machine(server: ServerContext, request: Request) -> bool:
    """Whether the request is local. Always false behind a proxy, which may itself connect from loopback."""
    if server.settings.server.behind_proxy or any(name in request.headers for name in FORWARDED):
        return False
    try:
        return request.client is not None and ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False
