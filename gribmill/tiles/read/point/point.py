"""The forecast at a point: one row per hour, from the tiles on disk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from gribmill.data_root import data_root
from gribmill.storage.layout import DataRoot, TileFolder
from gribmill.tiles.errors import TileError
from gribmill.tiles.read.point.locate import Sampling, check_latlon, locate_in_tile
from gribmill.tiles.read.point.sample import sample_folder
from gribmill.tiles.read.point.series import Column, Series
from gribmill.tiles.read.tile import Tile, cached_tile
from gribmill.tiles.read.units import SYSTEMS, System, convert, shown_unit


def point(
    lat: float,
    lon: float,
    *,
    data: str | Path | None = None,
    model: str | None = None,
    run: str | None = None,
    region: str | None = None,
    variables: Iterable[str] | None = None,
    method: Sampling = "nearest",
    units: System = "metric",
) -> Series:
    """The forecast at a point, from the finest tiles that contain it, or from those that are named.

    Sums such as precipitation are the amounts since the row before, or over the time range that `windows` says; they
    never overlap. Means likewise. Extremes have the time range of their message.
    """
    if units not in SYSTEMS or method not in ("nearest", "bilinear"):
        raise TileError(f"units are one of {', '.join(SYSTEMS)}; the method is nearest or bilinear")
    lat, lon = check_latlon(lat, lon)
    root = data_root(data)
    folder, others = choose_folder(root, lat, lon, model, run, region)
    samples = sample_folder(folder, lat, lon, method, None if variables is None else list(variables))
    columns = {column.name: _shown(column, units) for column in samples.columns()}
    first = samples.first
    return Series(
        folder.model,
        folder.run,
        folder.region,
        lat,
        lon,
        samples.location.lat,
        samples.location.lon,
        samples.location.distance_km,
        method,
        tuple(samples.steps),
        columns,
        (*samples.notes, *_also(others)),
        first.meta.attribution,
    )


def choose_folder(
    root: Path, lat: float, lon: float, model: str | None, run: str | None, region: str | None
) -> tuple[TileFolder, list[TileFolder]]:
    """The tiles with the finest grid that contain the point, in each model's newest run; and the other choices."""
    found: list[tuple[float, int, TileFolder]] = []
    newest: dict[str, str] = {}
    looked_at = 0
    for folder in DataRoot(root).tile_folders(model, run, region):
        if newest.get(folder.model, folder.run) != folder.run:
            continue
        looked_at += 1
        tiles = folder.tiles()
        tile = _any_tile(tiles.values())
        if tile is None or locate_in_tile(tile, lat, lon) is None:
            continue
        newest[folder.model] = folder.run
        found.append((tile.meta.grid.cell_km, -len(tiles), folder))
    if not found:
        what = " ".join(part for part in (model, run, region) if part) or "any model"
        hint = "none of the regions contains it" if looked_at else f"there are no tiles of {what}"
        raise TileError(f"no tile under {DataRoot(root).tiles} has a forecast for {lat:g}, {lon:g}: {hint}")
    found.sort(key=lambda item: (*item[:2], item[2].model, item[2].region))
    ordered = [folder for _, _, folder in found]
    return ordered[0], ordered[1:]


def _any_tile(paths: Iterable[Path]) -> Tile | None:
    """The first readable tile."""
    for path in paths:
        try:
            return cached_tile(path)
        except TileError:
            continue
    return None


def _shown(column: Column, system: System) -> Column:
    units = shown_unit(column.name, column.units, system)
    values = convert(np.asarray(column.values, np.float64), column.name, column.units, system)
    return replace(column, units=units, values=tuple(float(value) for value in values))


def _also(others: Sequence[TileFolder]) -> list[str]:
    if not others:
        return []
    choices = ", ".join(f"{folder.model}/{folder.region}" for folder in others)
    return [f"the point is also in {choices}: choose with model and region"]
