"""Jobs with dependencies: released when the last parent completes, cancelled when one fails."""

from __future__ import annotations

from gribmill.database.verbs.new_job_retry import make_due_retry
from gribmill.database.verbs.session import Row, WithJobs


def settle_dependents(tx: WithJobs) -> None:
    """Release or cancel the dependents of all ended jobs, transitively; stop groups that stop at a failure.

    A database trigger lists the parents that have ended, whether through the queue or a manual statement, and those
    whose retry as a new job is still to be created.
    """
    with tx.across_tenants():
        while ended := tx.rows("dependencies/ended_parents"):
            for parent in ended:
                _settle(tx, parent)


def _settle(tx: WithJobs, parent: Row) -> None:
    if parent["retry_due"] and make_due_retry(tx, parent["id"]):
        tx.execute("dependencies/settled", (parent["id"],))
        return
    for child in tx.rows("dependencies/pending_children", (parent["id"],)):
        params = {"job_id": child["job_id"], "now": tx.stamp}
        if parent["status"] == "completed" or child["on_failure"] == "ignore":
            tx.wakes |= tx.execute("dependencies/release", params).rowcount > 0
        else:
            error = f"parent job {parent['id']} ended {parent['status']}"
            tx.execute("jobs/cancel_pending", {**params, "error": error})
    if parent["stopped_group"] is not None:
        group = {"group_id": parent["stopped_group"], "now": tx.stamp}
        tx.execute("groups/stop", group)
        tx.execute("groups/cancel_pending", {**group, "error": f"job {parent['id']} of the group failed"})
    tx.execute("dependencies/settled", (parent["id"],))
