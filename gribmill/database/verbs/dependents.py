"""Jobs that wait on others: released when the last parent is done, cancelled when one fails."""

from __future__ import annotations

from gribmill.database.verbs.session import Row, Session


def settle_dependents(tx: Session) -> None:
    """Release or cancel the dependents of every job that has ended, and theirs in turn; stop the groups in which a
    failure means that.

    A trigger lists the parents that have ended, whether the queue or a manual statement ended them.
    """
    while ended := tx.rows("dependencies/ended_parents"):
        for parent in ended:
            _settle(tx, parent)


def _settle(tx: Session, parent: Row) -> None:
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
