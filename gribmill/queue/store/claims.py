"""A worker takes the next batch: the head by order, and its siblings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gribmill.database.protocol import Row, Transaction
from gribmill.queue.model import Claimed, ClaimRequest
from gribmill.queue.store.base import Facet
from gribmill.queue.times import to_text


class Claims(Facet):
    """Handing out work. A claim, its lease and its attempt row are one transaction."""

    def claim(self, request: ClaimRequest) -> tuple[Claimed, ...]:
        """The next batch for this worker, head first; empty when nothing can run."""
        with self.database.write() as tx:
            batch = take_batch(tx, request)
            tx.lasting = self._must_outlive(batch)
        return batch

    def claim_siblings(self, request: ClaimRequest, head: Claimed, limit: int) -> tuple[Claimed, ...]:
        """Ready jobs of the same group that arrived since the head was claimed; none for a worker that has lost it."""
        if head.group_key is None or limit < 1 or head.retry_count:
            return ()
        with self.database.write() as tx:
            held = {"job_id": head.id, "attempt_no": head.attempt_no, "worker_id": request.worker_id}
            # While the batch runs it is no further one against its type's limit.
            joined = {"type": head.type, "batch_id": head.batch_id, "now": tx.stamp}
            if not tx.rows("jobs/held", held) or not tx.rows("claims/may_join", joined):
                return ()
            batch = _take(tx, request, head.batch_id, _siblings(tx, head.type, head.group_key, head.id, limit))
            tx.lasting = self._must_outlive(batch)
        return batch

    def _must_outlive(self, batch: Sequence[Claimed]) -> bool:
        """Whether a claim has to be remembered after a power cut.

        Forgotten, it leaves a pending job, which is run again. So would a remembered one be, for its worker is gone
        too; unless a job of its type that was lost is never to be run again.
        """
        return any(self.registry[job.type].on_lost == "fail" for job in batch)


def take_batch(tx: Transaction, request: ClaimRequest) -> tuple[Claimed, ...]:
    """Claim in the caller's transaction. Plain statements: nothing for the planner to turn around."""
    if tx.rows("jobs/any_due", {"now": tx.stamp}):
        tx.change("jobs/promote_due", {"now": tx.stamp})
    heads = tx.rows("claims/head", {"types": request.types_json, "now": tx.stamp})
    if not heads:
        return ()
    found: tuple[Any, ...] = tuple(heads[0])
    *head, batch_max = found
    head_id, kind, _, _, group_key, _, retry_count, _ = head
    more = min(batch_max, request.batch_limit or batch_max) - 1
    # A job that has failed runs alone: if it crashes its executor again, no sibling pays for that.
    joins = more > 0 and group_key is not None and retry_count == 0
    siblings = _siblings(tx, kind, group_key, head_id, more) if joins else []
    return _take(tx, request, head_id, [head, *siblings])


def _siblings(tx: Transaction, kind: str, group_key: str, head_id: int, more: int) -> list[Row]:
    params = {"type": kind, "group_key": group_key, "head_id": head_id, "more": more}
    return tx.rows("claims/siblings", params)


def _take(tx: Transaction, request: ClaimRequest, batch_id: int, rows: Iterable[Iterable[Any]]) -> tuple[Claimed, ...]:
    jobs = [
        Claimed(job_id, kind, args, tenant, group, batch_id, attempt_no + 1, retries, attempts)
        for job_id, kind, args, tenant, group, attempt_no, retries, attempts in rows
    ]
    worker, now, until = request.worker_id, tx.stamp, to_text(tx.now + request.lease_seconds)
    tx.change_many("claims/take", [(worker, now, batch_id, until, job.id) for job in jobs])
    tx.change_many("attempts/insert", [(job.id, job.attempt_no, worker, request.pid, now) for job in jobs])
    return tuple(jobs)
