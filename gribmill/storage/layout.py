"""Where everything is in a data root. No other module knows a name below it.

jobs.db                                      the queue and the catalogue
.rates/                                      when hosts with a rate limit were last asked
grib/{model}/{run}/{hour}.g{n}.grib2         spool: messages that wait for their tiles; n is their generation
tiles/{model}/latest.json                    the newest runs of each region
tiles/{model}/{run}/{region}/{hour}.npz      tiles; {hour}m{minutes}.npz between the hours
tiles/{model}/{run}/{region}/grid.npz        latitudes and longitudes of the tiles beside it
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from gribmill.errors import GribmillError
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

JOBS_FILE = "jobs.db"
GRID_FILE = "grid.npz"
SPOOL = "grib"
TILES = "tiles"
_RATES = ".rates"
_LATEST = "latest.json"
_TILE_NAME = re.compile(r"([0-9]{3,4})(?:m([0-5][0-9]))?\.npz")
_SPOOL_NAME = re.compile(r"([0-9]{3,4})(?:\.g([0-9]{1,9}))?\.grib2")
_PART = ".part"
LIMIT_LISTED = 100_000


class StorageError(GribmillError):
    """A folder of the data root that holds what it cannot hold."""


@dataclass(frozen=True, slots=True)
class DataRoot:
    """One data root."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    @property
    def jobs_db(self) -> Path:
        return self.path / JOBS_FILE

    @property
    def rates(self) -> Path:
        return self.path / _RATES

    @property
    def tiles(self) -> Path:
        """The folder of all tiles."""
        return self.path / TILES

    def latest(self, model_id: str) -> Path:
        return self.tiles / check_model_id(model_id) / _LATEST

    def tile(self, tile: TileRef) -> Path:
        """Where the chain stores a tile."""
        return TileFolder(self.path, tile.model_id, tile.run_id, tile.region).tile(tile.hour * 60)

    def spool(self, hour: HourRef, generation: int = 0) -> Path:
        """Where messages of an hour wait for their tiles. Before generations were counted, names had none."""
        number = f".g{generation}" if generation else ""
        return self.path / SPOOL / hour.model_id / hour.run_id / f"{hour.hour:03d}{number}.grib2"

    def spooled_hours(self, run: RunRef) -> dict[int, list[Path]]:
        """The whole spool files of each hour of a run, of every generation."""
        folder = self.path / SPOOL / run.model_id / run.run_id
        found: dict[int, list[Path]] = {}
        for name in _names(folder):
            if match := _SPOOL_NAME.fullmatch(name):
                found.setdefault(int(match[1]), []).append(folder / name)
        return found

    def spooled(self) -> list[Path]:
        """Every file in the spool that is whole."""
        return sorted((self.path / SPOOL).glob("*/*/[0-9]*.grib2"))

    def tile_folders(
        self, model: str | None = None, run: str | None = None, region: str | None = None
    ) -> Iterator[TileFolder]:
        """Every folder of tiles that fits, newest runs first."""
        for model_folder in _named(self.tiles, MODEL_ID, model):
            for run_folder in reversed(_named(model_folder, RUN_ID, run)):
                for region_folder in _named(run_folder, REGION_NAME, region):
                    yield TileFolder(self.path, model_folder.name, run_folder.name, region_folder.name)

    def runs(self, model: str | None = None) -> set[RunRef]:
        """Every run that has a folder in the spool or among the tiles."""
        return {
            RunRef(model_folder.name, run_folder.name)
            for folder in (self.path / SPOOL, self.tiles)
            for model_folder in _named(folder, MODEL_ID, model)
            for run_folder in _named(model_folder, RUN_ID, None)
        }

    def run_folders(self, run: RunRef) -> list[Path]:
        """The folders of its messages and of its tiles."""
        return [self.path / room / run.model_id / run.run_id for room in (SPOOL, TILES)]

    def run_files(self, run: RunRef) -> Iterator[os.stat_result]:
        """The status of each file of a run. Workers write and remove files meanwhile: one that goes is left out."""
        for folder in self.run_folders(run):
            for place, _, names in os.walk(folder):  # unlike rglob, it bears folders that go
                for name in names:
                    with contextlib.suppress(FileNotFoundError):
                        yield Path(place, name).lstat()

    def parts(self) -> Iterator[Path]:
        """Files below `tiles` that are being written, or that a killed process left behind."""
        for depth in ("*", "*/*/*"):
            yield from self.tiles.glob(f"{depth}/.*{_PART}")


@dataclass(frozen=True, slots=True)
class TileFolder:
    """The tiles of one model, run and region: one file per hour."""

    root: Path
    model: str
    run: str
    region: str

    @property
    def path(self) -> Path:
        return _tile_folder(self.root, self.model, self.run, self.region)

    @property
    def grid(self) -> Path:
        return self.path / GRID_FILE

    def tile(self, minutes: int) -> Path:
        """The tile of one step: 005.npz, or 005m15.npz between the hours."""
        hour, rest = divmod(minutes, 60)
        return self.path / (f"{hour:03d}m{rest:02d}.npz" if rest else f"{hour:03d}.npz")

    def tiles(self) -> dict[int, Path]:
        """Every tile that is there, by minutes since the run, in order."""
        folder, found = self.path, {}
        for name in _names(folder):
            minutes = minutes_of_tile_name(name)
            if minutes is not None:
                found[minutes] = folder / name
        return dict(sorted(found.items()))


def minutes_of_tile_name(name: str) -> int | None:
    """The minutes since the run that the name of a tile says; None if it is not the name of a tile."""
    match = _TILE_NAME.fullmatch(name)
    return int(match[1]) * 60 + int(match[2] or 0) if match else None


def root_of_tile(tile: Path) -> DataRoot | None:
    """The data root that a tile is in, by its path; None where that is not a tile's."""
    parents = tile.absolute().parents
    return DataRoot(parents[4]) if len(parents) > 4 and parents[3].name == TILES else None


def spool_generation(path: Path) -> int:
    """The generation in the name of a spool file; 0 where it has none."""
    match = _SPOOL_NAME.fullmatch(path.name)
    return int(match[2] or 0) if match else 0


def remove_spool(path: Path) -> None:
    """Remove a spool file, and the folders that are empty then."""
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # not empty: other hours wait there
        path.parent.rmdir()
        path.parent.parent.rmdir()


def part_of(target: Path) -> Path:
    """Where a file is written by the one process that may: a later one goes on with it."""
    return target.with_name(f".{target.name}{_PART}")


def journal_of(target: Path) -> Path:
    """What is known of `part_of` the same target."""
    return target.with_name(f".{target.name}.journal")


def lock_of_folder(folder: Path) -> Path:
    """Locked while a file of the folder is read and replaced."""
    return folder / ".write.lock"


def unique_part_of(target: Path) -> Path:
    """Where a file is written by any number of processes at once, each for itself."""
    return target.with_name(f".{target.name}.{os.getpid()}.{secrets.token_hex(4)}{_PART}")


# Asked for several times for every tile, and the same for every hour of a run.
@lru_cache(maxsize=1024)
def _tile_folder(root: Path, model: str, run: str, region: str) -> Path:
    return root / TILES / check_model_id(model) / check_run_id(run) / check_region_name(region)


def _named(folder: Path, pattern: re.Pattern[str], wanted: str | None) -> list[Path]:
    fitting = [name for name in _names(folder) if pattern.fullmatch(name) and wanted in (None, name)]
    return [path for path in map(folder.joinpath, fitting) if path.is_dir()]


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries)
    except (FileNotFoundError, NotADirectoryError):
        return []
    if len(names) > LIMIT_LISTED:
        raise StorageError(f"{folder} has {len(names)} entries: it is not a folder of tiles")
    return names
