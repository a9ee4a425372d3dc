"""build_tile: cuts one hour's GRIB into the tile of one region. Siblings of an hour are decoded once."""

from __future__ import annotations

from gribmill.pipeline.ids import Hour, ModelId, RegionId, RunId
from gribmill.queue.job_type import Args, JobType


class BuildTileArgs(Args):
    """Which tile: one region of one hour of a run."""

    model_id: ModelId
    run_id: RunId
    hour: Hour
    region: RegionId


def group_of(args: BuildTileArgs) -> str:
    """The file that all regions of an hour are cut from; zero-padded, so that keys sort by hour."""
    return f"{args.model_id}/{args.run_id}/{args.hour:03d}"


BUILD_TILE = JobType(
    key="build_tile",
    description="Cuts one hour's GRIB into the NPZ tile of one region.",
    args=BuildTileArgs,
    lane="build",
    handler=None,
    timeout_seconds=900,
    max_attempts=3,
    backoff_base_s=30.0,
    backoff_cap_s=600.0,
    batch_max=64,
    group_by=group_of,
    dedupe=True,
)
