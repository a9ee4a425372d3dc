"""Opens the tiles of a run in order: one by one from the disk, several at once from an object store."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from gribmill.storage.object_path import ObjectPath, StoredPath
from gribmill.tiles.errors import TileError
from gribmill.tiles.read.tile import ReadAhead, Tile, cached_tile

# Requests take time rather than CPU. More would be refused by some stores, and keep more tiles in memory.
AT_ONCE = 16
# What will be read from tiles like this one.
PlanAhead = Callable[[Tile], ReadAhead | None]


def open_tiles(paths: Iterable[StoredPath], plan: PlanAhead = lambda _: None) -> Iterator[Tile | TileError]:
    """Each tile, or why it cannot be read. Coordinates are those of the first one, if they are equal.

    What `plan` names is read ahead with a tile from an object store; release its archive after use.
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
