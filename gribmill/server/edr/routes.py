"""`/edr`: the landing page, and descriptions of collections and their instances."""

from __future__ import annotations

from typing import Any

import orjson
from fastapi import Request
from starlette.responses import Response

from gribmill.server.context import Server, server_context
from gribmill.server.data.point_answer import PointSource, answered
from gribmill.server.edr.collection import collection, collections, description, instance_description
from gribmill.server.edr.instance import instance, instances
from gribmill.server.edr.query import parse_optional_bbox, parse_times
from gribmill.server.edr.values import CollectionId, RunId, Text
from gribmill.server.router import SecuredRouter

router = SecuredRouter("/edr", tag="OGC API – EDR")

CONFORMANCE = [
    "http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core",
    "http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/collections",
    "http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/core",
    "http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/collections",
    "http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/json",
    "http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/covjson",
    "http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/queries",
    "http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/instances",
]


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
    """The conformance classes that are implemented."""
    return _json({"conformsTo": CONFORMANCE})


@router.get("/collections", response_class=Response)
async def edr_collections(request: Request, server: Server, bbox: Text = None, datetime: Text = None) -> Response:
    """One collection for each model and region; only those that overlap `bbox` and `datetime`, if given."""
    base, bounds, times = _base(request), parse_optional_bbox(bbox), parse_times(datetime)

    def answer(source: PointSource) -> list[dict[str, Any]]:
        return [description(base, one) for one in collections(source) if one.fits(bounds, times)]

    found = await answered(server, answer)
    links = [{"href": f"{base}/collections", "rel": "self", "type": "application/json"}]
    return _json({"links": links, "collections": found})


@router.get("/collections/{collection_id}", response_class=Response)
async def edr_collection(request: Request, server: Server, collection_id: CollectionId) -> Response:
    """One collection: its extent, parameters and queries."""
    base = _base(request)
    return _json(await answered(server, lambda source: description(base, collection(source, collection_id))))


@router.get("/collections/{collection_id}/instances", response_class=Response)
async def edr_instances(
    request: Request, server: Server, collection_id: CollectionId, bbox: Text = None, datetime: Text = None
) -> Response:
    """The runs of a collection, the newest first; only those that overlap `bbox` and `datetime`, if given."""
    base, bounds, times = _base(request), parse_optional_bbox(bbox), parse_times(datetime)

    def answer(source: PointSource) -> list[dict[str, Any]]:
        return [instance_description(base, one) for one in instances(source, collection_id) if one.fits(bounds, times)]

    found = await answered(server, answer)
    address = f"{base}/collections/{collection_id}"
    links = [
        {"href": f"{address}/instances", "rel": "self", "type": "application/json"},
        {"href": address, "rel": "collection", "type": "application/json"},
    ]
    return _json({"links": links, "instances": found})


@router.get("/collections/{collection_id}/instances/{run}", response_class=Response)
async def edr_instance(request: Request, server: Server, collection_id: CollectionId, run: RunId) -> Response:
    """One run of a collection: its extent, parameters and queries."""
    base = _base(request)
    return _json(
        await answered(server, lambda source: instance_description(base, instance(source, collection_id, run)))
    )


def _base(request: Request) -> str:
    """The URL of the landing page as the client sees it: a proxy is assumed to use TLS unless it says otherwise."""
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
