"""Where tiles lie under the data root, and what lies there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from gribmill.identity import MODEL_ID, REGION_NAME, RUN_ID, check_model_id, check_region_name, check_run_id
from gribmill.tiles.errors import TileError

TILE_NAME = re.compile(r"(\d{3,4})(?:m([0-5]\d))?\.npz")
LIMIT_LISTED = 100_000


@dataclass(frozen=True, slots=True)
class Shelf:
    """The tiles of one model, run and region: a folder with one file per hour."""

    root: Path
    model: str
    run: str
    region: str

    @property
    def folder(self) -> Path:
        """tiles/{model}/{run}/{region} below the data root; names that could climb out are refused."""
        return _folder(self.root, self.model, self.run, self.region)

    def tile(self, minutes: int) -> Path:
        """The tile of one step: 005.npz, or 005m15.npz between the hours."""
        hour, rest = divmod(minutes, 60)
        return self.folder / (f"{hour:03d}m{rest:02d}.npz" if rest else f"{hour:03d}.npz")

    def tiles(self) -> dict[int, Path]:
        """Every tile that is there, by minutes since the run, in order."""
        folder, found = self.folder, {}
        for name in _names(folder):
            if match := TILE_NAME.fullmatch(name):
                found[int(match[1]) * 60 + int(match[2] or 0)] = folder / name
        return dict(sorted(found.items()))


# Asked for several times for every tile, and the same for every hour of a run.
@lru_cache(maxsize=1024)
def _folder(root: Path, model: str, run: str, region: str) -> Path:
    return root / "tiles" / check_model_id(model) / check_run_id(run) / check_region_name(region)


def shelves(root: Path, model: str | None = None, run: str | None = None, region: str | None = None) -> Iterator[Shelf]:
    """Every shelf under the data root that fits, newest runs first."""
    for model_folder in _named(root / "tiles", MODEL_ID, model):
        for run_folder in reversed(_named(model_folder, RUN_ID, run)):
            for region_folder in _named(run_folder, REGION_NAME, region):
                yield Shelf(root, model_folder.name, run_folder.name, region_folder.name)


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
        raise TileError(f"{folder} holds {len(names)} entries: that is no folder of tiles")
    return names
