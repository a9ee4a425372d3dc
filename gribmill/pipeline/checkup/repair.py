"""Rebuilds lost or damaged tiles, from the spool if possible, otherwise from a new download."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from gribmill.catalogue.events import TilesLost
from gribmill.identity import HourRef, TileRef
from gribmill.pipeline.context import Context
from gribmill.pipeline.handlers.spooled_hour import recorded_spool
from gribmill.pipeline.job_types import BUILD_TILE, INGEST_GRIB, PUBLISH, ingest_job, publish_job
from gribmill.pipeline.open_queue import output_logs
from gribmill.queue.model import NewJob
from gribmill.queue.store import Store
from gribmill.queue.worker.in_process import Ticker

TYPES_OF_REPAIR = (INGEST_GRIB.key, BUILD_TILE.key, PUBLISH.key)
LOOK_AGAIN_SECONDS = 0.5
# After this the command exits, and the jobs continue.
LONGEST_WAIT_SECONDS = 900.0
# Called with the number of finished jobs and the total.
RepairProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Repair:
    """The jobs of a repair."""

    correlation_id: str
    tiles: tuple[TileRef, ...]
    from_spool: int
    """Hours whose messages are in the spool."""
    fetched: int
    """Hours whose messages are downloaded again."""


def start_repair(context: Context, store: Store, wrong: Iterable[TileRef]) -> Repair:
    """Mark these tiles as lost, so that their runs no longer count as complete, and enqueue jobs that rebuild them."""
    tiles = tuple(tile for tile in wrong if tile.region in context.regions and tile.model_id in context.models)
    by_hour: dict[HourRef, list[str]] = {}
    for tile in tiles:
        by_hour.setdefault(tile.hour_ref, []).append(tile.region)
    now = datetime.now(UTC)
    context.catalogue.record(TilesLost(hour, tuple(regions), now) for hour, regions in by_hour.items())
    correlation_id = f"repair-{secrets.token_hex(6)}"
    jobs: list[NewJob] = []
    spooled = 0
    for hour, regions in by_hour.items():
        record = context.catalogue.hour(hour)
        spooled += recorded_spool(context.root, hour, record) is not None
        variables = (record.variables if record else ()) or None
        jobs.append(
            ingest_job(hour, live=True, regions=tuple(regions), variables=variables, correlation_id=correlation_id)
        )
    # Until then, latest.json must not list these runs as complete, even if the downloads fail.
    jobs += [publish_job(hour) for hour in {hour.run: hour for hour in by_hour}.values()]
    store.jobs.enqueue_many(jobs)
    return Repair(correlation_id, tiles, spooled, len(by_hour) - spooled)


def has_worker(context: Context, store: Store) -> bool:
    """Whether running workers cover all job types that a repair needs."""
    living = store.workers.alive(context.settings.queue.lease_seconds)
    done = {kind for one in living for kind in one.types}
    return {*TYPES_OF_REPAIR} <= done


def work_on_repair(context: Context, store: Store, repair: Repair, tell: RepairProgress) -> None:
    """Run the jobs in this process, until none is ready."""
    settings = context.settings
    ticker = Ticker(store, settings.queue.lease_seconds, settings.model_dump(mode="json"), logs=output_logs(settings))
    while _is_active(store, repair, tell) and ticker.tick(1, TYPES_OF_REPAIR):
        pass


def wait_for_repair(store: Store, repair: Repair, tell: RepairProgress) -> None:
    """Wait until workers have done the jobs, or the timeout is over."""
    until = time.monotonic() + LONGEST_WAIT_SECONDS
    while _is_active(store, repair, tell) and time.monotonic() < until:
        time.sleep(LOOK_AGAIN_SECONDS)


def _is_active(store: Store, repair: Repair, tell: RepairProgress) -> bool:
    counts = store.jobs.progress(repair.correlation_id)
    total = sum(counts.values())
    active = sum(count for (_, status), count in counts.items() if status in ("pending", "processing"))
    tell(total - active, total)
    return active > 0
