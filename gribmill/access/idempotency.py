"""Idempotency keys: a repeated request gets the stored response, and is not executed again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from gribmill.database.protocol import Database

KEPT = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The stored response to a key; `status` is None while the request is running."""

    operation: str
    request_hash: str
    status: int | None
    body: str | None
    location: str | None


@dataclass(frozen=True, slots=True)
class RequestKey:
    """Identifies a request: the caller, the key and a digest of the request."""

    actor: str
    key: str
    operation: str
    request_hash: str


Decision = Literal["new", "busy", "different"]


class IdempotencyKeys:
    """The idempotency keys of a database, each kept for a day."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, wanted: RequestKey, abandoned_seconds: float) -> StoredAnswer | Decision:
        """Register a request. `new`: execute it, then call `finish` or `forget`. `busy`: the first request is still
        running. `different`: the key belongs to another request.

        A request that began more than `abandoned_seconds` ago and did not finish, because its server died, is new.
        """
        key = {"actor": wanted.actor, "key": wanted.key}
        with self._database.write() as tx:
            tx.change("idempotency/prune", {"before": tx.now - KEPT})
            row = {**key, "operation": wanted.operation, "request_hash": wanted.request_hash}
            if tx.change("idempotency/insert", row):
                return "new"
            known = tx.first(StoredAnswer, "idempotency/get", key)
            if known is None:
                return "busy"
            if (known.operation, known.request_hash) != (wanted.operation, wanted.request_hash):
                return "different"
            if known.status is not None:
                return known
            abandoned = {**key, "before": tx.now - timedelta(seconds=abandoned_seconds)}
            return "new" if tx.change("idempotency/take_over", abandoned) else "busy"

    def finish(self, wanted: RequestKey, status: int, body: str, location: str | None) -> None:
        answer = {"status": status, "body": body, "location": location}
        with self._database.write() as tx:
            tx.change("idempotency/finish", {"actor": wanted.actor, "key": wanted.key, **answer})

    def forget(self, wanted: RequestKey) -> None:
        """Forget a request that was not executed, so that the key can be used again."""
        with self._database.write() as tx:
            tx.change("idempotency/forget", {"actor": wanted.actor, "key": wanted.key})
