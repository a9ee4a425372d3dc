"""Roles of tokens."""

from __future__ import annotations

from typing import Literal, get_args

Role = Literal["tenant_viewer", "tenant_admin", "super_admin", "worker"]

ROLES: tuple[Role, ...] = get_args(Role)
VIEWER: Role = "tenant_viewer"
ADMIN: Role = "tenant_admin"
SUPER_ADMIN: Role = "super_admin"
WORKER: Role = "worker"
OF_TENANT = frozenset({VIEWER, ADMIN})
"""Roles that are bound to one tenant."""

# Each role includes those before it, except `worker`, which can only run jobs.
RANKS: dict[Role, int] = {VIEWER: 1, ADMIN: 2, SUPER_ADMIN: 3}
