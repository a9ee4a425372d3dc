"""Roles: what a token is for."""

from __future__ import annotations

from typing import Literal, get_args

Role = Literal["tenant_viewer", "tenant_admin", "super_admin", "worker"]

ROLES: tuple[Role, ...] = get_args(Role)
VIEWER: Role = "tenant_viewer"
ADMIN: Role = "tenant_admin"
SUPER_ADMIN: Role = "super_admin"
WORKER: Role = "worker"
OF_TENANT = frozenset({VIEWER, ADMIN})
"""Roles that belong to one tenant."""

# Each may do what those before it may. A worker is apart: it runs jobs, and looks at nothing else.
RANKS: dict[Role, int] = {VIEWER: 1, ADMIN: 2, SUPER_ADMIN: 3}
