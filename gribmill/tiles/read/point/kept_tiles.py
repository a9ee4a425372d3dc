"""A cache of requested tiles: kept open, with the parts that were read, until they are replaced.

A request served from the cache takes about a millisecond and no I/O. Folder listings are cached for a second, or ten in
an object store; the values of a run are cached in blocks of points, with all hours of a variable in one array. Samples
have a column per variable instead of a row per hour, which takes a third of the time.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock, RLock
from typing import TypeVar

import numpy as np

from gribmill.arrays import Values
from gribmill.storage.layout import DataRoot, TileFolder
from gribmill.storage.object_path import StoredPath
from gribmill.tiles.errors import TileError, VanishedRun
from gribmill.tiles.format.meta import VariableMeta
from gribmill.tiles.format.npz_reader import Identity, identity_of
from gribmill.tiles.read.open_tiles import open_tiles
from gribmill.tiles.read.point.place import Place, Sampling, TileLocation, locate_in_tile
from gribmill.tiles.read.point.point import STORED_TILES, Candidate, PointRequest
from gribmill.tiles.read.point.sample import MANY_PLACES, Samples, needed_arrays, sample_folder
from gribmill.tiles.read.point.windowed import INSTANT
from gribmill.tiles.read.tile import ReadAhead, Tile

LOOK_SECONDS, LOOK_SECONDS_REMOTE = 1.0, 10.0
BLOCK_POINTS = 2048
MOST_LOOKS = 512
# Layouts of all folders together: clients choose the columns, and a layout of many hours takes tens of kilobytes.
MOST_LAYOUTS = 128
# Size of an open tile's metadata, and how many tiles may be open even with little memory.
TILE_BYTES, LEAST_TILES = 64 * 2**10, 500
# For one hour: the variables of the answer, the array of each, and its metadata.
NeededArrays = dict[str, tuple[str, VariableMeta]]
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
        self._blocks: OrderedDict[tuple[int, str, int], Values] = OrderedDict()
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
        if method == "nearest" and len(places) < MANY_PLACES and state.tiles:
            try:
                return [self._sampled(state, place, wanted, wait=wait) for place in places]
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
        self._numbers += 1
        state = OpenFolder(
            self._numbers,
            paths,
            identities,
            None if built is None else datetime.fromtimestamp(built, UTC),
            tuple(tiles) if alike else (),
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

    def _sampled(self, state: OpenFolder, place: Place, wanted: list[str] | None, *, wait: bool) -> Samples:
        location = _located(state.tiles[0], place)
        layout = self._layout(state, wanted)
        number, at = divmod(location.nearest, BLOCK_POINTS)
        blocks = self._kept(state, layout.arrays, number, wait=wait)
        columns = {name: block[:, at].tolist() for name, block in blocks.items()}
        rows = [
            {name: (columns[array][row], quantity) for name, (array, quantity) in hour.items()}
            for row, hour in enumerate(layout.windowed)
        ]
        return KeptSamples(location, state.tiles[0], wanted, [*layout.steps], rows, layout=layout, by_array=columns)

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

    def _kept(self, state: OpenFolder, names: tuple[str, ...], number: int, *, wait: bool) -> dict[str, Values]:
        found = self._found(state, names, number)
        if len(found) == len(names):
            return found
        if not wait:
            raise NotKept
        # One thread reads a block; others that want it wait.
        with state.reading.setdefault(number, Lock()):
            found = self._found(state, names, number)
            missing = tuple(name for name in names if name not in found)
            if missing:
                read = _read_block(state, missing, number)
                found |= read
                with self._lock:
                    for name, block in read.items():
                        self._keep((state.number, name, number), block)
        return found

    def _found(self, state: OpenFolder, names: tuple[str, ...], number: int) -> dict[str, Values]:
        found: dict[str, Values] = {}
        with self._lock:
            for name in names:
                key = state.number, name, number
                if key in self._blocks:
                    found[name] = self._blocks[key]
                    self._blocks.move_to_end(key)
        return found

    def _keep(self, key: tuple[int, str, int], block: Values) -> None:
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


def _located(tile: Tile, place: Place) -> TileLocation:
    found = locate_in_tile(tile, place.lat, place.lon)
    if found is None:
        raise TileError(f"{tile.path} does not contain {place}")
    return found


def _read_block(state: OpenFolder, names: tuple[str, ...], number: int) -> dict[str, Values]:
    """All hours of a block of points; NaN at hours without the variable."""
    points = state.tiles[0].shape[0] * state.tiles[0].shape[1]
    begin, end = number * BLOCK_POINTS, min((number + 1) * BLOCK_POINTS, points)
    blocks = {name: np.full((len(state.tiles), end - begin), np.nan, np.float32) for name in names}
    ahead = ReadAhead(names, ((begin, end),))
    for row, tile in enumerate(open_tiles(state.paths.values(), lambda _: ahead)):
        if isinstance(tile, TileError):
            raise tile
        if tile.archive.identity != state.identities[row]:
            raise TileError(f"{tile.path} was replaced meanwhile")
        for name, values in tile.read_span([name for name in names if name in tile.meta.variables], begin, end).items():
            blocks[name][row] = values
        tile.archive.release()
    return blocks


@dataclass(frozen=True, slots=True, eq=False)
class OpenFolder:
    """The tiles of a run over a region, as last listed."""

    number: int
    paths: dict[int, StoredPath]
    identities: tuple[Identity, ...]
    built_at: datetime | None
    tiles: tuple[Tile, ...]
    """All tiles, if they can be read and have the same points; otherwise none, and they are not cached."""
    reading: dict[int, Lock] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SampleLayout:
    """The array of each variable at each hour of a run, shared by the samples at all places."""

    steps: list[int]
    arrays: tuple[str, ...]
    """The arrays that any hour needs."""
    known: dict[str, VariableMeta]
    places: dict[str, str | tuple[str | None, ...]]
    """The array of each variable, or its array at each hour if they differ."""
    windowed: tuple[NeededArrays, ...]
    """For each hour, the variables over a time range, whose metadata differs from hour to hour."""

    @classmethod
    def of(cls, tiles: Sequence[Tile], wanted: list[str] | None) -> SampleLayout:
        hours = [needed_arrays(tile, wanted) for tile in tiles]
        known = {name: quantity for hour in reversed(hours) for name, (_, quantity) in hour.items()}
        arrays = tuple(dict.fromkeys(array for hour in hours for array, _ in hour.values()))
        places = {name: _place(name, hours) for name in known}
        windowed = tuple({name: item for name, item in hour.items() if item[1].statistic != INSTANT} for hour in hours)
        return cls([tile.meta.minutes for tile in tiles], arrays, known, places, windowed)


def _place(name: str, hours: Sequence[NeededArrays]) -> str | tuple[str | None, ...]:
    each = [hour[name][0] if name in hour else None for hour in hours]
    several = {array for array in each if array is not None}
    # An hour without the variable has no such array, which reads as NaN.
    return several.pop() if len(several) == 1 else tuple(each)


@dataclass(slots=True)
class KeptSamples(Samples):
    """`by_array` has the values of each array, hour by hour. `rows` only have variables over a time range."""

    layout: SampleLayout | None = None
    by_array: Mapping[str, list[float]] = field(default_factory=dict)

    def known(self) -> dict[str, VariableMeta]:
        assert self.layout is not None
        return self.layout.known

    def values(self, name: str) -> list[float]:
        assert self.layout is not None
        place = self.layout.places.get(name)
        if place is None:
            return [math.nan] * len(self.steps)
        if isinstance(place, str):
            return self.by_array[place]
        return [math.nan if array is None else self.by_array[array][hour] for hour, array in enumerate(place)]
