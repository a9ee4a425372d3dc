"""The id under which a worker without a database connection is known."""

from __future__ import annotations

from gribmill.server.access.principal import Principal


def worker_id_of(principal: Principal, given: str) -> str:
    """Begins with the id of its token, so that no token can act for the workers of another."""
    return f"http-{principal.token_id or principal.kind}-{given}"
