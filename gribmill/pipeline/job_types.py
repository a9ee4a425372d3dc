"""The job types of the chain: their arguments, how they run, and how to create jobs of each.

Fast to import, because everything that enqueues or lists jobs imports this module. The work itself is in `handlers`,
which executors import by name for the first job of a type.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from gribmill.identity import HourRef, whole_run
from gribmill.queue.job_type import JobType, Registry
from gribmill.queue.model import JobSource, NewJob
from gribmill.queue.sleep import SLEEP

if TYPE_CHECKING:
    from gribmill.pipeline.job_arguments import BuildTileArgs

ARGUMENTS = "gribmill.pipeline.job_arguments"
# Priorities. Scans come first and cost almost nothing.
SCAN_PRIORITY = 2_000_000_000
# Built hours are published, and their messages removed, before more is fetched.
PUBLISH_PRIORITY = 1_900_000_000
LIVE_PRIORITY = 1_000_000_000
# Backfills requested by tenants share one priority, because tenants take turns within a priority.
REQUESTED_PRIORITY = 0
# Housekeeping never delays a forecast.
PRUNE_PRIORITY = -1_000_000_000
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
# A run weighs more than any forecast hour; hours since 2000 times this stays below LIVE_PRIORITY until the year 2100.
_RUN_WEIGHT = 1000


def file_priority(hour: HourRef, *, live: bool, tenant: str | None = None) -> int:
    """The priority of a file's download and tiles: live before backfill, new runs first, early hours first; then
    requests of tenants."""
    if tenant is not None and not live:
        return REQUESTED_PRIORITY
    since = int((hour.run.time - _EPOCH) / timedelta(hours=1))
    return (LIVE_PRIORITY if live else 0) + since * _RUN_WEIGHT - min(hour.hour, _RUN_WEIGHT - 1)


def scan_job(
    model_id: str,
    run_id: str | None = None,
    *,
    source: JobSource = "schedule",
    source_ref: str | None = None,
    created_by: str | None = None,
) -> NewJob:
    """A scan of a model's newest runs, or of one run; raises IdentityError if the run id is invalid."""
    args = {"model_id": model_id} | ({"run_id": whole_run(run_id)} if run_id is not None else {})
    return NewJob(
        "scan_source", args, priority=SCAN_PRIORITY, source=source, source_ref=source_ref, created_by=created_by
    )


def ingest_job(
    hour: HourRef,
    *,
    live: bool,
    regions: tuple[str, ...] | None = None,
    variables: tuple[str, ...] | None = None,
    keep_grib: bool | None = None,
    correlation_id: str | None = None,
    requested_by: str | None = None,
    tenant: str | None = None,
) -> NewJob:
    """The download of one file: requested by a person, possibly for a tenant, or found by a scan."""
    narrowed = {"regions": regions, "variables": variables, "keep_grib": keep_grib}
    return NewJob(
        "ingest_grib",
        _hour_args(hour) | {name: value for name, value in narrowed.items() if value is not None},
        priority=file_priority(hour, live=live, tenant=tenant),
        source="system" if requested_by is None else "manual",
        correlation_id=correlation_id,
        created_by=requested_by,
        requested_by=tenant,
    )


def tile_jobs(hour: HourRef, regions: Iterable[str], *, live: bool, tenant: str | None = None) -> tuple[NewJob, ...]:
    """The jobs that build the tile of each region."""
    args, priority = _hour_args(hour), file_priority(hour, live=live, tenant=tenant)
    return tuple(
        NewJob("build_tile", {**args, "region": region}, priority=priority, source="system") for region in regions
    )


def publish_job(hour: HourRef) -> NewJob:
    """Enqueued with the completion of a tile. Never deduplicated: a running one may already have read the catalogue."""
    return NewJob("publish", _hour_args(hour), priority=PUBLISH_PRIORITY, source="system")


def prune_job() -> NewJob:
    return NewJob("prune", {}, priority=PRUNE_PRIORITY, source="schedule")


def _hour_args(hour: HourRef) -> dict[str, object]:
    return {"model_id": hour.model_id, "run_id": hour.run_id, "hour": hour.hour}


def _file_of(args: BuildTileArgs) -> str:
    """The batching key: the file that all regions of an hour are cut from. The keys sort by hour."""
    return str(args.hour_ref)


SCAN_SOURCE = JobType(
    key="scan_source",
    description="Looks for new runs of a model at NOAA or ECMWF.",
    args=f"{ARGUMENTS}:ScanSourceArgs",
    lane="fetch",
    handler="gribmill.pipeline.handlers.scan_source:run",
    timeout_seconds=300,
    max_attempts=5,
    backoff_base_s=30.0,
    backoff_cap_s=600.0,
    dedupe=True,
    for_operators=True,  # it downloads runs for all tenants, at the priority of live ones
)
INGEST_GRIB = JobType(
    key="ingest_grib",
    description="Downloads the wanted messages of one GRIB file.",
    args=f"{ARGUMENTS}:IngestGribArgs",
    lane="fetch",
    handler="gribmill.pipeline.handlers.ingest_grib:run",
    timeout_seconds=1800,
    max_attempts=5,
    backoff_base_s=30.0,
    backoff_cap_s=600.0,
    dedupe=("model_id", "run_id", "hour"),
    shared=True,
)
BUILD_TILE = JobType(
    key="build_tile",
    description="Cuts one hour's GRIB into the NPZ tile of one region.",
    args=f"{ARGUMENTS}:BuildTileArgs",
    lane="build",
    handler="gribmill.pipeline.handlers.build_tile:run",
    timeout_seconds=900,
    max_attempts=3,
    backoff_base_s=30.0,
    backoff_cap_s=600.0,
    batch_max=64,
    group_by=_file_of,
    dedupe=True,
    shared=True,
)
PUBLISH = JobType(
    key="publish",
    description="Moves latest.json forward and removes messages whose tiles are all built.",
    args=f"{ARGUMENTS}:PublishArgs",
    lane="fetch",
    handler="gribmill.pipeline.handlers.publish:run",
    timeout_seconds=120,
    max_attempts=5,
    backoff_base_s=5.0,
    backoff_cap_s=60.0,
    shared=True,
)
PRUNE = JobType(
    key="prune",
    description="Removes old runs: by age, by count, by disk.",
    args=f"{ARGUMENTS}:PruneArgs",
    lane="fetch",
    handler="gribmill.pipeline.handlers.prune:run",
    timeout_seconds=1800,
    max_attempts=3,
    dedupe=True,
    shared=True,
)

DELIVER_WEBHOOK = JobType(
    key="deliver_webhook",
    description="Sends one event to one webhook.",
    args=f"{ARGUMENTS}:DeliverWebhookArgs",
    lane="fetch",
    handler="gribmill.pipeline.handlers.deliver_webhook:run",
    timeout_seconds=60,
    max_attempts=10,
    backoff_base_s=300.0,
    backoff_cap_s=86_400.0,
    dedupe=True,
    for_operators=True,  # tenants test webhooks and deliver events again
)

# Only these types can be enqueued or run, besides definitions with a command that operators add.
TYPES = Registry(
    SCAN_SOURCE,
    INGEST_GRIB,
    BUILD_TILE,
    PUBLISH,
    PRUNE,
    DELIVER_WEBHOOK,
    replace(SLEEP, lane="fetch"),
    command_handler="gribmill.pipeline.handlers.run_command:run",
)
# The types that a remote worker can run: others write to the database themselves.
REMOTE_TYPES = Registry(SCAN_SOURCE, INGEST_GRIB, BUILD_TILE, PUBLISH, replace(SLEEP, lane="fetch"))
# Where executor processes import it from.
TYPES_PATH = "gribmill.pipeline.job_types:TYPES"
