"""Jobs that wait on others: released when the last parent is done, cancelled when one fails."""

from __future__ import annotations

from gribmill.database.sqlite.session import SqliteSession


def settle_dependents(tx: SqliteSession, job_id: int, status: str) -> bool:
    """Release or cancel the dependents of a job that has ended, and theirs in turn. True when some job may run now."""
    woken = False
    ended = [(job_id, status)]
    while ended:
        parent, how = ended.pop()
        for child in tx.rows("dependencies/pending_children", (parent,)):
            params = {"job_id": child["job_id"], "now": tx.stamp}
            if how == "completed" or child["on_failure"] == "ignore":
                woken |= tx.execute("dependencies/release", params).rowcount > 0
            elif tx.execute("jobs/cancel_pending", {**params, "error": f"parent job {parent} ended {how}"}).rowcount:
                ended.append((child["job_id"], "cancelled"))
    return woken
