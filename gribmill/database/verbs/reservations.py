"""At most one active reservation per scope: the unique index decides. Or one in all, if so asked."""

from __future__ import annotations

from gribmill.database.verbs.session import Session
from gribmill.queue.model import Reservation


def reserve(
    tx: Session, reservation_id: str, scope: str, reserved_by: str, seconds: float, *, only_one: bool = False
) -> Reservation:
    tx.change("reservations/expire")
    if only_one and (active := tx.first(Reservation, "reservations/active")):
        return active
    wanted = {"id": reservation_id, "scope": scope, "reserved_by": reserved_by, "expires_at": tx.after(seconds)}
    while True:
        tx.change("reservations/insert", wanted)
        held = tx.first(Reservation, "reservations/of_scope", {"scope": scope})
        if held is not None:  # inserted just now, or the reason why it was not; unless that has ended meanwhile
            return held


def share_reservation(tx: Session, reservation_id: str, worker_id: str) -> bool:
    shared = {"id": reservation_id, "worker_id": worker_id, "now": tx.stamp}
    return tx.execute("reservations/share", shared).rowcount > 0
