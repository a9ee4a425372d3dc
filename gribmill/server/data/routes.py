"""`/api/v1/models`, `/regions`, `/runs`, `/status`: what is available, and how fresh it is."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Annotated

from fastapi import Query

from gribmill.identity import RUN_ID
from gribmill.ingest.models.model import Model
from gribmill.pipeline.status.health import OF_FORECASTS
from gribmill.pipeline.status.overview import look_at
from gribmill.pipeline.status.status import without_jobs
from gribmill.server.access.principal import CurrentPrincipal
from gribmill.server.context import Server, ServerContext
from gribmill.server.data.parameters import ModelPath, ModelQuery, RegionQuery
from gribmill.server.data.point_answer import answered_now
from gribmill.server.data.runs import latest_run, model_meta, runs_of
from gribmill.server.problems import HttpProblem
from gribmill.server.router import SecuredRouter
from gribmill.views.chain.model import ModelView
from gribmill.views.chain.status import ModelStatusView
from gribmill.views.data.region import RegionView
from gribmill.views.data.run import LatestRunView, ModelMetaView, RunView

router = SecuredRouter("/api/v1", tag="data")
open_meteo_meta = SecuredRouter(tag="Open-Meteo")

MOST_RUNS = 200
NeededModel = Annotated[
    str, Query(pattern="^[a-z0-9][a-z0-9_.-]{0,60}$", description="A model, or an ensemble member.")
]


@router.get("/models")
async def list_models(
    server: Server,
    members: Annotated[bool, Query(description="List every ensemble member instead of one row per ensemble.")] = False,
    here: Annotated[bool, Query(description="Only models that have tiles or runs here.")] = False,
) -> list[ModelView]:
    """The models that can be followed, as `gribmill models list` shows them."""

    def look() -> list[ModelView]:
        groups: dict[str, list[Model]] = {}
        known = _models_here(server) if here else None
        for model in server.weather.models.values():
            if known is None or model.id in known:
                groups.setdefault(model.id if members else model.family, []).append(model)
        now = datetime.now(UTC)
        return [ModelView.of(name, group, now) for name, group in groups.items()]

    return await server.run(look)


@router.get("/regions")
async def list_regions(server: Server) -> list[RegionView]:
    """The built-in regions and those in the settings."""
    own = server.settings.regions
    return [RegionView.of(region, own=region.name in own) for region in server.weather.regions.values()]


@router.get("/runs")
async def list_runs(
    server: Server,
    model: ModelQuery = None,
    before: Annotated[
        str | None, Query(pattern=f"^{RUN_ID.pattern}$", description="Only runs before this one, for the next page.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_RUNS)] = 20,
) -> list[RunView]:
    """Runs, newest first, with the completeness of each region."""
    return await server.run(runs_of, server.weather, model, before, limit)


@router.get("/runs/latest")
async def latest_runs(
    server: Server,
    model: NeededModel,
    region: RegionQuery = None,
    complete: Annotated[bool, Query(description="Only a complete run; otherwise the newest that has any tile.")] = True,
) -> list[LatestRunView]:
    """The run to read for each region of a model, or for one region, with the URLs of its tiles."""
    return await server.run(answered_now, server, lambda one: latest_run(one, model, region, complete=complete))


@router.get("/status")
async def data_status(
    server: Server,
    principal: CurrentPrincipal,
    model: Annotated[list[str] | None, Query(max_length=100)] = None,
    runs: Annotated[int, Query(ge=1, le=100)] = 3,
) -> list[ModelStatusView]:
    """How fresh each model is and why, as in `gribmill status --json`. A tenant sees neither the operators' problems
    nor their jobs."""

    def look() -> list[ModelStatusView]:
        found = look_at(server.weather, tuple(model or ()), runs)
        if principal.tenant_id is None:
            return [ModelStatusView.of(one, found.health, found.freshness) for one in found.statuses]
        problems = tuple(one for one in found.health.problems if one.kind in OF_FORECASTS)
        health = replace(found.health, problems=problems)
        return [ModelStatusView.of(without_jobs(one), health, found.freshness) for one in found.statuses]

    return await server.run(look)


@router.get("/models/{model}/meta.json")
async def model_update_times(server: Server, model: ModelPath) -> ModelMetaView:
    """When a model was last updated: its last complete run, when it became available, and the update interval."""
    return await server.run(_meta, server, model)


@open_meteo_meta.get("/data/{model}/static/meta.json")
async def open_meteo_update_times(server: Server, model: ModelPath) -> ModelMetaView:
    """The same, at the path that Open-Meteo clients use."""
    return await server.run(_meta, server, model)


def _meta(server: ServerContext, model: str) -> ModelMetaView:
    known = server.weather.models.get(model)
    if known is None and model not in _models_here(server):
        raise HttpProblem(404, f"there is no model {model}")
    runs = [] if known is None else known.runs(datetime.now(UTC))
    gaps = [int((after - before).total_seconds()) for after, before in pairwise(runs)]
    return answered_now(server, lambda source: model_meta(source, model, min(gaps, default=None)))


def _models_here(server: ServerContext) -> set[str]:
    return {*server.root.models(), *(record.model_id for record in server.weather.catalogue.runs())}
