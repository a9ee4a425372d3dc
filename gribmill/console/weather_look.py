"""A snapshot of all models: runs, freshness, problems. It reads the disk, so pages share one for a few seconds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from gribmill.ingest.models.model import Model
from gribmill.ingest.models.registry import models_named
from gribmill.pipeline.context import Context
from gribmill.pipeline.retention import decide, runs_on_disk
from gribmill.pipeline.status.freshness import RegionFreshness, freshness_of
from gribmill.pipeline.status.health import Health, health_of
from gribmill.pipeline.status.status import ModelStatus, status_of

RUNS_LOOKED_AT = 2


@dataclass(frozen=True, slots=True)
class WeatherLook:
    """The state of each model at one moment."""

    statuses: tuple[ModelStatus, ...]
    health: Health
    fresh: tuple[RegionFreshness, ...]
    taken_at: datetime
    removable: tuple[int, int] | None = None
    """If the disk is nearly full: the number of runs that the next prune will remove, and their size in bytes."""


def followed_models(context: Context) -> list[Model]:
    """The models in [chain], then those that only have backfilled runs."""
    known = {record.model_id for record in context.catalogue.runs()}
    names = (*context.settings.chain.models, *sorted(known & context.models.keys()))
    found = {model.id: model for name in names for model in models_named(context.models, name)}
    return [*found.values()]


def look_at_weather(context: Context) -> WeatherLook:
    """Freshness, runs and problems of every model that is followed or has runs."""
    now = datetime.now(UTC)
    statuses = status_of(context, followed_models(context), runs=RUNS_LOOKED_AT, now=now)
    health = health_of(context, statuses, now=now)
    fresh = freshness_of(context.models, statuses, lambda: health, now)
    full = any(problem.kind == "disk" for problem in health.problems)
    return WeatherLook(tuple(statuses), health, tuple(fresh), now, _removable(context) if full else None)


def _removable(context: Context) -> tuple[int, int]:
    removed = [one for one in decide(runs_on_disk(context.root, context.catalogue), context.settings) if one.removed]
    return len(removed), sum(one.run.bytes for one in removed)
