"""Reserving: waits for claims in progress, and sets its time after them."""

from __future__ import annotations

from gribmill.database.postgres.session import PostgresSession
from gribmill.database.verbs import reservations
from gribmill.queue.model import Reservation


def reserve(
    tx: PostgresSession, reservation_id: str, scope: str, reserved_by: str, seconds: float, *, only_one: bool = False
) -> Reservation:
    tx.rows("reservations/lock")
    tx.set_time()
    return reservations.reserve(tx, reservation_id, scope, reserved_by, seconds, only_one=only_one)
