"""Reads the member `meta` of a tile or of grid.npz: all of it, only its grid, or only its generation."""

from __future__ import annotations

import json
from typing import Any

from gribmill.storage.errors import Superseded
from gribmill.storage.object_path import StoredPath
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.meta import LIMIT_META_BYTES, META, Meta, parse_meta
from gribmill.tiles.format.npz_reader import Archive


def read_meta(archive: Archive) -> Meta:
    """The validated `meta` of a tile. Raises TileError if the NPZ file has none."""
    entry = archive.entries.get(META)
    if entry is None:
        raise TileError(f"{archive.path} is an NPZ file but not a tile: it has no `meta`")
    if entry.raw_size > LIMIT_META_BYTES:
        raise TileError(f"{archive.path}: its meta has {entry.raw_size} bytes, more than {LIMIT_META_BYTES}")
    array = archive.read(META)
    if array.dtype.kind != "S" or array.shape != ():
        raise TileError(f"{archive.path}: its meta is {array.dtype}{array.shape}, not a single text")
    return parse_meta(array.tobytes(), str(archive.path))


def read_meta_grid(archive: Archive) -> Any:
    """The grid record of a grid.npz."""
    if META not in archive or archive.entries[META].raw_size > LIMIT_META_BYTES:
        raise TileError(f"{archive.path} is not a grid file: it has no usable `meta`")
    try:
        return json.loads(archive.read(META).tobytes())["grid"]
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise TileError(f"{archive.path}: its meta is wrong: {error}") from None


def generation_of(path: StoredPath) -> int:
    """The generation of an existing tile; 0 if it does not exist, is damaged or has no generation."""
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
    """Raises Superseded if the existing tile has a later generation, written by another process meanwhile."""
    there = generation_of(path)
    if there > generation:
        raise Superseded(
            f"{path} was built from newer messages meanwhile (generation {there}):"
            f" this one, of generation {generation}, is not written"
        )
