"""At most one active reservation per scope, guaranteed by a unique index; optionally one in total."""

from __future__ import annotations

from gribmill.database.verbs.session import Session
from gribmill.queue.errors import StoreConflict
from gribmill.queue.model import Reservation

TRIES = 20


def reserve(
    tx: Session, reservation_id: str, scope: str, reserved_by: str, seconds: float, *, only_one: bool = False
) -> Reservation:
    tx.change("reservations/expire")
    if only_one and (active := tx.first(Reservation, "reservations/active")):
        return active
    wanted = {"id": reservation_id, "scope": scope, "reserved_by": reserved_by, "expires_at": tx.after(seconds)}
    for _ in range(TRIES):
        tx.change("reservations/insert", wanted)
        held = tx.first(Reservation, "reservations/of_scope", {"scope": scope})
        # None if the conflicting reservation was released just now.
        if held is not None:
            return held
    raise StoreConflict(f"reservations of {scope} begin and end all the time; nothing was written")


def share_reservation(tx: Session, reservation_id: str, worker_id: str) -> bool:
    shared = {"id": reservation_id, "worker_id": worker_id, "now": tx.stamp}
    return tx.execute("reservations/share", shared).rowcount > 0
