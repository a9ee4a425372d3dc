"""gribmill: `python gribmill_way.py point|write TILES SOURCE LAT LON`, where TILES is a folder or a URL."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

from stopwatch_store import measure

from gribmill.storage.atomic import write_atomic
from gribmill.storage.layout import DataRoot, TileFolder
from gribmill.storage.object_path import is_url, object_path
from gribmill.tiles.format.meta_member import check_generation
from gribmill.tiles.read.point.point import point


def read_point(place: str, lat: float, lon: float) -> dict[str, list[float]]:
    series = point(lat, lon, data=place, model="hrrr", run="newest", units="native")
    return {name: list(column.values) for name, column in series.columns.items()}


def write_tiles(place: str, source: Path) -> int:
    """The tiles of `source` as the chain writes them: with the fence against older writers."""
    root = DataRoot(Path(place) if not is_url(place) else source, object_path(place) if is_url(place) else None)
    for folder in DataRoot(source).tile_folders("hrrr"):
        target = TileFolder(root.tile_root, folder.model, folder.run, folder.region)
        for minutes, path in folder.tiles().items():
            written = target.tile(minutes)
            write_atomic(written, [path.read_bytes()], partial(check_generation, written, 1))
    return len(folder.tiles())


def main(what: str, place: str, source: str, lat: str, lon: str) -> None:
    work: Any = partial(read_point, place, float(lat), float(lon))
    measure(work if what == "point" else partial(write_tiles, place, Path(source)))


main(*sys.argv[1:6])
