"""scan_source: checks NOAA and ECMWF for new runs of a model."""

from __future__ import annotations

from gribmill.pipeline.ids import ModelId
from gribmill.queue.job_type import Args, JobType


class ScanSourceArgs(Args):
    """Which model to look for."""

    model_id: ModelId


SCAN_SOURCE = JobType(
    key="scan_source",
    description="Checks NOAA or ECMWF for new runs of a model.",
    args=ScanSourceArgs,
    lane="fetch",
    handler=None,
    timeout_seconds=300,
    max_attempts=5,
    backoff_base_s=30.0,
    backoff_cap_s=600.0,
    dedupe=True,
)
