"""Opens the tiles of one or several runs in order: one by one from disk, several at once from an object store."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from gribmill.storage.layout import TileFolder
from gribmill.storage.object_path import ObjectPath, StoredPath
from gribmill.tiles.errors import TileError
from gribmill.tiles.read.run_choice import RunChoice, valid_minutes
from gribmill.tiles.read.tile import ReadAhead, Tile, cached_tile

# Requests take time rather than CPU. Some stores reject more at once, and more tiles would be held in memory.
AT_ONCE = 16
# Returns what will be read from tiles like this one.
PlanAhead = Callable[[Tile], ReadAhead | None]


def open_tiles(paths: Iterable[StoredPath], plan: PlanAhead = lambda _: None) -> Iterator[Tile | TileError]:
    """Yields each tile, or the error if it cannot be read. Tiles with equal coordinates share those of the first.

    From an object store, the parts that `plan` returns are read ahead with each tile; release its archive after use.
    """
    like: Tile | None = None
    ahead: ReadAhead | None = None
    left = deque(paths)
    while left and (like is None or not isinstance(left[0], ObjectPath)):
        found = _opened(left.popleft(), like, None)
        if like is None and isinstance(found, Tile):
            like = found
            if like.archive.remote and (ahead := plan(like)) is not None:
                like.archive.read_ahead(ahead.byte_spans(like.archive, like))
        yield found
    if like is not None and left:
        yield from _several(list(left), like, ahead)


def read_folder(folder: TileFolder) -> list[Tile]:
    """All tiles of a folder by time. Raises TileError if one cannot be read or is on another grid."""
    tiles: list[Tile] = []
    for tile in open_tiles(folder.tiles().values()):
        if isinstance(tile, TileError):
            raise tile
        tiles.append(tile)
    if not tiles:
        raise TileError(f"there are no tiles in {folder.path}")
    for tile in tiles[1:]:
        if tile.meta.grid != tiles[0].meta.grid:
            raise TileError(f"{tile.path} is on another grid than {tiles[0].path.name} of the same run")
    return tiles


def seamless_tiles(choice: RunChoice) -> list[Tile]:
    """For each valid time since the start of the newest run, the tile from the newest run that has a readable one."""
    found: dict[int, Tile] = {}
    like: Tile | None = None
    for folder in choice.folders:
        minutes = valid_minutes(folder, choice.run)
        at = dict(zip(minutes, folder.tiles().values(), strict=True))
        wanted = [minute for minute in at if minute >= 0 and minute not in found]
        for minute, tile in zip(wanted, open_tiles([at[minute] for minute in wanted]), strict=True):
            if isinstance(tile, TileError):
                continue
            like = like or tile
            if tile.meta.grid == like.meta.grid:
                found[minute] = tile
    if not found:
        raise TileError(f"no tile of {choice.folders[0].path} can be read")
    return [found[minute] for minute in sorted(found)]


def _several(paths: Sequence[StoredPath], like: Tile, ahead: ReadAhead | None) -> Iterator[Tile | TileError]:
    with ThreadPoolExecutor(AT_ONCE, "gribmill-read") as pool:
        waiting: deque[Future[Tile | TileError]] = deque()
        try:
            for path in paths:
                waiting.append(pool.submit(_opened, path, like, ahead))
                if len(waiting) == 2 * AT_ONCE:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for one in waiting:
                one.cancel()


def _opened(path: StoredPath, like: Tile | None, ahead: ReadAhead | None) -> Tile | TileError:
    try:
        return cached_tile(path, like, ahead)
    except TileError as error:
        return error
