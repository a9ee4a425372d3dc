"""The audit trail."""

from __future__ import annotations

from typing import Any, Self

from gribmill.access.audit import AuditEntry
from gribmill.views.view import Time, View


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
