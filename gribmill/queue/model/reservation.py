"""Reservations: they keep jobs from starting while the machine is needed for something else."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Reservation:
    """While active, no job in its scope starts. The scope is a job type, or `*` for all."""

    id: str
    scope: str
    reserved_by: str
    reserved_at: datetime | None
    expires_at: datetime | None
