"""What an operator does to jobs: cancel, retry, run now."""

from __future__ import annotations

from typing import Literal

from gribmill.queue.errors import NotAllowed
from gribmill.queue.model import FINISHED, Enqueued
from gribmill.queue.store.base import Facet, job_row
from gribmill.queue.store.dependents import settle_dependents
from gribmill.queue.store.enqueue import COLUMNS, PreparedJob, insert_jobs


class OperatorActions(Facet):
    """Finished rows are never rewritten: a retry is a new row that names the old one."""

    def cancel(self, job_id: int, reason: str = "cancelled") -> Literal["cancelled", "requested"]:
        """A pending job is cancelled at once; a running one is asked to stop, and its worker stops it."""
        with self.database.write() as tx:
            row = job_row(tx, job_id)
            params = {"job_id": job_id, "now": tx.stamp, "error": reason}
            if row["status"] in FINISHED:
                raise NotAllowed(f"job {job_id} has ended already ({row['status']})")
            done: Literal["cancelled", "requested"] = "cancelled"
            if tx.change("jobs/cancel_pending", params) or tx.change("jobs/cancel_hand_claimed", params):
                settle_dependents(tx, job_id, "cancelled")
            else:
                tx.change("jobs/request_cancel", params)
                done = "requested"
        self.database.announce()
        return done

    def retry(self, job_id: int, *, created_by: str | None = None) -> Enqueued:
        """A new job like the finished one; an equal job that is active already is returned instead."""
        with self.database.write() as tx:
            row = job_row(tx, job_id)
            if row["status"] not in FINISHED:
                raise NotAllowed(f"job {job_id} is {row['status']}: only a finished job can be retried")
            _ = self.registry[row["type"]]  # a row of a type that is not declared would wait for ever
            again = PreparedJob(*(row[name] for name in COLUMNS))._replace(
                source="manual", source_ref=f"retry of job {job_id}", retry_of=job_id, created_by=created_by
            )
            made = insert_jobs(tx, [again])[0]
        self.database.announce()
        return made

    def run_now(self, job_id: int) -> None:
        """A delayed job becomes eligible at once."""
        with self.database.write() as tx:
            row = job_row(tx, job_id)
            if not tx.change("jobs/run_now", {"job_id": job_id}):
                raise NotAllowed(f"job {job_id} is {row['status']}: only a pending job can be run now")
        self.database.announce()
