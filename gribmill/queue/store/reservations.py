"""Direct execution: somebody reserves the machine, and no covered job starts until it is released or expires."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from gribmill.database.protocol import Row
from gribmill.queue.errors import NotAllowed, Reserved
from gribmill.queue.model import Reservation
from gribmill.queue.store.base import Facet
from gribmill.queue.times import to_datetime, to_text

EVERYTHING = "*"
LONGEST_SECONDS = 86_400.0


class Reservations(Facet):
    """At most one active reservation per scope. Only the clock ends one whose holder died."""

    def reserve(self, reserved_by: str, seconds: float, scope: str = EVERYTHING) -> Reservation:
        """Hold back all jobs, or those of one type. Reserved when somebody else holds that scope."""
        if scope != EVERYTHING:
            scope = self.registry[scope].key
        _check_length(seconds)
        with self.database.write() as tx:
            now = tx.stamp
            tx.change("reservations/expire", {"now": now})
            row = {
                "id": secrets.token_hex(8),
                "scope": scope,
                "reserved_by": reserved_by,
                "now": now,
                "expires_at": to_text(tx.now + seconds),
            }
            if not tx.change("reservations/insert", row):
                held = next(r for r in tx.rows("reservations/active", {"now": now}) if r["scope"] == scope)
                raise Reserved(
                    f"{'the queue' if scope == EVERYTHING else scope} is reserved by {held['reserved_by']}"
                    f" until {held['expires_at']} UTC"
                )
            return Reservation(row["id"], scope, reserved_by, to_datetime(now), to_datetime(row["expires_at"]))

    def extend(self, reservation_id: str, seconds: float) -> None:
        """The holder needs longer: it now ends `seconds` from now."""
        _check_length(seconds)
        with self.database.write() as tx:
            until = {"id": reservation_id, "now": tx.stamp, "expires_at": to_text(tx.now + seconds)}
            if not tx.change("reservations/extend", until):
                raise NotAllowed(f"there is no reservation {reservation_id} in force")

    def release(self, reservation_id: str) -> None:
        with self.database.write() as tx:
            if not tx.change("reservations/release", {"id": reservation_id}):
                raise NotAllowed(f"there is no reservation {reservation_id} in force")
        self.database.announce()

    def expire(self) -> int:
        """Mark the reservations that have run out. Claims ignore them in any case."""
        if not self._any_expired():
            return 0
        with self.database.write() as tx:
            return tx.change("reservations/expire", {"now": tx.stamp})

    def list(self) -> Sequence[Reservation]:
        """Those in force."""
        with self.database.read() as tx:
            return [_reservation(row) for row in tx.rows("reservations/active", {"now": tx.stamp})]

    def _any_expired(self) -> bool:
        with self.database.read() as tx:
            return bool(tx.rows("reservations/expired", {"now": tx.stamp}))


def _check_length(seconds: float) -> None:
    if not 0 < seconds <= LONGEST_SECONDS:
        raise NotAllowed(f"a reservation lasts between 0 and {LONGEST_SECONDS:g} s, not {seconds:g}")


def _reservation(row: Row) -> Reservation:
    return Reservation(
        row["reservation_id"],
        row["scope"],
        row["reserved_by"],
        to_datetime(row["reserved_at"]),
        to_datetime(row["expires_at"]),
    )
