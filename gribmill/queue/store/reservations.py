"""Reservations: while one is active, no job in its scope starts."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from datetime import timedelta

from gribmill.queue.errors import NotAllowed, Reserved
from gribmill.queue.model import Reservation
from gribmill.queue.store.base import Facet, retried
from gribmill.queue.times import to_rfc3339

EVERYTHING = "*"
LONGEST_SECONDS = 86_400.0
POLL_SECONDS = 0.2


class Reservations(Facet):
    """At most one active reservation per scope, or one in total. If its holder dies, it expires."""

    only_one = False
    """Whether only one reservation, of any scope, can be active at a time."""

    def reserve(
        self,
        reserved_by: str,
        seconds: float,
        scope: str = EVERYTHING,
        *,
        worker_id: str | None = None,
        wait_seconds: float = 0.0,
    ) -> Reservation:
        """Keep all jobs, or those of one type, from starting, except on the worker `worker_id`.

        Raises Reserved if another holder still has the scope after `wait_seconds`.
        """
        deadline = time.monotonic() + wait_seconds
        while True:
            try:
                return self._reserve(reserved_by, seconds, scope, worker_id)
            except Reserved:
                if time.monotonic() + POLL_SECONDS > deadline:
                    raise
            time.sleep(POLL_SECONDS)

    @retried
    def _reserve(self, reserved_by: str, seconds: float, scope: str, worker_id: str | None) -> Reservation:
        if scope != EVERYTHING:
            scope = self.registry[scope].key
        _check_length(seconds)
        wanted = secrets.token_hex(8)
        with self.database.write() as tx:
            held = tx.reserve(wanted, scope, reserved_by, seconds, only_one=self.only_one)
            if held.id == wanted and worker_id is not None:
                tx.share_reservation(wanted, worker_id)
        if held.id != wanted:
            raise Reserved(
                f"{'the queue' if held.scope == EVERYTHING else held.scope} is reserved by {held.reserved_by}"
                f" until {to_rfc3339(held.expires_at)}"
            )
        return held

    @retried
    def share(self, reservation_id: str, worker_id: str) -> None:
        """Let a worker start jobs despite this reservation."""
        with self.database.write() as tx:
            if not tx.share_reservation(reservation_id, worker_id):
                raise NotAllowed(f"there is no active reservation {reservation_id}")

    @retried
    def extend(self, reservation_id: str, seconds: float) -> None:
        """Extend a reservation; it now ends `seconds` from now."""
        _check_length(seconds)
        with self.database.write() as tx:
            until = tx.now + timedelta(seconds=seconds)
            if not tx.change("reservations/extend", {"id": reservation_id, "expires_at": until}):
                raise NotAllowed(f"there is no active reservation {reservation_id}")

    @retried
    def release(self, reservation_id: str) -> None:
        with self.database.write() as tx:
            if not tx.change("reservations/release", {"id": reservation_id}):
                raise NotAllowed(f"there is no active reservation {reservation_id}")
        self.database.announce()

    @retried
    def expire(self) -> int:
        """Mark expired reservations. (Claims already ignore them.)"""
        with self.database.read() as tx:
            if not tx.query(Reservation, "reservations/expired"):
                return 0
        with self.database.write() as tx:
            return tx.change("reservations/expire")

    def list(self) -> Sequence[Reservation]:
        """The active reservations."""
        with self.database.read() as tx:
            return tx.query(Reservation, "reservations/active")


def _check_length(seconds: float) -> None:
    if not 0 < seconds <= LONGEST_SECONDS:
        raise NotAllowed(f"a reservation lasts between 0 and {LONGEST_SECONDS:g} s, not {seconds:g}")
