"""What an operation requires of its caller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gribmill.access.permissions import ADMIN, RANKS, SUPER_ADMIN, VIEWER, WORKER, Role

__all__ = ["ADMIN", "PUBLIC", "SUPER_ADMIN", "VIEWER", "WORKER", "Access", "any_tenant", "own"]

Reach = Literal["own", "any"]


@dataclass(frozen=True, slots=True)
class Access:
    """What an operation requires: the minimum role (None: no token needed), and whose objects it accesses.

    own: objects of one tenant: the caller's, or any tenant for a super admin.
    any: objects that belong to no tenant or are shared by all: definitions, workers, forecasts.
    """

    least: Role | None
    reach: Reach

    def admits(self, role: Role) -> bool:
        if self.least is None or role == SUPER_ADMIN or self.least == role:
            return True
        return role in RANKS and self.least in RANKS and RANKS[role] >= RANKS[self.least]


def own(least: Role) -> Access:
    return Access(least, "own")


def any_tenant(least: Role) -> Access:
    return Access(least, "any")


PUBLIC = Access(None, "any")
