"""`/api/v1/tiles/{model}/{run}/{region}/{hour}.npz`, and the same tile as JSON or PNG."""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated

from fastapi import Path, Query, Request
from starlette.responses import Response

from gribmill.errors import GribmillError
from gribmill.identity import run_time
from gribmill.server.context import Server, ServerContext
from gribmill.server.data.parameters import ModelPath, RegionPath, RunPath, UnitsQuery
from gribmill.server.data.point_answer import without_paths
from gribmill.server.data.runs import etag_of
from gribmill.server.data.tile_bytes import MEDIA_TYPE, TileFacts, tile_response
from gribmill.server.data.tile_shapes import LEAST_DPI, MOST_DPI, Pictures, tile_json
from gribmill.server.problems import HttpProblem
from gribmill.server.router import SecuredRouter
from gribmill.storage.layout import GRID_FILE, TileFolder
from gribmill.storage.object_path import ObjectPath, StoredPath
from gribmill.tiles.format.npz_reader import identity_of
from gribmill.tiles.read.tile import cached_tile

router = SecuredRouter("/api/v1/tiles", tag="tiles")
_HOUR = re.compile(r"([0-9]{1,4})(?:m([0-5][0-9]))?|grid")
HourPath = Annotated[str, Path(pattern=f"^(?:{_HOUR.pattern})$", description="005, or 005m15 between the hours; grid.")]
VersionQuery = Annotated[
    str | None, Query(alias="v", max_length=200, description="The version of the tile: such an answer never changes.")
]
ARROW = "application/vnd.apache.arrow.stream"


@router.get(
    "/{model}/{run}/{region}/{hour}.npz", response_class=Response, responses={200: {"content": {MEDIA_TYPE: {}}}}
)
async def download_tile(
    request: Request,
    server: Server,
    model: ModelPath,
    run: RunPath,
    region: RegionPath,
    hour: HourPath,
    version: VersionQuery = None,
) -> Response:
    """The tile itself. Answers If-None-Match and Range; `grid` is the file with the coordinates."""
    path = _path(server, model, run, region, hour)
    return tile_response(await _look(server, path), request.headers, version, server.run)


@router.head("/{model}/{run}/{region}/{hour}.npz", include_in_schema=False)
async def tile_headers(
    request: Request,
    server: Server,
    model: ModelPath,
    run: RunPath,
    region: RegionPath,
    hour: HourPath,
    version: VersionQuery = None,
) -> Response:
    """Size and ETag of a tile."""
    path = _path(server, model, run, region, hour)
    return tile_response(await _look(server, path), request.headers, version, server.run)


@router.get("/{model}/{run}/{region}/{hour}.json", response_class=Response)
async def tile_metadata(server: Server, model: ModelPath, run: RunPath, region: RegionPath, hour: HourPath) -> Response:
    """All metadata of a tile as JSON."""
    path = _path(server, model, run, region, hour)
    tag = (await _look(server, path)).tag
    name = f"{model}/{run}/{region}/{path.name}"
    body = await server.run(_readable, server, lambda: tile_json(cached_tile(path), name))
    return Response(body, media_type="application/json", headers={"ETag": f'"{tag}-json"'})


@router.get("/{model}/{run}/{region}/{hour}.png", response_class=Response)
async def tile_picture(
    server: Server,
    model: ModelPath,
    run: RunPath,
    region: RegionPath,
    hour: HourPath,
    variable: Annotated[str | None, Query(alias="var", max_length=100)] = None,
    units: UnitsQuery = "metric",
    dpi: Annotated[int, Query(ge=LEAST_DPI, le=MOST_DPI)] = 100,
    barbs: bool = False,
) -> Response:
    """A variable as a map (needs the extra `plot` on the server); the temperature by default."""
    path = _path(server, model, run, region, hour)
    tag = (await _look(server, path)).tag
    draw = lambda: pictures().png(path, tag, variable, units, dpi, barbs)  # noqa: E731
    return Response(await server.run(_readable, server, draw), media_type="image/png")


@router.get("/{model}/{run}/{region}/{hour}.arrow", response_class=Response)
async def tile_arrow(model: ModelPath, run: RunPath, region: RegionPath, hour: HourPath) -> Response:
    """Not offered: 406 with the shapes that are."""
    raise HttpProblem(406, f"{ARROW} is not offered: ask for .npz (the arrays), .json (the metadata) or .png (a map)")


@cache
def pictures() -> Pictures:
    return Pictures()


def _path(server: ServerContext, model: str, run: str, region: str, hour: str) -> StoredPath:
    try:
        run_time(run)
    except GribmillError as error:
        raise HttpProblem(422, str(error)) from None
    folder = TileFolder(server.root.tile_root, model, run, region)
    found = _HOUR.fullmatch(hour)
    if found is None or found[1] is None:
        return folder.path / GRID_FILE
    return folder.tile(60 * int(found[1]) + int(found[2] or 0))


async def _look(server: ServerContext, path: StoredPath) -> TileFacts:
    """The tile as it is now; a problem 404 if there is none."""
    try:
        facts = await server.run(path.stat) if isinstance(path, ObjectPath) else path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise HttpProblem(404, f"there is no tile {without_paths(server.root, str(path))}") from None
    return TileFacts(path, etag_of(identity_of(facts)), facts.st_size, getattr(facts, "etag", None))


def _readable(server: ServerContext, make: object) -> bytes:
    try:
        found: bytes = make()  # type: ignore[operator]
        return found
    except GribmillError as error:
        raise HttpProblem(422, without_paths(server.root, str(error))) from None
