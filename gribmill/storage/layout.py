"""The layout of a data root. No other module builds paths below it.

jobs.db                                      the queue and the catalogue
logs/{thousand}/{job}-{attempt}.log          what an attempt printed
.rates/                                      when hosts with a rate limit last got a request
grib/{model}/{run}/{hour}.g{n}.grib2         spool: messages that wait for their tiles; n is their generation
tiles/{model}/latest.json                    the newest runs of each region
tiles/{model}/{run}/{region}/{hour}.npz      tiles; {hour}m{minutes}.npz between the hours
tiles/{model}/{run}/{region}/grid.npz        latitudes and longitudes of the tiles beside it

Tiles, and a second copy of the spool, may be in an object store, with the same names below its prefix.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from gribmill.identity import (
    MODEL_ID,
    REGION_NAME,
    RUN_ID,
    HourRef,
    RunRef,
    TileRef,
    check_model_id,
    check_region_name,
    check_run_id,
)
from gribmill.storage.bucket import ObjectStatus
from gribmill.storage.errors import StorageError
from gribmill.storage.object_path import ObjectPath, StoredPath

JOBS_FILE = "jobs.db"
GRID_FILE = "grid.npz"
SPOOL = "grib"
TILES = "tiles"
_RATES = ".rates"
_LOGS = "logs"
_LATEST = "latest.json"
_TILE_NAME = re.compile(r"([0-9]{3,4})(?:m([0-5][0-9]))?\.npz")
_SPOOL_NAME = re.compile(r"([0-9]{3,4})(?:\.g([0-9]{1,9}))?\.grib2")
_PART = ".part"
LIMIT_LISTED = 100_000


@dataclass(frozen=True, slots=True)
class ListedTiles:
    """The sizes of the tiles of a run by region and hour, and the size of all files beside them."""

    sizes: dict[tuple[str, int], int]
    total: int
    """Of all files: tiles, also those between the hours, and grids."""


@dataclass(frozen=True, slots=True)
class DataRoot:
    """One data root. Its tiles, and a copy of its spool for other hosts, may be in an object store."""

    path: Path
    tiles_at: ObjectPath | None = None
    spool_at: ObjectPath | None = None

    def __str__(self) -> str:
        return str(self.path)

    @property
    def jobs_db(self) -> Path:
        return self.path / JOBS_FILE

    @property
    def rates(self) -> Path:
        return self.path / _RATES

    @property
    def logs(self) -> Path:
        """The folder with the logs of attempts."""
        return self.path / _LOGS

    @property
    def tiles(self) -> StoredPath:
        """The folder of all tiles."""
        return self.tiles_at or self.path / TILES

    @property
    def tile_root(self) -> StoredPath:
        """The root of every TileFolder: this data root, or the prefix in an object store."""
        return self.tiles_at or self.path

    def latest(self, model_id: str) -> StoredPath:
        return self.tiles / check_model_id(model_id) / _LATEST

    def tile(self, tile: TileRef) -> StoredPath:
        """Where the chain stores a tile."""
        return TileFolder(self.tile_root, tile.model_id, tile.run_id, tile.region).tile(tile.hour * 60)

    def spool(self, hour: HourRef, generation: int = 0) -> Path:
        """Where messages of an hour wait for their tiles. Names of earlier versions have no generation."""
        number = f".g{generation}" if generation else ""
        return self.path / SPOOL / hour.model_id / hour.run_id / f"{hour.hour:03d}{number}.grib2"

    def shared_spool(self, local: Path) -> ObjectPath | None:
        """A spool file's name in the object store; None if the spool is local only."""
        parts = local.relative_to(self.path / SPOOL).parts
        return None if self.spool_at is None else self.spool_at / "/".join(parts)

    def spooled_hours(self, run: RunRef) -> dict[int, list[StoredPath]]:
        """The complete spool files of each hour of a run, of every generation, local and in the object store."""
        found: dict[int, list[StoredPath]] = {}
        for folder in self._spool_folders(run):
            for name in _names(folder):
                if match := _SPOOL_NAME.fullmatch(name):
                    found.setdefault(int(match[1]), []).append(folder / name)
        return found

    def spooled_runs(self) -> list[RunRef]:
        """The runs that have a folder in the local spool."""
        return [
            RunRef(model_folder.name, run_folder.name)
            for model_folder in _named(self.path / SPOOL, MODEL_ID, None)
            for run_folder in _named(model_folder, RUN_ID, None)
        ]

    def _spool_folders(self, run: RunRef) -> list[StoredPath]:
        roots: list[StoredPath] = [self.path / SPOOL, *([self.spool_at] if self.spool_at else [])]
        return [root / run.model_id / run.run_id for root in roots]

    def spooled(self) -> list[Path]:
        """All complete files in the local spool."""
        return sorted((self.path / SPOOL).glob("*/*/[0-9]*.grib2"))

    def tile_folders(
        self, model: str | None = None, run: str | None = None, region: str | None = None
    ) -> Iterator[TileFolder]:
        """Every matching folder of tiles, newest runs first."""
        for model_folder in _named(self.tiles, MODEL_ID, model):
            for run_folder in reversed(_named(model_folder, RUN_ID, run)):
                for region_folder in _named(run_folder, REGION_NAME, region):
                    yield tile_folder(self.tile_root, model_folder.name, run_folder.name, region_folder.name)

    def models(self) -> list[str]:
        """The models that have a folder among the tiles."""
        return [folder.name for folder in _named(self.tiles, MODEL_ID, None)]

    def runs(self, model: str | None = None) -> set[RunRef]:
        """Every run that has a folder in the spool or among the tiles."""
        return {
            RunRef(model_folder.name, run_folder.name)
            for folder in (self.path / SPOOL, *([self.spool_at] if self.spool_at else []), self.tiles)
            for model_folder in _named(folder, MODEL_ID, model)
            for run_folder in _named(model_folder, RUN_ID, None)
        }

    def run_folders(self, run: RunRef) -> list[StoredPath]:
        """The folders of its messages and of its tiles."""
        return [*self._spool_folders(run), self.tiles / run.model_id / run.run_id]

    def run_files(self, run: RunRef) -> Iterator[os.stat_result | ObjectStatus]:
        """The status of each file of a run. Files that workers remove meanwhile are left out."""
        for folder in self.run_folders(run):
            yield from (status for _, status in _files_below(folder))

    def spooled_bytes(self, run: RunRef) -> int:
        """The size of all its files in the spool."""
        return sum(status.st_size for folder in self._spool_folders(run) for _, status in _files_below(folder))

    def listed_tiles(self, run: RunRef) -> ListedTiles:
        """The sizes of its tiles, from one listing."""
        total, sizes = 0, {}
        for name, status in _files_below(self.tiles / run.model_id / run.run_id):
            total += status.st_size
            region, _, file = name.partition("/")
            minutes = minutes_of_tile_name(file)
            if minutes is not None and minutes % 60 == 0:
                sizes[region, minutes // 60] = status.st_size
        return ListedTiles(sizes, total)

    def parts(self) -> Iterator[Path]:
        """Files below `tiles` that are being written, or that a killed process left behind; stores have none."""
        if isinstance(self.tiles, Path):
            for depth in ("*", "*/*/*"):
                yield from self.tiles.glob(f"{depth}/.*{_PART}")


@dataclass(frozen=True, slots=True)
class TileFolder:
    """The tiles of one model, run and region: one file per hour.

    `root` is a data root, or the prefix of all tiles in an object store.
    """

    root: StoredPath
    model: str
    run: str
    region: str

    @property
    def path(self) -> StoredPath:
        return _tile_folder(self.root, self.model, self.run, self.region)

    @property
    def grid(self) -> StoredPath:
        return self.path / GRID_FILE

    def tile(self, minutes: int) -> StoredPath:
        """The tile of one step: 005.npz, or 005m15.npz between the hours."""
        hour, rest = divmod(minutes, 60)
        return self.path / (f"{hour:03d}m{rest:02d}.npz" if rest else f"{hour:03d}.npz")

    def tiles(self) -> dict[int, StoredPath]:
        """All existing tiles, by minutes since the start of the run, in order."""
        folder = self.path
        if isinstance(folder, ObjectPath):
            objects = folder.children()[1]
            return _by_minutes({name: (folder / name).as_listed(status) for name, status in objects.items()})
        return _by_minutes({name: folder / name for name in _names(folder)})


@dataclass(frozen=True, slots=True)
class ListedFolder(TileFolder):
    """A folder in an object store, for readers: it is listed once, because each listing is a request."""

    _listed: list[dict[int, StoredPath]] = field(default_factory=list, compare=False, repr=False)

    def tiles(self) -> dict[int, StoredPath]:
        """The tiles as listed at the first call."""
        if not self._listed:
            self._listed.append(TileFolder.tiles(self))
        return self._listed[0]


def tile_folder(root: StoredPath, model: str, run: str, region: str) -> TileFolder:
    """A folder of tiles to read."""
    kind = ListedFolder if isinstance(root, ObjectPath) else TileFolder
    return kind(root, model, run, region)


def _by_minutes(paths: dict[str, Any]) -> dict[int, StoredPath]:
    found = ((minutes_of_tile_name(name), path) for name, path in paths.items())
    return dict(sorted((minutes, path) for minutes, path in found if minutes is not None))


def minutes_of_tile_name(name: str) -> int | None:
    """The minutes since the run's start in the name of a tile; None if it is not the name of a tile."""
    match = _TILE_NAME.fullmatch(name)
    return int(match[1]) * 60 + int(match[2] or 0) if match else None


def _files_below(folder: StoredPath) -> Iterator[tuple[str, os.stat_result | ObjectStatus]]:
    """Each file below a folder by its relative name. Links are not followed."""
    if isinstance(folder, ObjectPath):
        for path, status in folder.below():
            yield path.key[len(folder.key) :].lstrip("/"), status
        return
    place = os.fspath(folder)
    for entry in _entries_below(place):
        with contextlib.suppress(FileNotFoundError):
            yield entry.path[len(place) + 1 :], entry.stat(follow_symlinks=False)


def _entries_below(folder: str) -> Iterator[os.DirEntry[str]]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:  # folders may disappear meanwhile
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _entries_below(entry.path)
            else:
                yield entry


def root_of_tile(tile: StoredPath) -> DataRoot | None:
    """The data root of a tile, by its path; None if the path is not a tile's, or in an object store."""
    if isinstance(tile, ObjectPath):
        return None
    parents = tile.absolute().parents
    return DataRoot(parents[4]) if len(parents) > 4 and parents[3].name == TILES else None


def spool_generation(path: Path) -> int:
    """The generation in the name of a spool file; 0 if it has none."""
    match = _SPOOL_NAME.fullmatch(path.name)
    return int(match[2] or 0) if match else 0


def remove_spool(path: StoredPath) -> None:
    """Remove a spool file, and folders that have become empty."""
    path.unlink(missing_ok=True)
    if isinstance(path, ObjectPath):
        return
    with contextlib.suppress(OSError):  # not empty: other hours wait there
        path.parent.rmdir()
        path.parent.parent.rmdir()


def remove_folder(folder: StoredPath) -> bool:
    """Remove a folder with everything in it; returns whether it is gone."""
    if isinstance(folder, ObjectPath):
        folder.remove_below()
        return True
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def part_of(target: Path) -> Path:
    """The temporary name for a file with a single writer; a later process can continue it."""
    return target.with_name(f".{target.name}{_PART}")


def journal_of(target: Path) -> Path:
    """The journal of `part_of` the same target."""
    return target.with_name(f".{target.name}.journal")


def lock_of_folder(folder: Path) -> Path:
    """The lock file of a folder, held while a file in it is read and replaced."""
    return folder / ".write.lock"


def unique_part_of(target: Path) -> Path:
    """A temporary name that is unique to each writer of the file."""
    return target.with_name(f".{target.name}.{os.getpid()}.{os.urandom(4).hex()}{_PART}")


# Cached: used several times per tile, and the same for every hour of a run.
@lru_cache(maxsize=1024)
def _tile_folder(root: StoredPath, model: str, run: str, region: str) -> StoredPath:
    tiles = root / TILES if isinstance(root, Path) else root
    return tiles / check_model_id(model) / check_run_id(run) / check_region_name(region)


def _named(folder: StoredPath, pattern: re.Pattern[str], wanted: str | None) -> Sequence[StoredPath]:
    """The folders below this one whose name matches."""
    if isinstance(folder, ObjectPath):
        # A given name is not looked up: a prefix exists only if it has objects.
        names = [wanted] if wanted is not None else sorted(folder.children()[0])
        return [folder / name for name in names if pattern.fullmatch(name)]
    fitting = [name for name in _names(folder) if pattern.fullmatch(name) and wanted in (None, name)]
    return [path for path in map(folder.joinpath, fitting) if path.is_dir()]


def _names(folder: StoredPath) -> list[str]:
    if isinstance(folder, ObjectPath):
        return sorted(folder.children()[1])
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries)
    except (FileNotFoundError, NotADirectoryError):
        return []
    if len(names) > LIMIT_LISTED:
        raise StorageError(f"{folder} has {len(names)} entries: it is not a folder of tiles")
    return names
