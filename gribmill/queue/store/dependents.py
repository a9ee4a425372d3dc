"""Jobs that wait on others: released when the last parent is done, cancelled when one fails."""

from __future__ import annotations

from gribmill.database.protocol import Transaction


def settle_dependents(tx: Transaction, job_id: int, status: str) -> bool:
    """Tell the children of an ended job, and theirs in turn. True when some job may run now."""
    woken = False
    ended = [(job_id, status)]
    while ended:
        parent, how = ended.pop()
        for child in tx.rows("dependencies/pending_children", (parent,)):
            params = {"job_id": child["job_id"], "now": tx.stamp}
            if how == "completed" or child["on_failure"] == "ignore":
                woken |= tx.change("dependencies/release", params) > 0
            elif tx.change("jobs/cancel_pending", {**params, "error": f"parent job {parent} ended {how}"}):
                ended.append((child["job_id"], "cancelled"))
    return woken
