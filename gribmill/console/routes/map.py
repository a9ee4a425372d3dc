"""The map page, and the data that its scripts need besides the API: hours, colours, units, coastlines."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any

from fastapi import Query, Request
from starlette.responses import JSONResponse, Response

from gribmill.console.map.coastline_file import coastline_file
from gribmill.console.map.colours import colour_tables
from gribmill.console.map.variables import shown_variable
from gribmill.console.routes.visit import CurrentVisit
from gribmill.errors import GribmillError
from gribmill.identity import MODEL_ID, REGION_NAME, RUN_ID, run_time
from gribmill.regions.box import Box
from gribmill.server.context import Server
from gribmill.server.data.runs import tile_url
from gribmill.server.etag import has_current
from gribmill.server.problems import HttpProblem
from gribmill.server.router import SecuredRouter
from gribmill.storage.layout import TileFolder
from gribmill.tiles.format.meta import ARRAY_NAME
from gribmill.tiles.format.npz_reader import identity_of

router = SecuredRouter(tag="console", in_docs=False)

# Coastlines, colours and units change only with a new version of gribmill.
KEEP = "private, max-age=3600"


@router.get("/map")
async def console_map(visit: CurrentVisit) -> Response:
    """The map page. Its scripts read the tiles."""
    return await visit.show("map.html", "Map", dict, active="map")


@router.get("/console/map/tiles")
async def console_map_tiles(
    server: Server,
    model: Annotated[str, Query(pattern=f"^{MODEL_ID.pattern}$")],
    run: Annotated[str, Query(pattern=f"^{RUN_ID.pattern}$")],
    region: Annotated[str, Query(pattern=f"^{REGION_NAME.pattern}$")],
) -> list[dict[str, Any]]:
    """The available tiles of a run and region: minutes since the start of the run, and the URL of the current version.

    The fragment of a URL is the tile's size in bytes.
    """
    try:
        run_time(run)
    except GribmillError as error:
        raise HttpProblem(422, str(error)) from None
    return await server.run(_tiles, TileFolder(server.root.tile_root, model, run, region))


def _tiles(folder: TileFolder) -> list[dict[str, Any]]:
    found = []
    for minutes, path in folder.tiles().items():
        try:
            facts = path.stat()
        except FileNotFoundError:  # removed since it was listed
            continue
        url = tile_url(folder.model, folder.run, folder.region, path, identity_of(facts))
        found.append({"minutes": minutes, "url": f"{url}#{facts.st_size}"})
    return found


@router.get("/console/map/colours", response_class=Response)
async def console_map_colours() -> Response:
    """The colour scales."""
    return JSONResponse(colour_tables(), headers={"Cache-Control": KEEP})


@router.get("/console/map/variable", response_class=Response)
async def console_map_variable(
    name: Annotated[str, Query(pattern=f"^{ARRAY_NAME}$")],
    units: Annotated[str, Query(max_length=2000)] = "",
) -> Response:
    """The scale and the units of a variable."""
    return JSONResponse(shown_variable(name, units), headers={"Cache-Control": KEEP})


@router.get("/console/map/coastlines.npz", response_class=Response)
async def console_map_coastlines(
    request: Request, server: Server, box: Annotated[str, Query(max_length=100, description="W,S,E,N in degrees")]
) -> Response:
    """Coastlines, borders and states near a box."""
    try:
        asked = Box.parse(box)
    except GribmillError as error:
        raise HttpProblem(422, str(error), errors=[("query.box", "not a box")]) from None
    body = await server.run_slow(coastline_file, asked.west, asked.south, asked.east, asked.north)
    tag = f'"{hashlib.sha256(body).hexdigest()[:24]}"'
    headers = {"Cache-Control": KEEP, "ETag": tag}
    if has_current(request.headers, tag):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/zip", headers=headers)
