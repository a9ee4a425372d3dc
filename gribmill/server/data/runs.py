"""Runs and their completeness, from the catalogue, or from the tile folders for runs that it does not have."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise

from gribmill.catalogue.reads import MOST_RUNS
from gribmill.identity import run_time
from gribmill.pipeline.context import Context
from gribmill.server.data.point_answer import PointSource
from gribmill.server.problems import HttpProblem
from gribmill.storage.layout import DataRoot, TileFolder
from gribmill.storage.object_path import StoredPath
from gribmill.tiles.format.npz_reader import Identity
from gribmill.tiles.read.point.kept_tiles import OpenFolder
from gribmill.tiles.read.point.point import PointRequest
from gribmill.tiles.read.run_choice import RunChoice, no_tiles
from gribmill.views.data.run import LatestRunView, ModelMetaView, RunView


def runs_of(context: Context, model: str | None, before: str | None, limit: int) -> list[RunView]:
    """Runs, newest first, older than the run `before`.

    Runs with the same start time are all on one page, which may be longer than `limit`; the next page starts before
    that time.
    """
    catalogue = context.catalogue
    records = {(one.run_id, one.model_id): one for one in catalogue.runs(model, MOST_RUNS)}
    folders = _on_disk(context.root, model)
    keys = sorted((key for key in {*records, *folders} if before is None or key[0] < before), reverse=True)
    last = keys[:limit][-1][0] if keys else ""
    views = []
    for key in (one for one in keys if one[0] >= last):
        record = records.get(key)
        if record is None:
            views.append(RunView.of_folders(folders[key]))
        else:
            tiles = catalogue.tiles(record.ref)
            if context.root.tiles_at is None:
                # Removed by hand, and not yet noticed by a scan.
                here = {(one.region, minutes) for one in folders.get(key, ()) for minutes in one.tiles()}
                tiles = [tile for tile in tiles if (tile.region, 60 * tile.hour) in here]
            views.append(RunView.of(record, tiles, catalogue.ingested_at(record.ref)))
    return views


def latest_run(source: PointSource, model: str, region: str | None, *, complete: bool) -> list[LatestRunView]:
    """The run to read for each region of a model; raises a problem 404 if there is none."""
    tiles = source.tiles
    request = PointRequest(tiles.root, model=model, region=region, run="complete" if complete else "newest")
    choices = [candidate.choice for candidate in tiles.candidates(request)]
    if not choices:
        raise HttpProblem(404, no_tiles(tiles.root, model, None, region))
    if complete:
        whole = [choice for choice in choices if choice.complete]
        if not whole:
            raise HttpProblem(404, f"no run of {model}{f' over {region}' if region else ''} is complete")
        choices = whole
    return [_latest(source, choice) for choice in choices]


def model_meta(source: PointSource, model: str, update_interval: int | None) -> ModelMetaView:
    """When a model was last updated: its newest complete run in any region."""
    try:
        (newest, *_) = sorted(latest_run(source, model, None, complete=True), key=lambda one: one.run, reverse=True)
    except HttpProblem:
        newest = None
    if newest is None:
        return ModelMetaView(
            model=model,
            run=None,
            last_run_initialisation_time=None,
            last_run_availability_time=None,
            last_run_modification_time=None,
            data_end_time=None,
            temporal_resolution_seconds=None,
            update_interval_seconds=update_interval,
        )
    steps = [*TileFolder(source.tiles.root.tile_root, newest.model, newest.run, newest.region).tiles()]
    begin = run_time(newest.run)
    built = None if newest.built_at is None else int(newest.built_at.timestamp())
    return ModelMetaView(
        model=model,
        run=newest.run,
        last_run_initialisation_time=int(begin.timestamp()),
        last_run_availability_time=built,
        last_run_modification_time=built,
        data_end_time=int((begin + timedelta(minutes=steps[-1])).timestamp()) if steps else None,
        temporal_resolution_seconds=60 * min((b - a for a, b in pairwise(steps)), default=60),
        update_interval_seconds=update_interval,
    )


def tile_url(model: str, run: str, region: str, path: StoredPath, identity: Identity | None = None) -> str:
    """The URL of a tile. With `identity`, it names this exact content, which may be cached forever."""
    version = f"?v={etag_of(identity)}" if identity else ""
    return f"/api/v1/tiles/{model}/{run}/{region}/{path.name}{version}"


def etag_of(identity: Identity) -> str:
    """Identifies the content of a tile: the ETag of an object, or the size and modification time of a file."""
    first, size, time = identity
    if isinstance(first, str) and first:
        return "".join(one for one in first if one.isalnum() or one == "-")
    return f"{size:x}-{time:x}"


def _latest(source: PointSource, choice: RunChoice) -> LatestRunView:
    folder = choice.folders[0]
    state, times = source.tiles.folder(folder), source.folder_times(folder)
    return LatestRunView.of(choice, times.ingested_at, times.built_at, _urls(folder, state))


def _urls(folder: TileFolder, state: OpenFolder) -> Iterator[str]:
    for path, identity in zip(state.paths.values(), state.identities, strict=True):
        # The minutes of an hour are in folders of several members.
        model = path.parent.parent.parent.name
        yield tile_url(model, folder.run, folder.region, path, identity)


def _on_disk(root: DataRoot, model: str | None) -> dict[tuple[str, str], list[TileFolder]]:
    """Runs with tiles on the local disk; object stores are not listed."""
    if root.tiles_at is not None:
        return {}
    found: dict[tuple[str, str], list[TileFolder]] = {}
    for folder in root.tile_folders(model):
        found.setdefault((folder.run, folder.model), []).append(folder)
    return found
