"""Tokens and the audit trail. Only the view of a new token contains its secret."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal, Self

from gribmill.access.audit import AuditEntry
from gribmill.access.permissions import Role
from gribmill.access.tokens import IssuedToken, Token
from gribmill.views.view import Time, View


class TokenView(View):
    """A token: who uses it, for what and until when."""

    id: str
    name: str
    role: Role
    tenant_id: str | None
    scopes: tuple[str, ...]
    created_by: str | None
    created_at: Time | None
    expires_at: Time | None
    last_used_at: Time | None
    revoked_at: Time | None
    state: Literal["active", "expired", "revoked"]

    @classmethod
    def of(cls, token: Token) -> Self:
        return cls.copy_of(token, state=token.state(datetime.now(UTC)))


class IssuedTokenView(TokenView):
    """A new token with its text, which cannot be shown again."""

    token: str

    @classmethod
    def issued(cls, issued: IssuedToken) -> Self:
        return cls.copy_of(issued.token, state=issued.token.state(datetime.now(UTC)), token=issued.text)


class AuditEntryView(View):
    """A change: who made it, from where, and the values before and after. `status` null: the outcome is unknown."""

    id: int
    created_at: Time | None
    actor: str
    token_id: str | None
    tenant_id: str | None
    operation: str
    object: str | None
    address: str
    status: int | None
    before: Any
    after: Any

    @classmethod
    def of(cls, entry: AuditEntry) -> Self:
        return cls.copy_of(entry)
