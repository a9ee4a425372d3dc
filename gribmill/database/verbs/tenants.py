"""Enforces tenants' limits on enqueueing."""

from __future__ import annotations

from gribmill.database.verbs.session import Session
from gribmill.queue.errors import TenantLimit


def check_tenant_limits(tx: Session, tenant_id: str, more: int = 0) -> None:
    with tx.across_tenants():
        _check(tx, tenant_id, more)


def _check(tx: Session, tenant_id: str, more: int) -> None:
    rows = tx.rows("tenants/get", {"name": tenant_id})
    if not rows:
        return
    most, per_minute = rows[0]["max_pending"], rows[0]["max_per_minute"]
    if most is None and per_minute is None:
        return
    tx.rows("tenants/hold", {"name": tenant_id})
    if most is not None and tx.rows("tenants/count_pending", {"tenant_id": tenant_id})[0]["n"] + more > most:
        raise TenantLimit(
            f"tenant {tenant_id} may have {most} pending jobs at most (max_pending): wait for some to end"
        )
    if per_minute is None:
        return
    window = {"tenant_id": tenant_id, "limit": max(0, per_minute - more), "since": tx.after(-60)}
    if tx.rows("tenants/enqueued_since", window):
        raise TenantLimit(f"tenant {tenant_id} may enqueue {per_minute} jobs a minute at most (max_per_minute)")
