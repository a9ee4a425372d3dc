"""A cache of requested tiles: kept open, with the parts that were read, until they are replaced.

A request served from the cache takes about a millisecond and no I/O. Folder listings are cached for a second, or ten in
an object store; the values of a run are cached in blocks of points, where all hours of a point are next to each other.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock, RLock
from typing import TypeVar

import numpy as np

from gribmill.arrays import Values
from gribmill.storage.layout import DataRoot, TileFolder
from gribmill.storage.object_path import StoredPath
from gribmill.tiles.errors import TileError, VanishedRun
from gribmill.tiles.format.npz_reader import Identity, identity_of
from gribmill.tiles.read.open_tiles import open_tiles
from gribmill.tiles.read.point.place import Place, Sampling, TileLocations
from gribmill.tiles.read.point.point import STORED_TILES, Candidate, PointRequest
from gribmill.tiles.read.point.point_table import PointTable
from gribmill.tiles.read.point.sample import Samples, derivable, sample_folder
from gribmill.tiles.read.point.sample_layout import SampleLayout
from gribmill.tiles.read.tile import ReadAhead, Tile

LOOK_SECONDS, LOOK_SECONDS_REMOTE = 1.0, 10.0
BLOCK_POINTS = 2048
MOST_LOOKS = 512
# Layouts of all folders together: clients choose the columns, and a layout of many hours takes tens of kilobytes.
MOST_LAYOUTS = 128
# Size of an open tile's metadata, and how many tiles may be open even with little memory.
TILE_BYTES, LEAST_TILES = 64 * 2**10, 500
# How much one thread reads at once, besides what is cached.
READ_BYTES, FLOAT_BYTES = 32 * 2**20, 4
# By the name of the array: points × hours, as bytes, because copying rows of many arrays takes five times as long.
Blocks = dict[str, memoryview]
Found = TypeVar("Found")


class NotKept(Exception):
    """The request needs files to be read, which may take a while."""


class KeptTiles:
    """A TileSource for many requests, from several threads.

    Values take up to `limit_bytes`, the metadata of open tiles a quarter of that.
    """

    def __init__(self, root: DataRoot, limit_bytes: int) -> None:
        self.root = root
        self._seconds = LOOK_SECONDS_REMOTE if root.tiles_at else LOOK_SECONDS
        self._limit_bytes = limit_bytes
        self._most_tiles = max(LEAST_TILES, limit_bytes // (4 * TILE_BYTES))
        self._looks: OrderedDict[object, tuple[float, object]] = OrderedDict()
        self._folders: OrderedDict[TileFolder, OpenFolder] = OrderedDict()
        self._layouts: OrderedDict[tuple[int, tuple[str, ...] | None], SampleLayout] = OrderedDict()
        self._blocks: OrderedDict[tuple[int, str, int], memoryview] = OrderedDict()
        self.bytes_kept = 0
        self._numbers = 0
        self._lock, self._looking = Lock(), RLock()

    @property
    def open_tiles(self) -> int:
        return sum(len(one.tiles) for one in self._folders.values())

    @property
    def layouts_kept(self) -> int:
        return len(self._layouts)

    def candidates(self, request: PointRequest) -> Sequence[Candidate]:
        return self.found_candidates(request, wait=True)

    def sample(
        self, folder: TileFolder, places: Sequence[Place], method: Sampling, wanted: list[str] | None
    ) -> list[Samples]:
        return self.samples(folder, places, method, wanted, wait=True)

    def found_candidates(self, request: PointRequest, *, wait: bool) -> Sequence[Candidate]:
        """The candidates from a recent listing. Without `wait`, raises NotKept if there is none."""
        key = request.model, request.region, request.run
        return self.looked(key, lambda: STORED_TILES.candidates(request), wait=wait)

    def samples(
        self, folder: TileFolder, places: Sequence[Place], method: Sampling, wanted: list[str] | None, *, wait: bool
    ) -> list[Samples]:
        """All hours at each place. Without `wait`, raises NotKept if anything must be read."""
        state = self.folder(folder, wait=wait)
        if method == "nearest" and state.tiles:
            try:
                table = self._table(state, places, wanted, wait=wait)
                return [table.samples(number) for number in range(len(places))]
            except TileError:
                pass  # damaged, or replaced since the listing: read without the cache, with notes
        if not wait:
            raise NotKept
        try:
            found = sample_folder(folder, places, method, wanted)
        except TileError:
            check_there(folder)
            raise
        if any(one.unread for one in found):
            check_there(folder)
        return found

    def table(
        self, folder: TileFolder, places: Sequence[Place], wanted: list[str] | None, *, wait: bool
    ) -> PointTable | None:
        """The values at the nearest points, read together; None if the tiles of the folder cannot be cached.

        Raises TileError if a tile is damaged or does not contain all places.
        """
        state = self.folder(folder, wait=wait)
        return self._table(state, places, wanted, wait=wait) if state.tiles else None

    def folder(self, folder: TileFolder, *, wait: bool = True) -> OpenFolder:
        """The tiles of a folder from a recent listing; raises VanishedRun if there are none."""
        found = self.looked(folder, lambda: self._open(folder), wait=wait)
        if not found.paths:
            raise _removed(folder)
        return found

    def look_again(self) -> None:
        """Forget all listings: one of them names a run that was removed."""
        with self._looking:
            self._looks.clear()

    def looked(self, key: object, look: Callable[[], Found], *, wait: bool) -> Found:
        """The result of `look`, from less than a second ago or from now."""
        found = self._looks.get(key)
        if found is not None and found[0] > time.monotonic():
            return found[1]  # type: ignore[return-value]  # the key says which look it was
        if not wait:
            raise NotKept
        with self._looking:
            found = self._looks.get(key)
            if found is not None and found[0] > time.monotonic():
                return found[1]  # type: ignore[return-value]
            fresh = look()
            self._looks[key] = time.monotonic() + self._seconds, fresh
            self._looks.move_to_end(key)
            while len(self._looks) > MOST_LOOKS:
                self._looks.popitem(last=False)
            return fresh

    def _open(self, folder: TileFolder) -> OpenFolder:
        paths = folder.tiles()
        facts = []
        for path in paths.values():
            try:
                facts.append(path.stat())
            except FileNotFoundError:
                paths = {step: one for step, one in paths.items() if one is not path}
        identities = tuple(identity_of(one) for one in facts)
        known = self._folders.get(folder)
        if known is not None and known.identities == identities and [*known.paths] == [*paths]:
            self._folders.move_to_end(folder)
            return known
        built = max((one.st_mtime for one in facts), default=None)
        opened = [*open_tiles(paths.values())]
        tiles = [one for one in opened if isinstance(one, Tile)]
        alike = len(tiles) == len(opened) > 0 and all(one.y is tiles[0].y and one.x is tiles[0].x for one in tiles)
        names = {name for tile in tiles if alike for name in tile.meta.variables}
        self._numbers += 1
        state = OpenFolder(
            self._numbers,
            paths,
            identities,
            None if built is None else datetime.fromtimestamp(built, UTC),
            tuple(tiles) if alike else (),
            frozenset({*names, *derivable(names)}),
        )
        self._folders[folder] = state
        self._folders.move_to_end(folder)
        self._close_oldest()
        return state

    def _close_oldest(self) -> None:
        """Drop the folders that were opened first, but never the last one."""
        while self.open_tiles > self._most_tiles and len(self._folders) > 1:
            folder, _ = self._folders.popitem(last=False)
            self._looks.pop(folder, None)

    def _table(self, state: OpenFolder, places: Sequence[Place], wanted: list[str] | None, *, wait: bool) -> PointTable:
        locations = TileLocations.of(state.tiles[0], places)
        layout = self._layout(state, wanted)
        names = layout.arrays
        where = [divmod(nearest, BLOCK_POINTS) for nearest in locations.nearest]
        values = np.empty((len(names), len(places), len(state.tiles)), np.float32)
        for blocks in self._blocks_of(state, names, sorted({number for number, _ in where}), wait=wait):
            _copy(blocks, names, where, values)
            # Not held while the next are read.
            blocks.clear()
        return PointTable(state.tiles[0], layout, wanted, locations, dict(zip(names, values, strict=True)))

    def _layout(self, state: OpenFolder, wanted: list[str] | None) -> SampleLayout:
        """The arrays that these columns need."""
        key = state.number, None if wanted is None else tuple(wanted)
        with self._lock:
            found = self._layouts.get(key)
            if found is not None:
                self._layouts.move_to_end(key)
                return found
        made = SampleLayout.of(state.tiles, wanted)
        with self._lock:
            self._layouts[key] = made
            while len(self._layouts) > MOST_LAYOUTS:
                self._layouts.popitem(last=False)
        return made

    def _blocks_of(
        self, state: OpenFolder, names: tuple[str, ...], numbers: Sequence[int], *, wait: bool
    ) -> Iterator[dict[int, Blocks]]:
        """The blocks with these numbers, a part of them at a time."""
        found = self._found(state, names, numbers)
        missing = [number for number in numbers if len(found[number]) < len(names)]
        if missing and not wait:
            raise NotKept
        for number in missing:
            del found[number]
        yield found
        size = max(1, READ_BYTES // (BLOCK_POINTS * len(state.tiles) * max(1, len(names)) * FLOAT_BYTES))
        for first in range(0, len(missing), size):
            yield self._read(state, names, missing[first : first + size])

    def _read(self, state: OpenFolder, names: tuple[str, ...], numbers: Sequence[int]) -> dict[int, Blocks]:
        with ExitStack() as locks:
            # One thread reads a block; others that want it wait. All take their locks in the same order.
            for number in numbers:
                locks.enter_context(state.reading.setdefault(number, Lock()))
            found = self._found(state, names, numbers)
            missing = [number for number in numbers if len(found[number]) < len(names)]
            lacking = tuple(name for name in names if any(name not in found[number] for number in missing))
            for number, blocks in (_read_blocks(state, lacking, missing) if missing else {}).items():
                found[number] |= blocks
                with self._lock:
                    for name, block in blocks.items():
                        self._keep((state.number, name, number), block)
        return found

    def _found(self, state: OpenFolder, names: tuple[str, ...], numbers: Sequence[int]) -> dict[int, Blocks]:
        """What is cached of these blocks."""
        found: dict[int, Blocks] = {number: {} for number in numbers}
        with self._lock:
            for number, blocks in found.items():
                for name in names:
                    key = state.number, name, number
                    block = self._blocks.get(key)
                    if block is not None:
                        blocks[name] = block
                        self._blocks.move_to_end(key)
        return found

    def _keep(self, key: tuple[int, str, int], block: memoryview) -> None:
        before = self._blocks.pop(key, None)
        self.bytes_kept += block.nbytes - (0 if before is None else before.nbytes)
        self._blocks[key] = block
        while self.bytes_kept > self._limit_bytes:
            self.bytes_kept -= self._blocks.popitem(last=False)[1].nbytes


@dataclass(frozen=True, slots=True)
class OnlyKept:
    """A TileSource that reads no files; raises NotKept if it would have to."""

    kept: KeptTiles

    def candidates(self, request: PointRequest) -> Sequence[Candidate]:
        return self.kept.found_candidates(request, wait=False)

    def sample(
        self, folder: TileFolder, places: Sequence[Place], method: Sampling, wanted: list[str] | None
    ) -> list[Samples]:
        return self.kept.samples(folder, places, method, wanted, wait=False)


def check_there(folder: TileFolder) -> None:
    """Raise VanishedRun if the folder no longer has any tiles."""
    if not folder.tiles():
        raise _removed(folder)


def _removed(folder: TileFolder) -> VanishedRun:
    return VanishedRun(f"no tile in {folder.path} can be read: the run was removed")


def _copy(blocks: dict[int, Blocks], names: tuple[str, ...], where: Sequence[tuple[int, int]], values: Values) -> None:
    """Copy the points that are in these blocks: `where` has the block of each place, and its row there."""
    size = values.shape[2] * FLOAT_BYTES
    here = [place for place, (number, _) in enumerate(where) if number in blocks]
    rows = [(blocks[number], slice(at * size, (at + 1) * size)) for number, at in where if number in blocks]
    if rows and names:
        joined = b"".join([block[name][row] for name in names for block, row in rows])
        copied = np.frombuffer(joined, np.float32).reshape(len(names), len(here), -1)
        values[:, slice(None) if len(here) == len(where) else here] = copied


def _read_blocks(state: OpenFolder, names: tuple[str, ...], numbers: Sequence[int]) -> dict[int, Blocks]:
    """Blocks of points, each point with all its hours; NaN at hours without the variable."""
    points = state.tiles[0].shape[0] * state.tiles[0].shape[1]
    spans = {number: (number * BLOCK_POINTS, min((number + 1) * BLOCK_POINTS, points)) for number in numbers}
    found: dict[int, dict[str, Values]] = {
        number: {name: np.full((end - begin, len(state.tiles)), np.nan, np.float32) for name in names}
        for number, (begin, end) in spans.items()
    }
    joined = _joined([*spans.values()])
    ahead = ReadAhead(names, joined)
    for row, tile in enumerate(open_tiles(state.paths.values(), lambda _: ahead)):
        if isinstance(tile, TileError):
            raise tile
        if tile.archive.identity != state.identities[row]:
            raise TileError(f"{tile.path} was replaced meanwhile")
        there = [name for name in names if name in tile.meta.variables]
        for first, last in joined:
            for name, values in tile.read_span(there, first, last).items():
                for number, (begin, end) in spans.items():
                    if first <= begin and end <= last:
                        found[number][name][:, row] = values[begin - first : end - first]
        tile.archive.release()
    return {number: {name: block.data.cast("B") for name, block in blocks.items()} for number, blocks in found.items()}


def _joined(spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Adjacent spans as one, because neighbouring blocks share a segment of the file."""
    found: list[tuple[int, int]] = []
    for begin, end in spans:
        if found and found[-1][1] == begin:
            found[-1] = found[-1][0], end
        else:
            found.append((begin, end))
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class OpenFolder:
    """The tiles of a run over a region, as last listed."""

    number: int
    paths: dict[int, StoredPath]
    identities: tuple[Identity, ...]
    built_at: datetime | None
    tiles: tuple[Tile, ...]
    """All tiles, if they can be read and have the same points; otherwise none, and they are not cached."""
    names: frozenset[str]
    """The variables of these tiles, and those that can be derived from them."""
    reading: dict[int, Lock] = field(default_factory=dict)
