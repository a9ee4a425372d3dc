"""Chooses the run to read from: the newest complete one, the newest, several, or a given one.

Members that are minutes of an hour (`hrrr_subh.m15`) count as one run with a row every quarter of an hour.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from gribmill.identity import REGION_NAME, RUN_ID, run_time
from gribmill.storage.latest import LatestFiles, LatestRuns
from gribmill.storage.layout import DataRoot, TileFolder, tile_folder
from gribmill.storage.object_path import StoredPath
from gribmill.tiles.errors import TileError
from gribmill.tiles.read.tile import cached_tile

_MEMBER = re.compile(r"(?P<family>[^.]+)\.m(?P<minute>[0-5][0-9])")


@dataclass(frozen=True, slots=True)
class MinuteFolders(TileFolder):
    """The tiles of all members of a run over one region; `model` is their family."""

    members: tuple[TileFolder, ...] = ()

    def tiles(self) -> dict[int, StoredPath]:
        """All existing tiles, by minutes since the run: 0:15 is in a member's hour 1."""
        found = {_minutes(member, step): path for member in self.members for step, path in member.tiles().items()}
        return dict(sorted(found.items()))


def folders_of(
    files: LatestFiles,
    model: str | None = None,
    run: str | None = None,
    region: str | None = None,
    *,
    newest: bool = False,
) -> Iterator[TileFolder]:
    """Yields all matching folders of tiles, newest runs first. The minutes of an hour are joined, unless one is named.

    With `newest`, in an object store, only those named by latest.json: each older run would take more requests.
    """
    root = files.root
    parts: dict[tuple[str, str, str], list[TileFolder]] = {}
    for folder in _fitting(files, model, run, region, newest=newest):
        found = _MEMBER.fullmatch(folder.model)
        if found is not None and folder.model != model and _is_minute(folder):
            parts.setdefault((found["family"], folder.run, folder.region), []).append(folder)
        elif model in (None, folder.model):
            yield folder
    for (family, run_id, name), members in sorted(parts.items(), key=lambda item: item[0][1], reverse=True):
        yield MinuteFolders(root.tile_root, family, run_id, name, tuple(members))


def latest_of(files: LatestFiles, folder: TileFolder) -> LatestRuns | None:
    """The entry of the folder's region in latest.json; for several members, the runs that all of them have."""
    members = folder.members if isinstance(folder, MinuteFolders) else (folder,)
    each = [files[member.model].regions.get(member.region) for member in members]
    known = [one for one in each if one is not None]
    if len(known) < len(each):
        return None
    newest, complete = [one.newest for one in known], [one.complete for one in known]
    return LatestRuns(_earliest(newest), _earliest(complete))


def expected_hours(files: LatestFiles, folder: TileFolder) -> dict[str, int]:
    """The number of tiles in each complete run, if known."""
    members = folder.members if isinstance(folder, MinuteFolders) else (folder,)
    each = [files[member.model].hours for member in members]
    return {run: sum(one[run] for one in each) for run in each[0] if all(run in one for one in each)}


def _fitting(
    files: LatestFiles, model: str | None, run: str | None, region: str | None, *, newest: bool
) -> Iterator[TileFolder]:
    find = partial(_newest_folders, files) if newest and files.root.tiles_at else files.root.tile_folders
    found = list(find(model, run, region))
    if found or model is None:
        yield from found
        return
    for folder in find(None, run, region):
        member = _MEMBER.fullmatch(folder.model)
        if member and member["family"] == model:
            yield folder


def _newest_folders(files: LatestFiles, model: str | None, run: str | None, region: str | None) -> Iterator[TileFolder]:
    """The folders that latest.json names; all folders of a model without it."""
    root = files.root
    for model_id in root.models() if model is None else [model]:
        regions = files[model_id].regions
        if not regions:
            yield from root.tile_folders(model_id, run, region)
        for name, runs in regions.items():
            if region in (None, name) and REGION_NAME.fullmatch(name):
                named = sorted({one for one in (runs.newest, runs.complete) if one and RUN_ID.fullmatch(one)})
                yield from (tile_folder(root.tile_root, model_id, one, name) for one in reversed(named))


def _is_minute(folder: TileFolder) -> bool:
    """Whether the member's name is the minute of its steps: ensemble members may have such names too."""
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


COMPLETE, NEWEST, SEAMLESS = "complete", "newest", "seamless"
KINDS = (COMPLETE, NEWEST, SEAMLESS)
MEMBERS_NAMED = 6


@dataclass(frozen=True, slots=True)
class RunChoice:
    """The folders to read from, newest run first; several only for a seamless forecast.

    `complete` is whether the first run is complete; None if latest.json does not say. `hours` is the number of its
    tiles, `expected` their number once it is complete. `newer` is a newer run that was not chosen.
    """

    asked: str
    folders: tuple[TileFolder, ...]
    complete: bool | None
    hours: int
    expected: int | None
    newer: RunChoice | None = None

    @property
    def run(self) -> str:
        """The (newest) run."""
        return self.folders[0].run

    @property
    def arrived(self) -> str:
        """`2 of 13 hours`, or `2 hours` if the total is not known."""
        return f"{self.hours} of {self.expected} hours" if self.expected else f"{self.hours} hours"

    @property
    def sentence(self) -> str:
        """How the run was chosen, and what is missing."""
        partial = "" if self.expected is None or self.hours >= self.expected else f"; {self.arrived} are here"
        if self.asked == SEAMLESS:
            return f"seamless: each hour is from the newest run that has it{partial}"
        if self.asked not in KINDS:
            return f"the run that was asked for{partial}"
        if self.asked == NEWEST:
            return f"the newest run{partial}"
        if self.complete is None:
            return f"the newest run; no run is known to be complete{partial}"
        if not self.complete:
            return f"the newest run; no run is complete{partial}"
        newer = f"; {self.newer.arrived} of {self.newer.run} are here" if self.newer else ""
        return f"the newest complete run{partial}{newer}"

    def to_dict(self) -> dict[str, str | int | bool | None]:
        """Plain values for JSON."""
        return {
            "asked": self.asked,
            "complete": self.complete,
            "hours": self.hours,
            "hours_expected": self.expected,
            "newer_run": self.newer.run if self.newer else None,
            "sentence": self.sentence,
        }


def check_run(run: str | None) -> str:
    """The requested run; by default the newest complete one."""
    asked = COMPLETE if run is None else run
    if asked not in KINDS:
        if not RUN_ID.fullmatch(asked):
            raise TileError(f"{asked!r} is not a run: use {', '.join(KINDS)} or YYYYMMDD_HH, such as 20230125_12")
        run_time(asked)
    return asked


def choose_runs(root: DataRoot, model: str | None, region: str | None, run: str | None) -> Iterator[RunChoice]:
    """Yields the choice for each model and region with tiles: completeness differs by region."""
    asked = check_run(run)
    runs: dict[tuple[str, str], list[TileFolder]] = {}
    files = LatestFiles(root)
    named = None if asked in KINDS else asked
    for folder in folders_of(files, model, named, region, newest=asked in (COMPLETE, NEWEST)):
        runs.setdefault((folder.model, folder.region), []).append(folder)
    for folders in runs.values():
        if found := _choose(files, folders, asked):
            yield found


def find_choice(root: DataRoot, model: str, run: str | None, region: str | None) -> RunChoice:
    """The choice of a run. Raises TileError if the model has several regions and none is named."""
    choices = list(choose_runs(root, model, region, run))
    if not choices:
        raise TileError(f"{no_tiles(root, model, run, region)} under {root.tiles}")
    # Regions that no longer get tiles are ignored.
    newest = max((one.newer or one).run for one in choices)
    live = [one for one in choices if (one.newer or one).run == newest]
    if len(live) > 1:
        names = ", ".join(one.folders[0].region for one in live)
        raise TileError(f"{model} {newest} has several regions; choose one of: {names}")
    return live[0]


def no_tiles(root: DataRoot, model: str | None, run: str | None, region: str | None) -> str:
    """The message if there are no tiles; for the name of an ensemble, it lists the members to choose from."""
    members = sorted({folder.model for folder in root.tile_folders() if folder.model.split(".")[0] == model})
    if members:
        some = ", ".join(members[:MEMBERS_NAMED]) + (", …" if len(members) > MEMBERS_NAMED else "")
        many = f"{len(members)} members" if len(members) > 1 else "1 member"
        return f"{model} is an ensemble with {many} here ({some}); choose one, such as {members[0]}"
    named = run if run not in KINDS else None
    return f"there are no tiles of {' '.join(part for part in (model, named, region) if part) or 'any model'}"


def _choose(files: LatestFiles, folders: list[TileFolder], asked: str) -> RunChoice | None:
    first = folders[0]
    latest = latest_of(files, first)
    hours = expected_hours(files, first)

    def choice(*chosen: TileFolder, newer: RunChoice | None = None) -> RunChoice:
        run, here = chosen[0].run, len(chosen[0].tiles())
        return RunChoice(asked, chosen, _is_complete(latest, run, here, hours.get(run)), here, hours.get(run), newer)

    # In an empty folder, the first tile is being written, or the folder is being removed.
    newest = next((folder for folder in folders if folder.tiles()), None)
    if newest is None:
        return None
    if asked == SEAMLESS:
        older = [folder for folder in folders if folder.run < newest.run and folder.tiles()]
        return choice(newest, *older)
    if asked == COMPLETE and latest is not None:
        for folder in folders:
            if folder.run == latest.complete and folder.tiles():
                return choice(folder, newer=choice(newest) if newest.run > folder.run else None)
    return choice(newest)


def _is_complete(latest: LatestRuns | None, run: str, here: int, expected: int | None) -> bool | None:
    """A run with lost tiles is incomplete. latest.json says nothing about runs before the newest complete one."""
    if expected is not None and here < expected:
        return False
    if latest is None or (latest.complete is not None and run < latest.complete):
        return None
    return run == latest.complete


def valid_minutes(folder: TileFolder, since: str) -> list[int]:
    """The valid times of a folder's tiles, in minutes after the start of the run `since`."""
    shift = (run_time(folder.run) - run_time(since)) // timedelta(minutes=1)
    return [shift + step for step in folder.tiles()]
