"""Tokens: a super admin manages all of them, a tenant admin only its tenant's."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from gribmill.access.errors import TokenNotFound
from gribmill.access.permissions import OF_TENANT, Role
from gribmill.access.tokens import DEFAULT_DAYS, LONGEST_DAYS, IssuedToken, Token
from gribmill.server.access.authorization import refuse_wider
from gribmill.server.access.principal import CurrentPrincipal, Principal
from gribmill.server.api.values import Name, Number, PathName, RequestBody
from gribmill.server.change import CurrentChange
from gribmill.server.context import Server, ServerContext
from gribmill.server.problems import HttpProblem
from gribmill.server.router import SecuredRouter
from gribmill.views.access import IssuedTokenView, TokenView

router = SecuredRouter("/api/v1/tokens", tag="tokens")

Days = Annotated[Number, Field(gt=0, le=LONGEST_DAYS)]


class NewTokenBody(RequestBody):
    """A token to create. With `days` null it never expires."""

    name: Annotated[Name, Field(max_length=100)]
    role: Role
    tenant_id: Name | None = None
    scopes: Annotated[tuple[Name, ...], Field(max_length=50)] = ()
    days: Days | None = DEFAULT_DAYS


class RotateBody(RequestBody):
    """How long the new secret is valid."""

    days: Days | None = DEFAULT_DAYS


def shown(token: Token) -> dict[str, Any]:
    return TokenView.of(token).model_dump()


@router.get("")
async def list_tokens(server: Server, principal: CurrentPrincipal) -> tuple[TokenView, ...]:
    """List tokens, without their secrets."""
    return tuple(map(TokenView.of, await server.run(server.tokens.list, principal.tenant_id)))


@router.post("", status_code=201)
async def create_token(
    body: NewTokenBody, server: Server, principal: CurrentPrincipal, change: CurrentChange
) -> IssuedTokenView:
    """Create a token. Its text is returned only in this response."""
    tenant_id = body.tenant_id
    if principal.tenant_id is not None:
        if body.role not in OF_TENANT:
            raise HttpProblem(403, f"the role {principal.role} may not create tokens with the role {body.role}")
        if tenant_id not in (None, principal.tenant_id):
            raise HttpProblem(404, "there is no such tenant")
        tenant_id = principal.tenant_id
    refuse_wider(principal, body.scopes)

    def make() -> IssuedToken:
        return server.tokens.create(
            body.name, body.role, tenant_id=tenant_id, scopes=body.scopes, days=body.days, created_by=principal.name
        )

    issued = await server.run(make)
    change.tenant_id, change.object, change.after = tenant_id, f"token {issued.token.id}", shown(issued.token)
    return IssuedTokenView.issued(issued)


@router.post("/{token_id}/rotate")
async def rotate_token(
    token_id: PathName,
    server: Server,
    principal: CurrentPrincipal,
    change: CurrentChange,
    body: RotateBody | None = None,
) -> IssuedTokenView:
    """Replace the secret of a token; the old one stops working."""

    def rotate() -> tuple[Token, IssuedToken]:
        before = _own(server, principal, token_id)
        refuse_wider(principal, before.scopes)
        return before, server.tokens.rotate(token_id, days=(body or RotateBody()).days)

    change.object = f"token {token_id[:20]}"
    before, issued = await server.run(rotate)
    server.verified.clear()
    change.tenant_id, change.before, change.after = before.tenant_id, shown(before), shown(issued.token)
    return IssuedTokenView.issued(issued)


@router.delete("/{token_id}")
async def revoke_token(
    token_id: PathName, server: Server, principal: CurrentPrincipal, change: CurrentChange
) -> TokenView:
    """Revoke a token and end its sessions."""

    def revoke() -> tuple[Token, Token]:
        return _own(server, principal, token_id), server.tokens.revoke(token_id)

    change.object = f"token {token_id[:20]}"
    before, after = await server.run(revoke)
    server.verified.clear()
    change.tenant_id, change.before, change.after = before.tenant_id, shown(before), shown(after)
    return TokenView.of(after)


def _own(server: ServerContext, principal: Principal, token_id: str) -> Token:
    token = server.tokens.get(token_id)
    if principal.tenant_id not in (None, token.tenant_id):
        raise TokenNotFound(f"there is no token {token_id!r}")
    return token
