"""Gauges: the state of the queue, the catalogue, the database and the disk at the moment of a scrape."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gribmill.pipeline.context import Context
from gribmill.pipeline.manage_database import database_status
from gribmill.pipeline.status.overview import look_at
from gribmill.queue.store import Store
from gribmill.server.metrics.families import MetricFamilies

STATES = ("ok", "late", "stale")
# The interval for values that are slow to read and change slowly.
SLOW_SECONDS = 30.0


class GaugeReader:
    """Sets all gauges, and removes series of objects that no longer exist."""

    def __init__(self, store: Store, weather: Context, families: MetricFamilies) -> None:
        self._store = store
        self._weather = weather
        self._to = families
        self._slow_due = 0.0

    def read(self) -> None:
        self._read_queue()
        self._read_workers()
        self._read_files()
        if time.monotonic() >= self._slow_due:
            self._read_tiles()
            self._read_freshness()
            self._read_database()
            self._slow_due = time.monotonic() + SLOW_SECONDS

    def _read_queue(self) -> None:
        self._to.jobs.clear()
        for one in self._store.metrics.depth():
            self._to.jobs.labels(one.tenant_id, one.type, one.status).set(one.n)
        self._to.retrying.clear()
        for waiting in self._store.metrics.retrying():
            self._to.retrying.labels(waiting.tenant_id, waiting.type).set(waiting.n)
        self._to.oldest.clear()
        for kind, seconds in self._store.metrics.oldest_ready().items():
            self._to.oldest.labels(kind).set(seconds)

    def _read_workers(self) -> None:
        since = datetime.now(UTC) - timedelta(seconds=self._weather.settings.queue.lease_seconds)
        known = [one for one in self._store.workers.list() if one.last_heartbeat and one.last_heartbeat >= since]
        counts = Counter(one.state for one in known)
        for state in ("active", "draining"):
            self._to.workers.labels(state).set(counts[state])

    def _read_tiles(self) -> None:
        self._to.tiles.clear()
        self._to.tile_bytes.clear()
        for one in self._weather.catalogue.tile_totals():
            self._to.tiles.labels(one.model_id, one.region).set(one.tiles)
            self._to.tile_bytes.labels(one.model_id, one.region).set(one.bytes)

    def _read_freshness(self) -> None:
        context = self._weather
        self._to.freshness.clear()
        self._to.freshness_state.clear()
        for one in look_at(context).freshness:
            if one.age_seconds is not None:
                self._to.freshness.labels(one.model_id, one.region).set(one.age_seconds)
            for state in STATES:
                self._to.freshness_state.labels(one.model_id, one.region, state).set(one.state == state)

    def _read_files(self) -> None:
        self._to.disk_free.set(shutil.disk_usage(_existing(self._weather.root.path)).free)
        if self._weather.settings.database is None:
            path = self._weather.root.jobs_db
            log = path.with_name(f"{path.name}-wal")
            self._to.database_bytes.set(_size(path))
            self._to.wal_bytes.set(_size(log))

    def _read_database(self) -> None:
        if self._weather.settings.database is None:
            return
        status = database_status(self._weather.settings)
        self._to.database_bytes.set(status.bytes)
        self._to.dead_rows.clear()
        for table in status.tables:
            self._to.dead_rows.labels(table.name).set(table.dead_rows)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _existing(path: Path) -> Path:
    return next(folder for folder in (path, *path.absolute().parents) if folder.exists())
