"""Members that are minutes of an hour (`hrrr_subh.m15`) as one run: a row every quarter of an hour."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gribmill.storage.latest import LatestRuns, read_hours, read_latest
from gribmill.storage.layout import DataRoot, TileFolder
from gribmill.tiles.errors import TileError
from gribmill.tiles.read.tile import cached_tile

_MEMBER = re.compile(r"(?P<family>[^.]+)\.m(?P<minute>[0-5][0-9])")


@dataclass(frozen=True, slots=True)
class MinuteFolders(TileFolder):
    """The tiles of all members of a run over one region; `model` is their family."""

    members: tuple[TileFolder, ...] = ()

    def tiles(self) -> dict[int, Path]:
        """Every tile that is there, by minutes since the run: 0:15 is in a member's hour 1."""
        found = {
            _minutes(member, step): path for member in self.members for step, path in TileFolder.tiles(member).items()
        }
        return dict(sorted(found.items()))


def folders_of(
    root: DataRoot, model: str | None = None, run: str | None = None, region: str | None = None
) -> Iterator[TileFolder]:
    """Every folder of tiles that fits, newest runs first; the minutes of an hour as one, unless one is asked for."""
    parts: dict[tuple[str, str, str], list[TileFolder]] = {}
    for folder in _fitting(root, model, run, region):
        found = _MEMBER.fullmatch(folder.model)
        if found is not None and folder.model != model and _is_minute(folder):
            parts.setdefault((found["family"], folder.run, folder.region), []).append(folder)
        elif model in (None, folder.model):
            yield folder
    for (family, run_id, name), members in sorted(parts.items(), key=lambda item: item[0][1], reverse=True):
        yield MinuteFolders(root.path, family, run_id, name, tuple(members))


def latest_of(root: DataRoot, folder: TileFolder) -> LatestRuns | None:
    """What latest.json says of the folder's region; of several members, the runs that all of them have."""
    members = folder.members if isinstance(folder, MinuteFolders) else (folder,)
    each = [read_latest(root, member.model).get(member.region) for member in members]
    known = [one for one in each if one is not None]
    if len(known) < len(each):
        return None
    newest, complete = [one.newest for one in known], [one.complete for one in known]
    return LatestRuns(_earliest(newest), _earliest(complete))


def expected_hours(root: DataRoot, folder: TileFolder) -> dict[str, int]:
    """How many tiles each run has when it is complete, where that is known."""
    members = folder.members if isinstance(folder, MinuteFolders) else (folder,)
    each = [read_hours(root, member.model) for member in members]
    return {run: sum(one[run] for one in each) for run in each[0] if all(run in one for one in each)}


def _fitting(root: DataRoot, model: str | None, run: str | None, region: str | None) -> Iterator[TileFolder]:
    found = list(root.tile_folders(model, run, region))
    if found or model is None:
        yield from found
        return
    for folder in root.tile_folders(None, run, region):
        member = _MEMBER.fullmatch(folder.model)
        if member and member["family"] == model:
            yield folder


def _is_minute(folder: TileFolder) -> bool:
    """Whether the member's name is the minute of its steps: members of ensembles may have such names too."""
    for path in folder.tiles().values():
        try:
            return cached_tile(path).meta.minutes % 60 == _minute(folder)
        except TileError:
            continue
    return False


def _minute(folder: TileFolder) -> int:
    found = _MEMBER.fullmatch(folder.model)
    return int(found["minute"]) if found else 0


def _minutes(member: TileFolder, step: int) -> int:
    minute = _minute(member)
    return step - 60 + minute if minute and step % 60 == 0 else step


def _earliest(runs: list[str | None]) -> str | None:
    return None if None in runs else min(run for run in runs if run)
