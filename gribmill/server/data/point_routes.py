"""`/api/v1/point` and `/api/v1/area`: forecasts at a place, and statistics of an area."""

from __future__ import annotations

import math
from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from gribmill.errors import GribmillError, quoted
from gribmill.regions.box import Box
from gribmill.server.context import Server
from gribmill.server.data.area import MOST_PERCENTILES, AreaRequest, area
from gribmill.server.data.area import MOST_VARIABLES as MOST_AREA_VARIABLES
from gribmill.server.data.parameters import (
    Latitude,
    Longitude,
    MethodQuery,
    ModelQuery,
    RegionQuery,
    RunQuery,
    UnitsQuery,
    VariablesQuery,
    point_request,
    variable_names,
)
from gribmill.server.data.point_answer import PointSource, answered, answered_now, one_series, point_json
from gribmill.server.problems import HttpProblem
from gribmill.server.quick_route import QuickRoute
from gribmill.server.router import SecuredRouter
from gribmill.tiles.read.point.place import place_at
from gribmill.views.data.area import AreaView
from gribmill.views.data.point import PointAnswerView

router = SecuredRouter("/api/v1", tag="forecasts")
points = SecuredRouter("/api/v1", tag="forecasts", route_class=QuickRoute)


@points.get("/point", response_class=Response, responses={200: {"model": PointAnswerView}})
async def point_forecast(
    server: Server,
    lat: Latitude,
    lon: Longitude,
    model: ModelQuery = None,
    region: RegionQuery = None,
    run: RunQuery = None,
    variables: VariablesQuery = None,
    units: UnitsQuery = "metric",
    method: MethodQuery = "nearest",
    tz: Annotated[str | None, Query(max_length=60, description="A time zone such as America/New_York.")] = None,
) -> Response:
    """The forecast at a place, hour by hour, from the finest tiles that contain it; missing values are null."""
    request = point_request(server.root, model, run, region, variable_names(variables), method, units, tz)
    place = place_at(lat, lon)

    def answer(source: PointSource) -> bytes:
        series = one_series(source, place, request)
        return point_json(series, source.times(series), request.root)

    return Response(await answered(server, answer), media_type="application/json")


@router.get("/area")
async def area_statistics(
    server: Server,
    variables: Annotated[str, Query(alias="vars", max_length=1000, description="Variables, separated by commas.")],
    model: ModelQuery = None,
    region: RegionQuery = None,
    bbox: Annotated[
        str | None, Query(max_length=100, description="W,S,E,N in degrees; by default the whole region.")
    ] = None,
    run: RunQuery = None,
    units: UnitsQuery = "metric",
    percentiles: Annotated[str, Query(max_length=100, description="Percentiles, separated by commas.")] = "10,50,90",
    first_hour: Annotated[float, Query(ge=0, le=10_000)] = 0,
    last_hour: Annotated[float, Query(ge=0, le=10_000)] = 10_000,
) -> AreaView:
    """Minimum, maximum, mean and percentiles over a region, or a box in it, hour by hour."""
    if bbox is None and region is None:
        raise HttpProblem(422, "give a region, or a bbox as W,S,E,N", errors=[("query.bbox", "missing")])
    names = variable_names(variables, MOST_AREA_VARIABLES) or ()
    request = point_request(server.root, model, run, region, names, units=units)
    wanted = AreaRequest(request, _box(bbox), names, _percentiles(percentiles), first_hour, last_hour)
    return await server.run_slow(answered_now, server, lambda source: area(source, wanted))


def _box(text: str | None) -> Box | None:
    try:
        return None if text is None else Box.parse(text)
    except GribmillError as error:
        raise HttpProblem(422, str(error), errors=[("query.bbox", "not a box")]) from None


def _percentiles(text: str) -> tuple[float, ...]:
    try:
        found = tuple(dict.fromkeys(float(part) for part in text.split(",") if part.strip()))
    except ValueError:
        found = (math.nan,)
    if len(found) > MOST_PERCENTILES or not all(0 <= one <= 100 for one in found):
        raise HttpProblem(
            422,
            f"{quoted(text)} is not a list of up to {MOST_PERCENTILES} percentiles, such as 10,50,90",
            errors=[("query.percentiles", "not percentiles")],
        )
    return found
