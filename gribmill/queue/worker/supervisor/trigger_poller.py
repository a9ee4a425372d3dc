"""Fires due schedules and dispatches events. Every worker does both, and each slot creates one job nevertheless."""

from __future__ import annotations

import logging
import time

from gribmill.queue.errors import QueueError, StoreError
from gribmill.queue.store import Store
from gribmill.queue.worker.outage import StoreOutage, ThrottledLog

log = logging.getLogger("gribmill.worker")

# Any change in the queue may concern triggers: check, but not at every change.
PATIENCE_SECONDS = 1.0
# After this delay, any worker fires a slot that the leader has not fired.
LEADER_SECONDS = 5.0


class TriggerPoller:
    """Keeps track of the next slot."""

    def __init__(self, store: Store, outage: StoreOutage | None = None) -> None:
        self._store = store
        self._outage = outage or StoreOutage()
        self._looked = 0.0
        self.next_look = 0.0
        self.leads = True
        """Whether this worker is the leader. Without leader election, every worker is."""
        self._due_since: float | None = None
        self._trouble = ThrottledLog()

    def nudge(self) -> None:
        """Check the triggers again soon, because they may have changed; later if this worker is not the leader."""
        self.next_look = min(self.next_look, self._looked + (PATIENCE_SECONDS if self.leads else LEADER_SECONDS))

    def fire_if_due(self) -> bool:
        """Fire what is due; returns whether there are new jobs."""
        now = time.monotonic()
        if now < self.next_look or self._outage.lasts:
            return False
        self._looked = now
        try:
            fired = [*(self._store.triggers.fire_due() if self._may_fire(now) else ()), *self._store.events.dispatch()]
            seconds = self._store.triggers.seconds_to_next_slot()
        except StoreError as error:
            self._outage.failed(error)
            self.next_look = self._outage.back_at
            return False
        except QueueError as error:  # includes manually written rows that cannot be read
            self._trouble.tell(f"schedules have to wait: {error}")
            self.next_look = now + PATIENCE_SECONDS
            return False
        self._trouble.over("schedules resume")
        # Schedules that fired may have more slots due; those that did not fire can wait.
        soonest = 0.001 if fired else PATIENCE_SECONDS
        if seconds != 0.0:
            self._due_since = None
        elif self._due_since is None:
            self._due_since = now
        self.next_look = float("inf") if seconds is None else now + max(seconds, soonest)
        for one in fired:
            if one.job is None:
                log.error("trigger %d made no job for %s: %s", one.trigger_id, one.occasion, one.error)
            else:
                log.info("trigger %d made job %d for %s", one.trigger_id, one.job.id, one.occasion)
        return any(one.job for one in fired)

    def _may_fire(self, now: float) -> bool:
        """The leader may fire at once, others only what the leader seems to have missed."""
        return self.leads or (self._due_since is not None and now >= self._due_since + LEADER_SECONDS)
