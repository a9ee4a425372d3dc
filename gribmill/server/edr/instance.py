"""Instances of a collection: its runs, the newest first."""

from __future__ import annotations

from contextlib import suppress

from gribmill.errors import GribmillError
from gribmill.server.data.point_answer import PointSource
from gribmill.server.edr.collection import Collection, collection
from gribmill.server.problems import HttpProblem
from gribmill.storage.latest import LatestFiles
from gribmill.storage.layout import DataRoot, TileFolder
from gribmill.tiles.errors import TileError
from gribmill.tiles.read.point.kept_tiles import OpenFolder
from gribmill.tiles.read.point.point import STORED_TILES, Candidate, PointRequest
from gribmill.tiles.read.run_choice import folders_of
from gribmill.tiles.read.tile import cached_tile

MOST_INSTANCES = 200


def instances(source: PointSource, name: str) -> list[Collection]:
    """The newest runs of a collection. Their parameters are taken from the first and the last hour.

    Opening every tile of many runs would evict tiles from the cache that other requests need.
    """
    folder = collection(source, name).candidate.choice.folders[0]
    key = "instances", folder.model, folder.region
    root = source.tiles.root
    return source.tiles.looked(key, lambda: _runs(root, folder.model, folder.region), wait=source.wait)


def instance(source: PointSource, name: str, run: str) -> Collection:
    """One run of a collection; raises a problem 404 if there is none."""
    model, _, region = name.partition(":")
    try:
        found = source.source.candidates(PointRequest(source.tiles.root, model, run, region))
    except GribmillError:  # no such day
        found = []
    for candidate in found:
        folder = candidate.choice.folders[0]
        if (folder.model, folder.region) == (model, region):
            return Collection(candidate, source.tiles.folder(folder, wait=source.wait))
    raise HttpProblem(404, f"there is no run {run} of the collection {name}")


def _runs(root: DataRoot, model: str, region: str) -> list[Collection]:
    runs = {one.run for one in folders_of(LatestFiles(root), model, None, region) if one.model == model}
    found = []
    for run in sorted(runs, reverse=True)[:MOST_INSTANCES]:
        for candidate in STORED_TILES.candidates(PointRequest(root, model, run, region)):
            if candidate.choice.folders[0].model == model:
                found.append(Collection(candidate, _outline(candidate, candidate.choice.folders[0])))
    return found


def _outline(candidate: Candidate, folder: TileFolder) -> OpenFolder:
    paths = folder.tiles()
    tiles = [candidate.tile]
    with suppress(TileError, ValueError):  # damaged, or removed meanwhile
        tiles.append(cached_tile(paths[max(paths)]))
    return OpenFolder(0, paths, (), None, tuple(tiles), frozenset())
