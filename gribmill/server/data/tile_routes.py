"""`/api/v1/tiles/{model}/{run}/{region}/{hour}.npz`, and the same tile as JSON, PNG or Arrow."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Annotated

from fastapi import Depends, Path, Query, Request
from starlette.responses import Response

from gribmill.errors import GribmillError
from gribmill.identity import RunRef, run_time
from gribmill.server.context import Server, ServerContext
from gribmill.server.data.arrow_stream import MEDIA_TYPE as ARROW
from gribmill.server.data.parameters import ModelPath, RegionPath, RunPath, UnitsQuery, VariablesQuery, variable_names
from gribmill.server.data.point_answer import without_paths
from gribmill.server.data.run_headers import run_headers
from gribmill.server.data.runs import etag_of
from gribmill.server.data.tile_bytes import MEDIA_TYPE, TileFacts, tile_response
from gribmill.server.data.tile_shapes import LEAST_DPI, MOST_DPI, Pictures, tile_arrow, tile_json
from gribmill.server.etag import has_current
from gribmill.server.problems import HttpProblem
from gribmill.server.router import SecuredRouter
from gribmill.storage.bucket import ObjectStatus
from gribmill.storage.layout import GRID_FILE, TileFolder
from gribmill.storage.object_path import ObjectPath, StoredPath
from gribmill.tiles.format.npz_reader import identity_of
from gribmill.tiles.read.point.kept_tiles import NotKept
from gribmill.tiles.read.tile import cached_tile

router = SecuredRouter("/api/v1/tiles", tag="tiles")
_HOUR = re.compile(r"([0-9]{1,4})(?:m([0-5][0-9]))?|grid")
HourPath = Annotated[str, Path(pattern=f"^(?:{_HOUR.pattern})$", description="005, or 005m15 between the hours; grid.")]
VersionQuery = Annotated[
    str | None,
    Query(alias="v", max_length=200, description="The version of the tile; the response then never changes."),
]
ValuesQuery = Annotated[bool, Query(description="Include the values, row by row from the south; null where missing.")]
Made = Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class AskedTile:
    """The requested tile, and headers that name its run."""

    name: str
    facts: TileFacts
    headers: dict[str, str]


async def _asked_tile(server: Server, model: ModelPath, run: RunPath, region: RegionPath, hour: HourPath) -> AskedTile:
    """The current tile; raises a problem 404 if there is none."""
    facts = await _look(server, _path(server, model, run, region, hour))
    name = f"{model}/{run}/{region}/{facts.path.name}"
    return AskedTile(name, facts, await _run_headers(server, model, run, facts))


Asked = Annotated[AskedTile, Depends(_asked_tile)]


@router.get(
    "/{model}/{run}/{region}/{hour}.npz", response_class=Response, responses={200: {"content": {MEDIA_TYPE: {}}}}
)
async def download_tile(request: Request, server: Server, tile: Asked, version: VersionQuery = None) -> Response:
    """The tile itself. Supports If-None-Match and Range; `grid` is the file with the coordinates."""
    return tile_response(tile.facts, request.headers, version, server.run, tile.headers)


@router.get("/{model}/{run}/{region}/{hour}.json", response_class=Response)
async def tile_metadata(
    request: Request, server: Server, tile: Asked, values: ValuesQuery = False, variables: VariablesQuery = None
) -> Response:
    """All metadata of a tile as JSON; with `values` also the coordinates and the values of `vars`, or of all."""
    names, path = variable_names(variables), tile.facts.path
    values = values or names is not None
    make = lambda: tile_json(cached_tile(path), tile.name, names, values=values)  # noqa: E731
    return await _shaped(request, server, tile, "application/json", make, slow=values)


@router.get("/{model}/{run}/{region}/{hour}.png", response_class=Response)
async def tile_picture(
    request: Request,
    server: Server,
    tile: Asked,
    variable: Annotated[str | None, Query(alias="var", max_length=100)] = None,
    units: UnitsQuery = "metric",
    dpi: Annotated[int, Query(ge=LEAST_DPI, le=MOST_DPI)] = 100,
    barbs: bool = False,
) -> Response:
    """A variable as a map (needs the extra `plot` on the server); the temperature by default."""
    make = lambda: pictures().png(tile.facts.path, tile.facts.tag, variable, units, dpi, barbs)  # noqa: E731
    return await _shaped(request, server, tile, "image/png", make)


@router.get("/{model}/{run}/{region}/{hour}.arrow", response_class=Response, responses={200: {"content": {ARROW: {}}}})
async def tile_table(request: Request, server: Server, tile: Asked, variables: VariablesQuery = None) -> Response:
    """An Arrow IPC stream with a row for each grid point: `lat`, `lon` and the variables of `vars`, or all."""
    names = variable_names(variables)
    make = lambda: tile_arrow(cached_tile(tile.facts.path), names)  # noqa: E731
    return await _shaped(request, server, tile, ARROW, make)


async def _shaped(
    request: Request, server: ServerContext, tile: AskedTile, media_type: str, make: Made, *, slow: bool = True
) -> Response:
    """A tile in another format; 304 without converting it if the client's copy is current."""
    shape = hashlib.sha256(f"{request.url.path}?{request.url.query}".encode()).hexdigest()[:16]
    headers = {"ETag": f'"{tile.facts.tag}-{shape}"', "Cache-Control": "private, no-cache", **tile.headers}
    if has_current(request.headers, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    run = server.run_slow if slow else server.run
    made = await run(_readable, server, tile.facts.path, make)
    return Response(made, media_type=media_type, headers=headers)


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
    facts = await server.run(_stat, server, path) if isinstance(path, ObjectPath) else _stat(server, path)
    identity, built_at = identity_of(facts), datetime.fromtimestamp(facts.st_mtime, UTC)
    return TileFacts(path, etag_of(identity), facts.st_size, built_at, identity, getattr(facts, "etag", None))


def _stat(server: ServerContext, path: StoredPath) -> os.stat_result | ObjectStatus:
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise HttpProblem(404, f"there is no tile {without_paths(server.root, str(path))}") from None


async def _run_headers(server: ServerContext, model: str, run: str, tile: TileFacts) -> dict[str, str]:
    """Headers that name the tile's run, and when its hour was downloaded and built."""
    key = "hours", model, run
    look = lambda: server.weather.catalogue.hours(RunRef(model, run))  # noqa: E731
    try:
        hours = server.tiles.looked(key, look, wait=False)
    except NotKept:
        hours = await server.run(server.tiles.looked, key, look, wait=True)
    number = tile.path.name.partition(".")[0].partition("m")[0]
    known = hours.get(int(number)) if number.isdigit() else None
    return run_headers(model, run, None if known is None else known.ingested_at, tile.built_at)


def _readable(server: ServerContext, path: StoredPath, make: Made) -> bytes:
    try:
        return make()
    except GribmillError as error:
        _stat(server, path)  # 404 if it was removed meanwhile
        raise HttpProblem(422, without_paths(server.root, str(error))) from None
