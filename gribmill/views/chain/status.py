"""How fresh each model is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, Self

from gribmill.views.chain.mirror import MirrorStatusView
from gribmill.views.view import Time, View

if TYPE_CHECKING:
    from gribmill.pipeline.status.freshness import RegionFreshness
    from gribmill.pipeline.status.health import Health
    from gribmill.pipeline.status.hour_jobs import HourJob
    from gribmill.pipeline.status.status import MissingHour, ModelStatus, RunStatus


class HourJobView(View):
    """The job that a missing hour waits for: how often it failed, why, and when it runs again."""

    job_id: int
    type: str
    status: str
    tries: int
    error: str | None
    again_at: Time | None

    @classmethod
    def of(cls, job: HourJob) -> Self:
        return cls.copy_of(job)


class MissingHourView(View):
    """An hour without all its tiles: why, whether it is overdue, and the regions whose tiles are missing."""

    hour: int
    reason: Literal[
        "not due yet",
        "due",
        "late",
        "given up",
        "requested, not downloaded",
        "published, not downloaded",
        "download failed",
        "downloaded, tiles missing",
        "tile lost or damaged",
    ]
    late: bool
    regions: tuple[str, ...]
    job: HourJobView | None

    @classmethod
    def of(cls, missing: MissingHour) -> Self:
        return cls.copy_of(missing, job=HourJobView.of(missing.job) if missing.job else None)


class RunStatusView(View):
    """The progress of one run. It is incomplete if it was complete before a region was added.

    If a backfill requested only some hours, `hours` lists those; the whole run has `hours_in_run`.
    """

    run_id: str
    state: Literal["arriving", "complete", "given_up", "incomplete"]
    regions: tuple[str, ...]
    hours: tuple[int, ...]
    hours_expected: int
    hours_published: int
    hours_ingested: int
    hours_built: int
    tiles: int
    tiles_expected: int
    missing: tuple[MissingHourView, ...]
    variables_missing: tuple[str, ...]
    bytes: int
    last_built_at: Time | None
    hours_in_run: int | None

    @classmethod
    def of(cls, run: RunStatus) -> Self:
        return cls.copy_of(run, missing=tuple(MissingHourView.of(one) for one in run.missing))


class ProblemView(View):
    """One problem. Problems that are not serious are only notes."""

    kind: str
    text: str
    model_id: str | None
    serious: bool


class HealthView(View):
    """Whether all is well in the data root, and the problems, worst first."""

    well: bool
    problems: tuple[ProblemView, ...]
    workers: int
    disk_free: int
    disk_total: int

    @classmethod
    def of(cls, health: Health) -> Self:
        return cls.copy_of(health, problems=tuple(ProblemView.copy_of(one) for one in health.problems))


class RegionFreshnessView(View):
    """How up to date one region is: its newest complete run, and the newest that should be complete by now."""

    region: str
    state: Literal["ok", "late", "stale"]
    cause: str | None
    complete: str | None
    expected: str | None
    age_seconds: float | None


class ModelStatusView(View):
    """One model: its newest runs, the newest complete run of each region, its mirrors, and a short verdict."""

    model_id: str
    title: str
    newest_due: str | None
    next_due_at: Time | None
    runs: tuple[RunStatusView, ...]
    complete: dict[str, str | None]
    mirrors: tuple[MirrorStatusView, ...]
    verdict: str
    future_runs: tuple[str, ...]
    silent_since: Time | None
    freshness: tuple[RegionFreshnessView, ...]
    """For the regions in [chain]."""
    health: HealthView
    """Of the whole data root; the same for every model."""

    @classmethod
    def of(cls, status: ModelStatus, health: Health, fresh: Iterable[RegionFreshness]) -> Self:
        return cls.copy_of(
            status,
            freshness=tuple(RegionFreshnessView.copy_of(one) for one in fresh if one.model_id == status.model_id),
            health=HealthView.of(health),
            runs=tuple(RunStatusView.of(run) for run in status.runs),
            mirrors=tuple(MirrorStatusView.of(mirror) for mirror in status.mirrors),
        )
