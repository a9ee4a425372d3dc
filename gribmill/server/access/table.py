"""The one table of access: operation id → least role × own or any tenant.

Every route has a line here under its operation id (the name of its function); without one it fails at import.
"""

from __future__ import annotations

from gribmill.server.access.roles import PUBLIC, Access

SERVER = {
    "healthz": PUBLIC,
    "readyz": PUBLIC,
    "openapi_document": PUBLIC,
    "api_docs": PUBLIC,
    "api_docs_style": PUBLIC,
}

QUEUE: dict[str, Access] = {}

DATA: dict[str, Access] = {}

CONSOLE: dict[str, Access] = {}

ACCESS: dict[str, Access] = {**SERVER, **QUEUE, **DATA, **CONSOLE}


def access_of(operation: str) -> Access:
    """What the operation asks, or a LookupError that says where to write it."""
    try:
        return ACCESS[operation]
    except KeyError:
        raise LookupError(
            f"the operation {operation} has no line in gribmill/server/access/table.py: say who may do it"
        ) from None
