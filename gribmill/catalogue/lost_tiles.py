"""Tiles whose files are gone or differ in size from the record: the cheap check of `status`, scans and ingests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from gribmill.catalogue.reads import Catalogue
from gribmill.catalogue.records import TileRecord
from gribmill.identity import RunRef
from gribmill.storage.layout import DataRoot
from gribmill.storage.object_path import StoredPath

if TYPE_CHECKING:
    from gribmill.catalogue.events import TilesLost


def lost_tiles(
    root: DataRoot, catalogue: Catalogue, run: RunRef, hour: int | None = None
) -> dict[int, tuple[str, ...]]:
    """Maps each hour (or the given one) to the regions whose recorded tile is lost; other hours are left out.

    One stat() per tile; in an object store one listing per run. `gribmill tile verify` checks the contents
    of files.
    """
    tiles = catalogue.tiles(run, lost=True)
    if hour is None:
        return lost_among(root, run, tiles)
    return lost_among(root, run, (one for one in tiles if one.hour == hour), listed=False)


def lost_among(
    root: DataRoot, run: RunRef, tiles: Iterable[TileRecord], *, listed: bool = True
) -> dict[int, tuple[str, ...]]:
    """The same for these tiles of a run; without `listed`, each object is checked separately."""
    sizes = root.tile_sizes(run) if listed else None
    found: dict[int, tuple[str, ...]] = {}
    for tile in tiles:
        if tile.lost_at is not None or not is_as_recorded(root, run, tile, sizes):
            found[tile.hour] = (*found.get(tile.hour, ()), tile.region)
    return found


def is_as_recorded(
    root: DataRoot, run: RunRef, tile: TileRecord, sizes: Mapping[StoredPath, int] | None = None
) -> bool:
    """Whether the tile's file exists with the recorded size; `sizes` are those of a listing."""
    path = root.tile(run.hour(tile.hour).tile(tile.region))
    if sizes is not None:
        return sizes.get(path) == tile.bytes
    try:
        return path.stat().st_size == tile.bytes
    except (FileNotFoundError, NotADirectoryError):
        return False


def loss_events(run: RunRef, lost: Mapping[int, Iterable[str]], seen_at: datetime) -> Iterator[TilesLost]:
    """The events to record. `seen_at` is when the check started: tiles built since then are not lost."""
    from gribmill.catalogue.events import TilesLost  # late: `status` only reads

    for hour, regions in lost.items():
        yield TilesLost(run.hour(hour), tuple(regions), seen_at)
