"""The jobs of missing hours: how often each failed, why, and when it runs again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from gribmill.identity import RunRef
from gribmill.pipeline.job_types import ingest_job, tile_jobs
from gribmill.queue.model import Job, Status
from gribmill.queue.store.jobs.jobs import Jobs


@dataclass(frozen=True, slots=True)
class HourJob:
    """The job that a missing hour waits for."""

    job_id: int
    type: str
    status: Status
    tries: int
    """How many attempts have failed."""
    error: str | None
    again_at: datetime | None
    """When it runs again; None if it is ready, running or has failed."""

    @classmethod
    def of(cls, job: Job) -> HourJob:
        failed = job.status == "failed"
        return cls(
            job.id,
            job.type,
            job.status,
            job.retry_count + failed,
            job.error_message if failed or job.retry_count else None,
            job.next_run_at if job.status == "pending" else None,
        )

    @property
    def download_failed(self) -> bool:
        """Whether its download has failed permanently."""
        return self.status == "failed" and self.type == "ingest_grib"


def hour_jobs(jobs: Jobs, run: RunRef, regions: Mapping[int, Sequence[str]]) -> dict[int, HourJob]:
    """Maps those of the hours (each with its regions) that have an active or failed job to that job."""
    wanted = {
        hour: (ingest_job(run.hour(hour), live=True), *tile_jobs(run.hour(hour), names, live=True))
        for hour, names in regions.items()
    }
    found = iter(jobs.like([job for several in wanted.values() for job in several]))
    chosen: dict[int, HourJob] = {}
    for hour, several in wanted.items():
        known = [HourJob.of(job) for job in [next(found) for _ in several] if job is not None]
        if known:
            chosen[hour] = max(known, key=_weight)
    return chosen


def _weight(job: HourJob) -> tuple[bool, int, bool]:
    """An unfinished job is preferred to a failed one, then the job with the most failures."""
    return job.status != "failed", job.tries, job.type == "ingest_grib"
