"""What a token may do: its role, and the parts of the API (scopes) that it is limited to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from gribmill.access.errors import AccessError
from gribmill.errors import quoted

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

PARTS = (
    "audit", "console", "data", "definitions", "events", "groups", "health", "jobs", "metrics", "operations",
    "reservations", "templates", "tenants", "tokens", "triggers", "webhooks", "worker", "workers",
)  # fmt: skip
READ = "read"
_READ_SUFFIX = ":read"


def checked_scopes(scopes: Sequence[str]) -> tuple[str, ...]:
    """Validate scopes and remove duplicates; raises AccessError. `read` means every part, read-only."""
    for one in scopes:
        if one != READ and one.removesuffix(_READ_SUFFIX) not in PARTS:
            raise AccessError(f"{quoted(one)} is not a scope: use read, or one of {', '.join(PARTS)}, or jobs:read")
    return tuple(dict.fromkeys(scopes))


def covers(scopes: Sequence[str], part: str, *, writes: bool) -> bool:
    """Whether a token with these scopes may use a part of the API. Without scopes it may use all."""
    if not scopes:
        return True
    return part in scopes or (not writes and (READ in scopes or part + _READ_SUFFIX in scopes))
