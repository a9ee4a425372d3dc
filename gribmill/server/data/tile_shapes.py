"""A tile in other formats: its metadata and values as JSON or Arrow, and a variable as a PNG map."""

from __future__ import annotations

import tempfile
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import numpy as np
import orjson

from gribmill.errors import quoted
from gribmill.server.data.arrow_stream import ArrowColumn, arrow_stream
from gribmill.server.problems import HttpProblem
from gribmill.storage.object_path import StoredPath
from gribmill.tiles.read.tile import Tile, read_tile
from gribmill.tiles.read.units import System
from gribmill.views.data.tile import TileView

MOST_PICTURES = 64
# Limits on the number of values in a response.
MOST_VALUES_JSON, MOST_VALUES_ARROW = 2_000_000, 25_000_000
LEAST_DPI, MOST_DPI = 40, 200


def tile_json(tile: Tile, name: str, variables: Sequence[str] | None, *, values: bool) -> bytes:
    """All metadata of a tile; `path` is relative to the tiles folder. With `values`, coordinates and values as well."""
    view = TileView.copy_of(tile.meta, path=name, bytes=tile.archive.size).model_dump_json().encode()
    if not values:
        return view
    chosen = _chosen(tile, variables, MOST_VALUES_JSON)
    lat, lon = tile.latlon()
    arrays = {"lat": lat, "lon": lon, "values": {one: tile.read(one, copy=False) for one in chosen}}
    text = orjson.dumps(arrays, default=np.ascontiguousarray, option=orjson.OPT_SERIALIZE_NUMPY)
    return view[:-1] + b"," + text[1:]


def tile_arrow(tile: Tile, variables: Sequence[str] | None) -> bytes:
    """A row for each grid point, row by row from the south: its coordinates, and its values as stored in the tile."""
    chosen = _chosen(tile, variables, MOST_VALUES_ARROW)
    lat, lon = tile.latlon()
    columns = [ArrowColumn("lat", lat, {"units": "degrees_north"}), ArrowColumn("lon", lon, {"units": "degrees_east"})]
    for name in chosen:
        meta = tile.meta.variables[tile.find(name) or name]
        start, end = meta.step_minutes
        facts = {"units": meta.units, "long_name": meta.long_name, "level": meta.level, "statistic": meta.statistic}
        if meta.statistic != "instant":
            facts["window_minutes"] = f"{start},{end}"
        columns.append(ArrowColumn(name, tile.read(name, copy=False), facts))
    meta_of_all = tile.meta
    return b"".join(
        arrow_stream(
            columns,
            {
                "model": meta_of_all.model,
                "run": meta_of_all.run,
                "region": meta_of_all.region.name,
                "minutes": str(meta_of_all.minutes),
                "valid_time": f"{meta_of_all.valid_time:%Y-%m-%dT%H:%M:%SZ}",
                "rows": str(tile.shape[0]),
                "columns": str(tile.shape[1]),
                "attribution": meta_of_all.attribution or "",
            },
        )
    )


def _chosen(tile: Tile, variables: Sequence[str] | None, most: int) -> Sequence[str]:
    """The requested variables, or all; raises a problem if one is missing, or there are too many values."""
    chosen = tile.names if variables is None else variables
    for name in chosen:
        if tile.find(name) is None:
            raise HttpProblem(404, f"the tile has no variable {quoted(name)}; it has {', '.join(tile.names)}")
    count = (2 + len(chosen)) * tile.shape[0] * tile.shape[1]
    if count > most:
        raise HttpProblem(
            422, f"the request needs {count} values, more than {most}: name fewer variables, or download the .npz"
        )
    return chosen


class Pictures:
    """Maps of tiles as PNG. Drawn one at a time, because matplotlib is not thread-safe; the latest ones are cached."""

    def __init__(self) -> None:
        self._drawing = Lock()
        self._kept: OrderedDict[object, bytes] = OrderedDict()

    def png(self, path: StoredPath, tag: str, variable: str | None, units: System, dpi: int, barbs: bool) -> bytes:
        key = str(path), tag, variable, units, dpi, barbs
        with self._drawing:
            if key not in self._kept:
                self._kept[key] = _draw(read_tile(path), variable, units, dpi, barbs=barbs)
                while len(self._kept) > MOST_PICTURES:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return self._kept[key]


def _draw(tile: Tile, variable: str | None, units: System, dpi: int, *, barbs: bool) -> bytes:
    # Imported late: plotting is an optional extra.
    from gribmill.draw.map.png import draw_png
    from gribmill.draw.of_tile import barbs_of, drawable_of, main_variable

    name = variable or main_variable(tile)
    if tile.find(name) is None and not name.startswith("ws"):
        raise HttpProblem(404, f"the tile has no variable {quoted(name)}; it has {', '.join(tile.names)}")
    with tempfile.TemporaryDirectory(prefix="gribmill-") as folder:
        target = Path(folder) / "map.png"
        draw_png(drawable_of(tile, name, units), target, barbs_of(tile) if barbs else None, dpi)
        return target.read_bytes()
