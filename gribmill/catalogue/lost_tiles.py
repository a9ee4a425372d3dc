"""Tiles whose files are gone or differ in size from the record: the cheap check of `status`, scans and ingests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from gribmill.catalogue.reads import Catalogue
from gribmill.catalogue.records import TileRecord
from gribmill.identity import RunRef
from gribmill.storage.layout import DataRoot, ListedTiles

if TYPE_CHECKING:
    from gribmill.catalogue.events import TilesLost


def lost_tiles(
    root: DataRoot, catalogue: Catalogue, run: RunRef, hour: int | None = None
) -> dict[int, tuple[str, ...]]:
    """Maps each hour (or the given one) to the regions whose recorded tile is lost; other hours are left out.

    One listing per run, or one stat() per tile of an hour. `gribmill tile verify` checks the contents of files.
    """
    tiles = catalogue.tiles(run, lost=True)
    if hour is None:
        return lost_among(root, run, tiles, root.listed_tiles(run))
    return lost_among(root, run, (one for one in tiles if one.hour == hour))


def lost_among(
    root: DataRoot, run: RunRef, tiles: Iterable[TileRecord], listed: ListedTiles | None = None
) -> dict[int, tuple[str, ...]]:
    """The same for these tiles of a run; without a listing, each is checked separately."""
    found: dict[int, tuple[str, ...]] = {}
    for tile in tiles:
        if tile.lost_at is not None or not _exists(root, run, tile, listed):
            found[tile.hour] = (*found.get(tile.hour, ()), tile.region)
    return found


def is_as_recorded(root: DataRoot, run: RunRef, tile: TileRecord) -> bool:
    """Whether the tile's file exists with the recorded size."""
    path = root.tile(run.hour(tile.hour).tile(tile.region))
    try:
        return path.stat().st_size == tile.bytes
    except (FileNotFoundError, NotADirectoryError):
        return False


def _exists(root: DataRoot, run: RunRef, tile: TileRecord, listed: ListedTiles | None) -> bool:
    if listed is not None and listed.sizes.get((tile.region, tile.hour)) == tile.bytes:
        return True
    # A listing of files does not follow links; one of objects is complete, and each check would be a request.
    is_final = listed is not None and root.tiles_at is not None
    return not is_final and is_as_recorded(root, run, tile)


def loss_events(run: RunRef, lost: Mapping[int, Iterable[str]], seen_at: datetime) -> Iterator[TilesLost]:
    """The events to record. `seen_at` is when the check started: tiles built since then are not lost."""
    from gribmill.catalogue.events import TilesLost  # late: `status` only reads

    for hour, regions in lost.items():
        yield TilesLost(run.hour(hour), tuple(regions), seen_at)
