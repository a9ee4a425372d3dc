"""When each model is scanned: at its own interval, measured at its publisher."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta

from gribmill.errors import GribmillError
from gribmill.ingest.models.model import Model
from gribmill.pipeline.job_types import prune_job, scan_job
from gribmill.pipeline.status.watch import ChainWatch
from gribmill.queue.errors import NotAllowed
from gribmill.queue.model import Enqueued, NewJob, NewTrigger, Trigger
from gribmill.queue.redact import redact_json
from gribmill.queue.store import Store
from gribmill.queue.worker.outage import ThrottledLog

log = logging.getLogger("gribmill.schedule")

PRUNE_EVERY = timedelta(hours=6)
# A model without further runs is checked again at this interval, because its description may have changed.
LONGEST_WAIT = timedelta(hours=6)
# Checking the clock this often is cheap, and notices when the clock was set.
LONGEST_SLEEP_SECONDS = 30.0
# NTP slews smaller errors away; a clock that goes back further was set.
CLOCK_SLACK = timedelta(minutes=1)
RETRY_SECONDS = 5.0


def scan_now(store: Store, jobs: Iterable[NewJob]) -> list[Enqueued]:
    """Enqueue scans that must not wait: an equal one that is snoozed runs now."""
    made = store.jobs.enqueue_many(jobs)
    for one in made:
        if not one.created:
            with contextlib.suppress(NotAllowed):  # it is already running
                store.jobs.run_now(one.id)
    return made


class ScanSchedule:
    """Enqueues due scans and prunes. Equal jobs are deduplicated, so two schedules do no harm.

    Each is a row among the triggers, which shows its next slot; while the row is disabled, it is not enqueued.
    """

    def __init__(
        self, store: Store, models: Iterable[Model], clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._store = store
        self._models = {model.id: model for model in models}
        self._clock = clock
        self._rules = [*(_rule(scan_job(model_id), f"scan {model_id}") for model_id in self._models)]
        self._rules.append(_rule(prune_job(), "remove old runs"))
        self._begin(clock())

    def _begin(self, now: datetime) -> None:
        self._seen = now
        self._next_scan = dict.fromkeys(self._models, now)
        self._next_prune = now + timedelta(minutes=10)
        self._first = True
        self._rows: set[int] = set()

    def run_once(self) -> list[NewJob]:
        """Enqueue every scan that is due now; returns them. What cannot be enqueued stays due."""
        now = self._clock()
        if now < self._seen - CLOCK_SLACK:
            self._begin(now)  # the clock was set back, so all planned times are too far ahead
        self._seen = now
        models = [self._models[model_id] for model_id, moment in self._next_scan.items() if moment <= now]
        pruning = self._next_prune <= now
        if not models and not pruning and not self._first:
            return []
        rows = dict(zip([*self._models, None], self._store.triggers.keep_adaptive(self._rules), strict=True))
        due = [scan_job(model.id) for model in models if rows[model.id].is_enabled]
        if pruning and rows[None].is_enabled:
            due.append(prune_job())
        # A new schedule does not wait for a snoozed scan of an earlier one.
        if self._first:
            scan_now(self._store, due)
        else:
            self._store.jobs.enqueue_many(due)
        self._first = False
        for model in models:
            soon = model.next_scan_at(now) or now + LONGEST_WAIT
            self._next_scan[model.id] = min(max(soon, now + timedelta(seconds=model.scan_seconds)), now + LONGEST_WAIT)
        if pruning:
            self._next_prune = now + PRUNE_EVERY
        self._note(rows, due)
        return due

    def _note(self, rows: Mapping[str | None, Trigger], due: Iterable[NewJob]) -> None:
        """Record in the rows when each fires next, and which fired now."""
        self._rows = {row.id for row in rows.values()}
        slots = {rows[model_id].id: moment for model_id, moment in self._next_scan.items()}
        fired = [rows[job.args.get("model_id")].id for job in due]
        self._store.triggers.plan({**slots, rows[None].id: self._next_prune}, fired)

    def close(self) -> None:
        """Clear the times in the rows, because nothing fires them any longer."""
        self._store.triggers.plan(dict.fromkeys(self._rows))

    def seconds_to_next(self) -> float:
        """Seconds until the next job is due."""
        soonest = min([self._next_prune, *self._next_scan.values()])
        return min(max(0.05, (soonest - self._clock()).total_seconds()), LONGEST_SLEEP_SECONDS)


def _rule(job: NewJob, label: str) -> NewTrigger:
    return NewTrigger(label, job.type, dict(job.args), priority=job.priority, created_by="gribmill run")


class ScanScheduleThread(threading.Thread):
    """A schedule beside a supervisor, in a thread with its own database connection."""

    def __init__(self, schedule: ScanSchedule, store: Store, watch: ChainWatch | None = None) -> None:
        super().__init__(name="schedule", daemon=True)
        self._schedule = schedule
        self._store = store
        self._watch = watch
        self._over = threading.Event()
        self._trouble = ThrottledLog()

    def run(self) -> None:
        while not self._over.is_set():
            try:
                for job in self._schedule.run_once():
                    log.debug("enqueued %s", job.type, extra={"job_args": redact_json(job.args)})
                if self._watch is not None:
                    self._watch.run_if_due()
            except Exception as error:  # noqa: BLE001 — if this thread ended, all scans would end unnoticed
                words = str(error) if isinstance(error, GribmillError) else repr(error)
                self._trouble.tell(f"the schedule has to wait: {words}", type(error).__name__)
                self._over.wait(RETRY_SECONDS)
                continue
            self._trouble.over("the schedule continues")
            self._over.wait(self._schedule.seconds_to_next())
        with contextlib.suppress(GribmillError):
            self._schedule.close()
        self._store.close()

    def stop(self) -> None:
        self._over.set()
        self.join()
