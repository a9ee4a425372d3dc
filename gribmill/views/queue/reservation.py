"""Reservations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from gribmill.views.view import Time, View

if TYPE_CHECKING:
    from gribmill.queue.model import Reservation


class ReservationView(View):
    """An active reservation. `scope` is a job type, or `*` for all."""

    id: str
    scope: str
    reserved_by: str
    reserved_at: Time | None
    expires_at: Time | None

    @classmethod
    def of(cls, held: Reservation) -> Self:
        return cls.copy_of(held)
