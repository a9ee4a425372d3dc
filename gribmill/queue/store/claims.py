"""A worker takes the next batch: the head by order, and its siblings."""

from __future__ import annotations

import json

from gribmill.queue.database import Row, Transaction
from gribmill.queue.model import Claimed, ClaimRequest
from gribmill.queue.store.base import StoreBase
from gribmill.queue.store.reservations import EVERYTHING
from gribmill.queue.times import to_datetime, to_text


class Claims(StoreBase):
    """Handing out work. A claim, its lease and its attempt row are one transaction."""

    def claim(self, request: ClaimRequest) -> tuple[Claimed, ...]:
        """The next batch for this worker, head first; empty when nothing can run."""
        with self.database.write() as tx:
            return take_batch(tx, request)

    def claim_siblings(self, request: ClaimRequest, head: Claimed, limit: int) -> tuple[Claimed, ...]:
        """Ready jobs of the same group that arrived since the head was claimed."""
        if head.group_key is None or limit < 1 or head.retry_count:
            return ()
        with self.database.write() as tx:
            if not _eligible(tx, json.dumps([head.type]), joined=head.batch_id):
                return ()
            return _take(tx, request, head.batch_id, _siblings(tx, head.type, head.group_key, head.id, limit))

    def has_work(self, types: tuple[str, ...]) -> bool:
        """Whether a claim might find something. A look without any lock."""
        with self.database.read() as tx:
            return bool(tx.rows("has_work", {"types": json.dumps(types), "now": tx.stamp})[0]["ready"])

    def seconds_to_next_due(self) -> float | None:
        """How long until a delayed job may run; None when there is none."""
        with self.database.read() as tx:
            due = to_datetime(tx.rows("next_due")[0]["due"])
            return None if due is None else max(0.0, due.timestamp() - tx.now)


def take_batch(tx: Transaction, request: ClaimRequest) -> tuple[Claimed, ...]:
    """Claim in the caller's transaction. Plain statements: nothing for the planner to turn around."""
    if tx.rows("any_due", {"now": tx.stamp}):
        tx.change("promote_due", {"now": tx.stamp})
    batch_max = _eligible(tx, request.types_json)
    types = request.types_json if len(batch_max) == len(request.types) else json.dumps(list(batch_max))
    heads = tx.rows("claim_head", {"types": types})
    if not heads:
        return ()
    head = heads[0]
    ids = [head["id"]]
    more = min(batch_max[head["type"]], request.batch_limit or batch_max[head["type"]]) - 1
    # A job that has failed runs alone: if it crashes its executor again, no sibling pays for that.
    if more > 0 and head["group_key"] is not None and head["retry_count"] == 0:
        ids += _siblings(tx, head["type"], head["group_key"], head["id"], more)
    return _take(tx, request, head["id"], ids)


def _eligible(tx: Transaction, types_json: str, joined: int | None = None) -> dict[str, int]:
    """The types that may start now (not paused, reserved or at their limit), with their batch sizes.

    A batch that is to be joined does not count against the limit: it runs already.
    """
    reserved = {row["scope"] for row in tx.rows("reserved_scopes", {"now": tx.stamp})}
    return {
        row["key"]: row["batch_max"]
        for row in tx.rows("eligible_types", {"types": types_json})
        if not (reserved & {EVERYTHING, row["key"]}) and _below_limit(tx, row, joined)
    }


def _below_limit(tx: Transaction, row: Row, joined: int | None) -> bool:
    """Limits count batches: decodes, not rows."""
    limit = row["max_running"]
    return limit is None or tx.rows("running_batches", {"type": row["key"], "joined": joined})[0]["n"] < limit


def _siblings(tx: Transaction, kind: str, group_key: str, head_id: int, more: int) -> list[int]:
    params = {"type": kind, "group_key": group_key, "head_id": head_id, "more": more}
    return [row["id"] for row in tx.rows("claim_siblings", params)]


def _take(tx: Transaction, request: ClaimRequest, batch_id: int, ids: list[int]) -> tuple[Claimed, ...]:
    params = {
        "worker_id": request.worker_id,
        "pid": request.pid,
        "now": tx.stamp,
        "batch_id": batch_id,
        "lease_expires_at": to_text(tx.now + request.lease_seconds),
    }
    taken: list[Claimed] = []
    for params["id"] in ids:
        job = Claimed(*tx.rows("take_job", params)[0])  # type: ignore[arg-type]
        params["attempt_no"] = job.attempt_no
        tx.change("insert_attempt", params)
        taken.append(job)
    return tuple(taken)
