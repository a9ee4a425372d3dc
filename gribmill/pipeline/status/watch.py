"""Checks freshness and disk space every minute; no job would notice their changes."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta

from gribmill.catalogue.events import DiskFreed, DiskLow
from gribmill.ingest.models.model import Model
from gribmill.pipeline.context import Context
from gribmill.pipeline.job_types import prune_job
from gribmill.pipeline.status.freshness import RegionFreshness, freshness_events, read_freshness
from gribmill.queue.store import Store

log = logging.getLogger("gribmill.watch")

EVERY = timedelta(minutes=1)
# Old runs are removed before downloads have to wait.
PRUNE_BELOW_MARKS = 2.0
PRUNE_AGAIN = timedelta(minutes=10)
# Hysteresis: free space fluctuates with each tile and download.
ENOUGH_MARKS = 1.1


class ChainWatch:
    """Runs the checks. Each condition is reported when it begins and when it ends."""

    def __init__(
        self,
        context: Context,
        models: Iterable[Model],
        store: Store,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._context = context
        self._models = {model.id: model for model in models}
        self._store = store
        self._clock = clock
        self._looked_at: datetime | None = None
        self._pruned_at: datetime | None = None
        self._disk_low = False

    def run_if_due(self) -> bool:
        """Run the checks, unless they ran within the last minute; returns whether they ran. Tolerates clock changes."""
        now = self._clock()
        if self._looked_at is not None and timedelta() <= now - self._looked_at < EVERY:
            return False
        self._looked_at = now
        self.run_once()
        return True

    def run_once(self) -> list[RegionFreshness]:
        """Record the freshness of each region, and check the disk."""
        self._look_at_disk()
        fresh = read_freshness(self._context, [*self._models.values()], self._clock())
        if changed := freshness_events(self._context, fresh):
            self._context.catalogue.record(changed)
        return fresh

    def _look_at_disk(self) -> None:
        root = self._context.root.path
        root.mkdir(parents=True, exist_ok=True)
        usage = shutil.disk_usage(root)
        mark = self._context.settings.chain.free_space_mark(usage.total)
        if usage.free < mark * PRUNE_BELOW_MARKS:
            self._prune_early()
        if usage.free < mark and not self._disk_low:
            self._disk_low = True
            self._context.catalogue.record([DiskLow(str(root), usage.free, round(mark))])
            log.warning(
                "the disk is nearly full: downloads wait until %.1f MB are free, now it is %.1f MB",
                mark / 1e6,
                usage.free / 1e6,
            )
        elif self._disk_low and usage.free >= mark * ENOUGH_MARKS:
            self._disk_low = False
            self._context.catalogue.record([DiskFreed(str(root))])
            log.info("the disk has space again: downloads continue")

    def _prune_early(self) -> None:
        now = self._clock()
        if self._pruned_at is None or not timedelta() <= now - self._pruned_at < PRUNE_AGAIN:
            self._store.jobs.enqueue(prune_job())
            self._pruned_at = now
