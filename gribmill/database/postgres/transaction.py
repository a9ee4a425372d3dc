"""The dialect's transaction: named statements, and the verbs. They lock rows before they read them."""

from __future__ import annotations

import json
from collections.abc import Sequence

from gribmill.database.postgres import claims, completion, enqueue
from gribmill.database.postgres.session import PostgresSession
from gribmill.database.verbs import reservations
from gribmill.database.verbs.common_verbs import CommonVerbs
from gribmill.queue.model import Reservation


class PostgresTransaction(CommonVerbs, PostgresSession):
    __slots__ = ()

    insert_jobs = enqueue.insert_jobs
    claim = claims.claim
    claim_job = claims.claim_job
    claim_siblings = claims.claim_siblings
    complete = completion.complete

    def reserve(
        self, reservation_id: str, scope: str, reserved_by: str, seconds: float, *, only_one: bool = False
    ) -> Reservation:
        """Wait for claims in progress, and set the time of the reservation after them."""
        self.rows("reservations/lock")
        self.set_time()
        return reservations.reserve(self, reservation_id, scope, reserved_by, seconds, only_one=only_one)

    def any_trigger_due(self, types: Sequence[str]) -> bool:
        """Without the locks of `due_triggers`."""
        return bool(self.rows("triggers/any_due", {"now": self.stamp, "types": json.dumps([*types])}))
