"""Roles, and what an operation asks of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["tenant_viewer", "tenant_admin", "super_admin", "worker"]
Reach = Literal["own", "any"]

VIEWER: Role = "tenant_viewer"
ADMIN: Role = "tenant_admin"
SUPER_ADMIN: Role = "super_admin"
WORKER: Role = "worker"

# Each may do what those before it may. A worker is apart: it runs jobs, and looks at nothing else.
RANKS: dict[Role, int] = {VIEWER: 1, ADMIN: 2, SUPER_ADMIN: 3}


@dataclass(frozen=True, slots=True)
class Access:
    """What an operation asks: the least role (None: anybody, without a token), and what it reaches.

    own: the objects of one tenant, which is the caller's own unless that is a super admin.
    any: what belongs to no tenant or to all: definitions, workers, forecasts.
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
