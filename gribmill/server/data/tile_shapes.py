"""A tile in other shapes: its metadata as JSON, and a variable as a PNG map."""

from __future__ import annotations

import tempfile
from collections import OrderedDict
from pathlib import Path
from threading import Lock

from gribmill.errors import quoted
from gribmill.server.problems import HttpProblem
from gribmill.storage.object_path import StoredPath
from gribmill.tiles.read.tile import Tile, read_tile
from gribmill.tiles.read.units import System
from gribmill.views.data.tile import TileView

MOST_PICTURES = 64
LEAST_DPI, MOST_DPI = 40, 200


def tile_json(tile: Tile, name: str) -> bytes:
    """All metadata of a tile; `path` is its place below the tiles."""
    return TileView.copy_of(tile.meta, path=name, bytes=tile.archive.size).model_dump_json().encode()


class Pictures:
    """Maps of tiles as PNG. matplotlib draws one at a time; the last ones are kept."""

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
    # Late: pictures are an extra.
    from gribmill.draw.map.png import draw_png
    from gribmill.draw.of_tile import barbs_of, drawable_of, main_variable

    name = variable or main_variable(tile)
    if tile.find(name) is None and not name.startswith("ws"):
        raise HttpProblem(404, f"the tile has no variable {quoted(name)}; it has {', '.join(tile.names)}")
    with tempfile.TemporaryDirectory(prefix="gribmill-") as folder:
        target = Path(folder) / "map.png"
        draw_png(drawable_of(tile, name, units), target, barbs_of(tile) if barbs else None, dpi)
        return target.read_bytes()
