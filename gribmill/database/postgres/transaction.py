"""The dialect's transaction: named statements, and the verbs."""

from __future__ import annotations

from gribmill.database.postgres.session import PostgresSession
from gribmill.database.postgres.verbs import claims, completion, due, enqueue, holds, reservations
from gribmill.database.verbs.common_verbs import CommonVerbs


class PostgresTransaction(CommonVerbs, PostgresSession):
    __slots__ = ()

    insert_jobs = enqueue.insert_jobs
    claim = claims.claim
    claim_job = claims.claim_job
    claim_siblings = claims.claim_siblings
    complete = completion.complete
    hold_edits = holds.hold_edits
    hold_groups = holds.hold_groups
    reserve = reservations.reserve
    any_trigger_due = due.any_trigger_due
