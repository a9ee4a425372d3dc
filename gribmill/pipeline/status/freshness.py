"""The freshness of each region of each followed model: ok, late or stale, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, partial
from typing import TYPE_CHECKING, Literal

from gribmill.identity import run_id, run_time
from gribmill.ingest.models.model import Model
from gribmill.pipeline.context import Context
from gribmill.pipeline.status.health import Health, ProblemKind, health_of
from gribmill.pipeline.status.status import MissingHour, ModelStatus, status_of

if TYPE_CHECKING:
    from gribmill.catalogue.events import Event

FreshnessState = Literal["ok", "late", "stale"]
Cause = Literal[
    "no worker",
    "paused",
    "disk low",
    "mirror sick",
    "download failing",
    "build failing",
    "tiles lost",
    "work waiting",
    "publisher late",
]
# What stops the whole chain, most general first.
OBSTACLES: tuple[tuple[ProblemKind, Cause], ...] = (
    ("no worker", "no worker"),
    ("paused", "paused"),
    ("reserved", "paused"),
    ("disk", "disk low"),
)
RUNS_LOOKED_AT = 2
# If several hours are missing for different reasons, the first of these that applies is reported.
CAUSES_OF_HOURS: tuple[Cause, ...] = (
    "download failing",
    "build failing",
    "tiles lost",
    "work waiting",
    "publisher late",
)


@dataclass(frozen=True, slots=True)
class RegionFreshness:
    """The freshness of one region of a model.

    Late: an hour of the newest run is overdue, or the newest run that should be complete is not. Stale: such a run
    has been overdue for the model's `stale_hours`, and no newer one is complete.
    """

    model_id: str
    region: str
    state: FreshnessState
    cause: Cause | None
    """Why it is late or stale; None if it is ok."""
    complete: str | None
    """The newest complete run."""
    expected: str | None
    """The newest run that should be complete by now."""
    age_seconds: float | None
    """The time since the start of the newest complete run."""

    @property
    def text(self) -> str:
        """`ok`, `late: build failing`."""
        return self.state if self.cause is None else f"{self.state}: {self.cause}"


def freshness_of(
    models: Mapping[str, Model], statuses: Iterable[ModelStatus], health: Callable[[], Health], now: datetime
) -> list[RegionFreshness]:
    """The freshness of every region that [chain] requests of these models. Backfilled runs are neither late nor stale.

    `health` is only called if a region is not ok, to find the cause.
    """
    found = []
    for one in statuses:
        due = _due_runs(models[one.model_id], now) if one.followed else _DueRuns()
        found += [_judge(models[one.model_id], due, one, region, health, now) for region in one.followed]
    return found


def read_freshness(context: Context, models: Sequence[Model], now: datetime) -> list[RegionFreshness]:
    """The freshness of the regions of these models."""
    statuses = status_of(context, models, runs=RUNS_LOOKED_AT, now=now)
    health = cache(partial(health_of, context, statuses, now=now))
    return freshness_of({model.id: model for model in models}, statuses, health, now)


def freshness_events(context: Context, fresh: Iterable[RegionFreshness]) -> list[Event]:
    """Events for what changed since the last check."""
    from gribmill.catalogue.events import FreshnessSeen  # late: `status` only reads

    known = context.catalogue.freshness()
    changed: list[Event] = []
    for one in fresh:
        before = known.get((one.model_id, one.region))
        if before is None or (before.state, before.cause) != (one.state, one.cause):
            changed.append(FreshnessSeen(one.model_id, one.region, one.state, one.cause))
    return changed


@dataclass(frozen=True, slots=True)
class _DueRuns:
    """The newest run that should have reached each stage by now."""

    begun: str | None = None
    """Its first hour is late."""
    complete: str | None = None
    """Its last hour is late."""
    overdue: str | None = None
    """Its last hour has been late for the model's `stale_hours`."""


def _judge(
    model: Model, due: _DueRuns, status: ModelStatus, region: str, health: Callable[[], Health], now: datetime
) -> RegionFreshness:
    complete = status.complete.get(region)
    newest = status.newest.run_id if status.newest else None
    missing = [one for run in status.runs[:1] for one in run.missing if one.late and region in one.regions]
    state: FreshnessState = "ok"
    if _is_older(complete, due.overdue) and _known_for(status, now) >= timedelta(hours=model.stale_hours):
        state = "stale"
    elif missing or _is_older(complete, due.complete) or _is_older(newest, due.begun):
        state = "late"
    cause = None if state == "ok" else _cause(status, region, complete, health())
    age = None if complete is None else (now - run_time(complete)).total_seconds()
    return RegionFreshness(status.model_id, region, state, cause, complete, due.complete, age)


def _due_runs(model: Model, now: datetime) -> _DueRuns:
    begun = complete = None
    grace = timedelta(hours=model.stale_hours)
    for run in model.runs(now, timedelta(hours=48 + model.stale_hours + model.give_up_hours)):
        hours = model.hours(run)
        if begun is None and model.expected_at(run, hours[0]).late <= now:
            begun = run_id(run)
        if begun is None:
            continue
        late = model.expected_at(run, hours[-1]).late
        if complete is None and late <= now:
            complete = run_id(run)
        if late + grace <= now:
            return _DueRuns(begun, complete, run_id(run))
    return _DueRuns(begun, complete)


def _is_older(complete: str | None, wanted: str | None) -> bool:
    return wanted is not None and (complete is None or complete < wanted)


def _known_for(status: ModelStatus, now: datetime) -> timedelta:
    """How long the model has been followed: a model that was just added is not stale."""
    return timedelta() if status.followed_since is None else now - status.followed_since


def _cause(status: ModelStatus, region: str, complete: str | None, health: Health) -> Cause:
    kinds = {one.kind for one in health.problems if one.serious and one.delays_tiles}
    for kind, cause in OBSTACLES:
        if kind in kinds:
            return cause
    if status.mirrors and all(mirror.fails for mirror in status.mirrors):
        return "mirror sick"
    late = [
        one
        for run in status.runs
        if complete is None or run.run_id > complete
        for one in run.missing
        if one.late and region in one.regions
    ]
    causes = {_cause_of(one) for one in late}
    return next((cause for cause in CAUSES_OF_HOURS if cause in causes), "publisher late")


def _cause_of(one: MissingHour) -> Cause:
    tried = one.job is not None and one.job.tries > 0
    match one.reason:
        case "download failed":
            return "download failing"
        case "published, not downloaded" | "requested, not downloaded":
            return "download failing" if tried else "work waiting"
        case "downloaded, tiles missing":
            return "build failing" if tried else "work waiting"
        case "tile lost or damaged":
            return "tiles lost"
        case _:
            return "publisher late"
