"""The ids of workers without a database connection."""

from __future__ import annotations

from gribmill.server.access.principal import Principal


def worker_id_of(principal: Principal, given: str) -> str:
    """The worker's id. It contains the id of the token, so that a token cannot act for another token's workers."""
    return f"http-{principal.token_id or principal.kind}-{given}"
