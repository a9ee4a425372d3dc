"""The audit trail."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from gribmill.server.api.scope import Scope
from gribmill.server.api.values import Cursor, PageLimit
from gribmill.server.context import Server
from gribmill.server.router import SecuredRouter
from gribmill.views.access import AuditEntryView
from gribmill.views.view import View

router = SecuredRouter("/api/v1/audit", tag="audit")


class AuditPage(View):
    """Entries, newest first. `next_cursor` is null on the last page."""

    entries: tuple[AuditEntryView, ...]
    next_cursor: int | None


@router.get("")
async def list_audit(
    server: Server,
    scope: Scope,
    operation: Annotated[str | None, Query(max_length=100)] = None,
    token_id: Annotated[str | None, Query(max_length=20)] = None,
    limit: PageLimit = 50,
    cursor: Cursor = None,
) -> AuditPage:
    """List changes: who made them, from where, and what they changed."""

    def look() -> AuditPage:
        found = server.audit.list(
            tenant_id=scope.tenant_id, operation=operation, token_id=token_id, before_id=cursor, limit=limit + 1
        )
        following = found[limit - 1].id if len(found) > limit else None
        return AuditPage(entries=tuple(map(AuditEntryView.of, found[:limit])), next_cursor=following)

    return await server.run(look)
