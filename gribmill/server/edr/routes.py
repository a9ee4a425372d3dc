"""`/edr`: the landing page, collections, and their queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import orjson
from fastapi import Path, Query, Request
from starlette.responses import Response

from gribmill.server.context import Server, ServerContext, server_context
from gribmill.server.data.point_answer import PointSource, RunTimes, answered, waiting_source
from gribmill.server.data.run_headers import run_headers
from gribmill.server.edr.collection import MEDIA_TYPE, Collection, collection, collections, description
from gribmill.server.edr.coverage import cube, position
from gribmill.server.edr.query import check_shape, parse_bbox, parse_names, parse_point, parse_polygon, parse_times
from gribmill.server.router import SecuredRouter

router = SecuredRouter("/edr", tag="OGC API – EDR")

MOST_PARAMETERS = 100
CONFORMANCE = [
    "http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core",
    "http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/collections",
    "http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/core",
    "http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/collections",
    "http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/json",
    "http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/covjson",
    "http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/queries",
]
CollectionId = Annotated[str, Path(pattern=r"^[a-z0-9._-]{1,60}:[a-z0-9_-]{1,40}$", description="MODEL:REGION")]
Text = Annotated[str | None, Query(max_length=20_000)]
Names = Annotated[list[str] | None, Query(alias="parameter-name", description="Parameters, separated by commas.")]
OtherNames = Annotated[list[str] | None, Query(alias="parameter_names", description="Another spelling of it.")]
Work = Callable[[PointSource, Collection], dict[str, Any]]


@router.get("", response_class=Response)
async def edr_landing(request: Request) -> Response:
    """The landing page."""
    return _json(_landing(_base(request)))


@router.get("/", response_class=Response, include_in_schema=False)
async def edr_landing_slash(request: Request) -> Response:
    """The same, for clients that add a slash."""
    return _json(_landing(_base(request)))


@router.get("/conformance", response_class=Response)
async def edr_conformance() -> Response:
    """What of the standard is implemented."""
    return _json({"conformsTo": CONFORMANCE})


@router.get("/collections", response_class=Response)
async def edr_collections(request: Request, server: Server) -> Response:
    """One collection for each model and region."""
    base = _base(request)

    def answer(source: PointSource) -> list[dict[str, Any]]:
        return [description(base, one) for one in collections(source)]

    found = await answered(server, answer)
    links = [{"href": f"{base}/collections", "rel": "self", "type": "application/json"}]
    return _json({"links": links, "collections": found})


@router.get("/collections/{collection_id}", response_class=Response)
async def edr_collection(request: Request, server: Server, collection_id: CollectionId) -> Response:
    """One collection: its extent, parameters and queries."""
    base = _base(request)
    return _json(await answered(server, lambda source: description(base, collection(source, collection_id))))


@router.get("/collections/{collection_id}/position", response_class=Response)
async def edr_position(
    server: Server,
    collection_id: CollectionId,
    coords: Text = None,
    datetime: Text = None,
    names: Names = None,
    other_names: OtherNames = None,
    crs: Text = None,
    f: Text = None,
    z: Text = None,
) -> Response:
    """The values at a point over time."""
    check_shape(crs, f, z)
    lon, lat = parse_point(coords)
    times = parse_times(datetime)

    def work(source: PointSource, one: Collection) -> dict[str, Any]:
        wanted = parse_names([*(names or ()), *(other_names or ())], [*one.variables], MOST_PARAMETERS)
        return position(source.source, one, lon, lat, wanted, times)

    return await _coverage(server, collection_id, work)


@router.get("/collections/{collection_id}/area", response_class=Response)
async def edr_area(
    server: Server,
    collection_id: CollectionId,
    coords: Text = None,
    datetime: Text = None,
    names: Names = None,
    other_names: OtherNames = None,
    crs: Text = None,
    f: Text = None,
    z: Text = None,
) -> Response:
    """The values in a polygon; null around it."""
    check_shape(crs, f, z)
    polygon = parse_polygon(coords)
    times = parse_times(datetime)

    def work(source: PointSource, one: Collection) -> dict[str, Any]:
        wanted = parse_names([*(names or ()), *(other_names or ())], [*one.variables], MOST_PARAMETERS)
        return cube(one, polygon.bounds, wanted, times, polygon)

    return await _coverage(server, collection_id, work, slow=True)


@router.get("/collections/{collection_id}/cube", response_class=Response)
async def edr_cube(
    server: Server,
    collection_id: CollectionId,
    bbox: Text = None,
    datetime: Text = None,
    names: Names = None,
    other_names: OtherNames = None,
    crs: Text = None,
    f: Text = None,
    z: Text = None,
) -> Response:
    """The values in a box; all of the region by default."""
    check_shape(crs, f, z)
    bounds = parse_bbox(bbox) if bbox is not None else None
    times = parse_times(datetime)

    def work(source: PointSource, one: Collection) -> dict[str, Any]:
        wanted = parse_names([*(names or ()), *(other_names or ())], [*one.variables], MOST_PARAMETERS)
        box = bounds or parse_bbox(",".join(map(str, one.tile.meta.region.box)))
        return cube(one, box, wanted, times)

    return await _coverage(server, collection_id, work, slow=True)


async def _coverage(server: ServerContext, name: str, work: Work, *, slow: bool = False) -> Response:
    """CoverageJSON, with headers that say which run it is from."""

    def answer(source: PointSource) -> tuple[bytes, dict[str, str]]:
        one = collection(source, name)
        times = source.folder_times(one.candidate.choice.folders[0])
        return orjson.dumps(work(source, one), option=orjson.OPT_SERIALIZE_NUMPY), _headers(one, times)

    if slow:
        body, headers = await server.run(answer, waiting_source(server))
    else:
        body, headers = await answered(server, answer)
    return Response(body, media_type=MEDIA_TYPE, headers=headers)


def _headers(one: Collection, times: RunTimes) -> dict[str, str]:
    choice = one.candidate.choice
    found = run_headers(choice.folders[0].model, one.run, times.ingested_at, times.built_at)
    found["Gribmill-Complete"] = {True: "true", False: "false", None: "unknown"}[choice.complete]
    found["Gribmill-Hours"] = f"{choice.hours}/{choice.expected or '?'}"
    return found


def _base(request: Request) -> str:
    """The address of the landing page as the client sees it: a proxy in front has TLS unless it says otherwise."""
    scheme = request.url.scheme
    if server_context(request).settings.server.behind_proxy:
        scheme = "http" if request.headers.get("x-forwarded-proto") == "http" else "https"
    return f"{scheme}://{request.url.netloc}/edr"


def _landing(base: str) -> dict[str, Any]:
    root = base.removesuffix("/edr")
    links = [
        {"href": base, "rel": "self", "type": "application/json", "title": "This document"},
        {
            "href": f"{root}/api/openapi.json",
            "rel": "service-desc",
            "type": "application/vnd.oai.openapi+json;version=3.1",
        },
        {"href": f"{root}/api/docs", "rel": "service-doc", "type": "text/html"},
        {"href": f"{base}/conformance", "rel": "conformance", "type": "application/json"},
        {"href": f"{base}/collections", "rel": "data", "type": "application/json"},
    ]
    return {"title": "gribmill", "description": "Forecasts from NOAA and ECMWF by region.", "links": links}


def _json(document: dict[str, Any]) -> Response:
    return Response(orjson.dumps(document), media_type="application/json")
