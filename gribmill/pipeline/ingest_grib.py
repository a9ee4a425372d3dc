"""ingest_grib: downloads the wanted messages of one GRIB file."""

from __future__ import annotations

from gribmill.pipeline.ids import Hour, ModelId, RunId
from gribmill.queue.job_type import Args, JobType


class IngestGribArgs(Args):
    """Which file: one hour of one run of a model."""

    model_id: ModelId
    run_id: RunId
    hour: Hour


INGEST_GRIB = JobType(
    key="ingest_grib",
    description="Downloads the wanted messages of one GRIB file.",
    args=IngestGribArgs,
    lane="fetch",
    handler=None,
    timeout_seconds=1800,
    max_attempts=5,
    backoff_base_s=30.0,
    backoff_cap_s=600.0,
    dedupe=True,
)
