"""The generation of a tile: the number of its hour's content that it was cut from. It only grows."""

from __future__ import annotations

import json

from gribmill.storage.atomic import Superseded
from gribmill.storage.object_path import StoredPath
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.meta import LIMIT_META_BYTES
from gribmill.tiles.format.npz_reader import Archive
from gribmill.tiles.read.tile import META


def generation_of(path: StoredPath) -> int:
    """The generation of the existing tile; 0 if there is no tile, or it is damaged or has no generation."""
    try:
        archive = Archive(path)
        if META not in archive or archive.entries[META].raw_size > LIMIT_META_BYTES:
            return 0
        found = json.loads(archive.read(META).tobytes())
    except (TileError, OSError, ValueError, RecursionError):
        return 0
    generation = found.get("generation") if isinstance(found, dict) else None
    return generation if isinstance(generation, int) and generation > 0 else 0


def check_generation(path: StoredPath, generation: int) -> None:
    """Raises Superseded if the existing tile has a later generation: this writer was overtaken."""
    there = generation_of(path)
    if there > generation:
        raise Superseded(
            f"{path} was built from newer messages meanwhile (generation {there}):"
            f" this one, of generation {generation}, is not written"
        )
