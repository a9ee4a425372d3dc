"""The audit trail: who changed what, from where, and the values before and after."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gribmill.database.protocol import Database
from gribmill.database.records import storable
from gribmill.queue.model import Json
from gribmill.queue.redact import redact_json

# One more than a page, so that its reader knows whether there is another.
MOST_ENTRIES = 1001
# The longest value that the trail stores.
VALUE_LIMIT = 20_000


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts, and from where."""

    name: str
    token_id: str | None = None
    address: str = ""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A row of the trail. `status` is the HTTP status; None if the server stopped before the change was finished."""

    id: int
    created_at: datetime | None
    actor: str
    token_id: str | None
    tenant_id: str | None
    operation: str
    object: str | None
    address: str
    status: int | None
    before: Json
    after: Json


@dataclass(slots=True)
class AuditedChange:
    """A change in progress; handlers fill in the details."""

    operation: str
    tenant_id: str | None = None
    object: str | None = None
    before: Any = None
    after: Any = None


class AuditTrail:
    """The audit trail of a database. Entries are only added, and never pruned."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, actor: Actor, change: AuditedChange, status: int) -> AuditEntry:
        """Record a completed change."""
        with self._database.write() as tx:
            return tx.query(AuditEntry, "audit/insert", {**_who(actor), **_what(change), "status": status})[0]

    def begin(self, actor: Actor, change: AuditedChange) -> int:
        """Record a change that is about to be made, so that its entry exists whatever happens next.

        This commit need not be synced to disk: the later commit of the change itself syncs both.
        """
        with self._database.write() as tx:
            tx.lasting = False
            return tx.query(AuditEntry, "audit/insert", {**_who(actor), **_what(change), "status": None})[0].id

    def finish(self, entry_id: int, change: AuditedChange, status: int) -> None:
        with self._database.write() as tx:
            tx.lasting = False
            tx.change("audit/finish", {**_what(change), "id": entry_id, "status": status})

    def list(
        self,
        *,
        tenant_id: str | None = None,
        operation: str | None = None,
        token_id: str | None = None,
        before_id: int | None = None,
        limit: int = 50,
    ) -> Sequence[AuditEntry]:
        """Entries, newest first."""
        wanted = {"tenant_id": tenant_id, "operation": operation, "token_id": token_id, "before_id": before_id}
        database = self._database if tenant_id is None else self._database.for_tenant(tenant_id)
        with database.read() as tx:
            return tx.query(AuditEntry, "audit/list", {**wanted, "limit": max(1, min(limit, MOST_ENTRIES))})


def _who(actor: Actor) -> dict[str, Any]:
    return {"actor": storable(actor.name), "token_id": actor.token_id, "address": storable(actor.address)}


def _what(change: AuditedChange) -> dict[str, Any]:
    return {
        "operation": change.operation,
        "tenant_id": change.tenant_id,
        "object": storable(change.object),
        "before": _shown(change.before),
        "after": _shown(change.after),
    }


def _shown(value: Any) -> str | None:
    """JSON without secrets, shortened to the limit."""
    if value is None:
        return None
    text = json.dumps(redact_json(json.loads(json.dumps(value, default=str), parse_constant=str)))
    return text if len(text) <= VALUE_LIMIT else json.dumps({"left out": f"{len(text)} characters of JSON"})
