"""`/edr`: position, area and cube of a collection and of its instances, as CoverageJSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
from starlette.responses import Response

from gribmill.server.context import Server, ServerContext
from gribmill.server.data.point_answer import PointSource, RunTimes, answered, answered_now
from gribmill.server.data.run_headers import run_headers
from gribmill.server.edr.collection import MEDIA_TYPE, Collection, collection
from gribmill.server.edr.coverage import cube, position
from gribmill.server.edr.instance import instance
from gribmill.server.edr.query import (
    QueryTimes,
    check_shape,
    parse_bbox,
    parse_names,
    parse_point,
    parse_polygon,
    parse_times,
)
from gribmill.server.edr.values import CollectionId, QuerySelection, RunId, Selected, Text
from gribmill.server.router import SecuredRouter

router = SecuredRouter("/edr/collections/{collection_id}", tag="OGC API – EDR")

MOST_PARAMETERS = 100
Find = Callable[[PointSource], Collection]
AnswerQuery = Callable[[PointSource, Collection, tuple[str, ...], QueryTimes], dict[str, Any]]


@router.get("/position", response_class=Response)
async def edr_position(
    server: Server, collection_id: CollectionId, selected: Selected, coords: Text = None
) -> Response:
    """The values at a point over time."""
    return await _coverage(server, _newest(collection_id), _position(coords), selected)


@router.get("/area", response_class=Response)
async def edr_area(server: Server, collection_id: CollectionId, selected: Selected, coords: Text = None) -> Response:
    """The values in a polygon; null outside it."""
    return await _coverage(server, _newest(collection_id), _area(coords), selected, slow=True)


@router.get("/cube", response_class=Response)
async def edr_cube(server: Server, collection_id: CollectionId, selected: Selected, bbox: Text = None) -> Response:
    """The values in a box."""
    return await _coverage(server, _newest(collection_id), _cube(bbox), selected, slow=True)


@router.get("/instances/{run}/position", response_class=Response)
async def edr_instance_position(
    server: Server, collection_id: CollectionId, run: RunId, selected: Selected, coords: Text = None
) -> Response:
    """The values of one run at a point over time."""
    return await _coverage(server, _of_run(collection_id, run), _position(coords), selected)


@router.get("/instances/{run}/area", response_class=Response)
async def edr_instance_area(
    server: Server, collection_id: CollectionId, run: RunId, selected: Selected, coords: Text = None
) -> Response:
    """The values of one run in a polygon; null outside it."""
    return await _coverage(server, _of_run(collection_id, run), _area(coords), selected, slow=True)


@router.get("/instances/{run}/cube", response_class=Response)
async def edr_instance_cube(
    server: Server, collection_id: CollectionId, run: RunId, selected: Selected, bbox: Text = None
) -> Response:
    """The values of one run in a box."""
    return await _coverage(server, _of_run(collection_id, run), _cube(bbox), selected, slow=True)


def _newest(name: str) -> Find:
    return lambda source: collection(source, name)


def _of_run(name: str, run: str) -> Find:
    return lambda source: instance(source, name, run)


def _position(coords: str | None) -> AnswerQuery:
    lon, lat = parse_point(coords)
    return lambda source, one, names, times: position(source.source, one, lon, lat, names, times)


def _area(coords: str | None) -> AnswerQuery:
    polygon = parse_polygon(coords)
    return lambda _, one, names, times: cube(one, polygon.bounds, names, times, polygon)


def _cube(bbox: str | None) -> AnswerQuery:
    bounds = parse_bbox(bbox)
    return lambda _, one, names, times: cube(one, bounds, names, times)


async def _coverage(
    server: ServerContext, find: Find, work: AnswerQuery, asked: QuerySelection, *, slow: bool = False
) -> Response:
    """CoverageJSON, with headers that name the run."""
    check_shape(asked.crs, asked.f, asked.z)
    when = parse_times(asked.datetime)

    def answer(source: PointSource) -> tuple[bytes, dict[str, str]]:
        one = find(source)
        times = source.folder_times(one.candidate.choice.folders[0])
        names = parse_names(asked.names, [*one.variables], MOST_PARAMETERS)
        found = work(source, one, names, when)
        return orjson.dumps(found, option=orjson.OPT_SERIALIZE_NUMPY), _headers(one, times)

    if slow:
        body, headers = await server.run_slow(answered_now, server, answer)
    else:
        body, headers = await answered(server, answer)
    return Response(body, media_type=MEDIA_TYPE, headers=headers)


def _headers(one: Collection, times: RunTimes) -> dict[str, str]:
    choice = one.candidate.choice
    found = run_headers(choice.folders[0].model, one.run, times.ingested_at, times.built_at)
    found["Gribmill-Complete"] = {True: "true", False: "false", None: "unknown"}[choice.complete]
    found["Gribmill-Hours"] = f"{choice.hours}/{choice.expected or '?'}"
    return found
