"""The dialect's transaction: named statements, and the verbs."""

from __future__ import annotations

from gribmill.database.sqlite.session import SqliteSession
from gribmill.database.sqlite.verbs import claims, enqueue, holds
from gribmill.database.verbs import completion, reservations, triggers
from gribmill.database.verbs.common_verbs import CommonVerbs


class SqliteTransaction(CommonVerbs, SqliteSession):
    __slots__ = ()

    insert_jobs = enqueue.insert_jobs
    claim = claims.claim
    claim_job = claims.claim_job
    claim_siblings = claims.claim_siblings
    complete = completion.complete
    hold_edits = holds.hold_edits
    hold_groups = holds.hold_groups
    reserve = reservations.reserve
    any_trigger_due = triggers.any_trigger_due
