"""Fair claims: tenants with ready jobs of the highest priority take turns, in order of their names.

The turn is recorded for each set of types and priority, so that workers of other lanes and claims of other priorities
do not advance it. A claim reads a handful of index entries, regardless of the number of tenants and jobs. Only while a
tenant is held back (disabled, or at its limit of jobs in flight) does it look up the next job of every tenant.
"""

from __future__ import annotations

import json

from gribmill.database.verbs.session import Row, Session
from gribmill.queue.model import ClaimRequest

# Sorts before every name.
NOBODY = ""


def next_in_turn(tx: Session, request: ClaimRequest) -> Row | None:
    """The job to claim, as `claims/head` returns it."""
    types_json = request.types_json
    asked = {"types": types_json, "now": tx.stamp, "worker_id": request.worker_id}
    open_types = json.dumps([row["key"] for row in tx.rows("claims/open_types", asked)])
    held = held_tenants(tx)
    found = _choose_unheld(tx, types_json, open_types, held) if held else _choose(tx, types_json, open_types)
    return tx.rows("claims/chosen", {"job_id": found})[0] if found is not None else None


def held_tenants(tx: Session) -> list[str]:
    """The tenants whose jobs cannot start now."""
    return [row["name"] for row in tx.rows("claims/held_tenants")]


def room_of_tenant(tx: Session, tenant_id: str) -> int | None:
    """How many more jobs of the tenant may start now; None for no limit."""
    rows = tx.rows("claims/tenant_room", {"tenant_id": tenant_id})
    return max(0, rows[0]["room"]) if rows else None


def _choose(tx: Session, types_json: str, open_types: str) -> int | None:
    priority = tx.rows("claims/top_priority", {"types": open_types})[0]["priority"]
    if priority is None:
        return None
    after = _last_turn(tx, types_json, priority)
    found = tx.rows("claims/in_turn", {"types": open_types, "priority": priority, "after": after})[0]
    return _serve(tx, types_json, priority, after, found)


def _choose_unheld(tx: Session, types_json: str, open_types: str, held: list[str]) -> int | None:
    heads = tx.rows("claims/heads_by_tenant", {"types": open_types, "held": json.dumps(held)})
    if not heads:
        return None
    priority = max(row["priority"] for row in heads)
    after = _last_turn(tx, types_json, priority)
    found = min(
        (row for row in heads if row["priority"] == priority),
        key=lambda row: (row["tenant_id"] <= after, row["tenant_id"], row["position"], row["created_at"], row["id"]),
    )
    return _serve(tx, types_json, priority, after, found)


def _last_turn(tx: Session, types_json: str, priority: int) -> str:
    rows = tx.rows("claims/last_turn", {"types": types_json, "priority": priority})
    return rows[0]["tenant_id"] if rows else NOBODY


def _serve(tx: Session, types_json: str, priority: int, after: str, found: Row) -> int:
    """Record whose turn it was. Writes nothing while only one tenant has jobs of this priority."""
    if found["tenant_id"] != after:
        turn = {"types": types_json, "priority": priority, "tenant_id": found["tenant_id"], "now": tx.stamp}
        tx.send("claims/note_turn", turn)
    job_id: int = found["id"]
    return job_id
