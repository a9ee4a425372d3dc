"""The dialect's transaction: named statements, and the verbs."""

from __future__ import annotations

from gribmill.database.sqlite import claims, enqueue
from gribmill.database.sqlite.session import SqliteSession
from gribmill.database.verbs import completion, events, reservations
from gribmill.database.verbs.common_verbs import CommonVerbs


class SqliteTransaction(CommonVerbs, SqliteSession):
    __slots__ = ()

    insert_jobs = enqueue.insert_jobs
    claim = claims.claim
    claim_job = claims.claim_job
    claim_siblings = claims.claim_siblings
    complete = completion.complete
    reserve = reservations.reserve
    any_trigger_due = events.any_trigger_due
