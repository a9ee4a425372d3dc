"""An overview of some models, or of all that are followed or have runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from gribmill.ingest.models.registry import models_named
from gribmill.pipeline.context import Context
from gribmill.pipeline.status.freshness import RegionFreshness, freshness_of
from gribmill.pipeline.status.health import Health, health_of
from gribmill.pipeline.status.status import ModelStatus, status_of


@dataclass(frozen=True, slots=True)
class Overview:
    """The status of each model, the health of the data root, and the freshness of each region."""

    statuses: Sequence[ModelStatus]
    health: Health
    freshness: Sequence[RegionFreshness]


def look_at(context: Context, names: Sequence[str] = (), runs: int = 3) -> Overview:
    """These models and members of families; by default those of [chain] and those with runs in the data root."""
    known = {record.model_id for record in context.catalogue.runs()}
    wanted = names or (*context.settings.chain.models, *sorted(known & context.models.keys()))
    chosen = {model.id: model for name in wanted for model in models_named(context.models, name)}
    now = datetime.now(UTC)
    statuses = status_of(context, chosen.values(), runs=runs, now=now)
    health = health_of(context, statuses, now=now)
    return Overview(statuses, health, freshness_of(context.models, statuses, lambda: health, now))
