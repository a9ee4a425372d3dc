"""The caller of a request: a token, a console session, or a local process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Depends
from starlette.requests import HTTPConnection

from gribmill.access.audit import Actor
from gribmill.access.permissions import Role
from gribmill.access.tokens import Token


@dataclass(frozen=True, slots=True)
class Principal:
    """Who made a request. `tenant_id` is None for callers that may act for any tenant."""

    name: str
    role: Role
    tenant_id: str | None
    address: str
    kind: Literal["token", "session", "loopback", "nobody"]
    reads_only: bool = False
    scopes: tuple[str, ...] = ()
    token_id: str | None = None

    @classmethod
    def of(cls, token: Token, address: str, kind: Literal["token", "session"]) -> Principal:
        return cls(
            token.name, token.role, token.tenant_id, address, kind, scopes=token.scopes, token_id=token.id
        )  # fmt: skip

    @property
    def key(self) -> str:
        """Identifies the caller, for rate limits and idempotency keys."""
        return self.token_id or f"{self.kind} {self.address}"

    @property
    def actor(self) -> Actor:
        return Actor(self.name, self.token_id, self.address)


def nobody(address: str) -> Principal:
    return Principal("nobody", "tenant_viewer", "", address, "nobody", reads_only=True)


def current_principal(connection: HTTPConnection) -> Principal:
    """The caller of this request, already authorized by the route."""
    principal = connection.state.principal
    assert isinstance(principal, Principal)
    return principal


async def _of_request(connection: HTTPConnection) -> Principal:
    """Async because FastAPI would run a plain function in a thread."""
    return current_principal(connection)


CurrentPrincipal = Annotated[Principal, Depends(_of_request)]
