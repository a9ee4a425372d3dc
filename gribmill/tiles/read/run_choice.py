"""Which run an answer comes from: the newest complete one, the newest, several, or the one that is named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from gribmill.identity import RUN_ID, run_time
from gribmill.storage.latest import LatestRuns
from gribmill.storage.layout import DataRoot, TileFolder
from gribmill.tiles.errors import TileError
from gribmill.tiles.read.minute_members import expected_hours, folders_of, latest_of

COMPLETE, NEWEST, SEAMLESS = "complete", "newest", "seamless"
KINDS = (COMPLETE, NEWEST, SEAMLESS)
MEMBERS_NAMED = 6


@dataclass(frozen=True, slots=True)
class RunChoice:
    """The folders that an answer is read from, the newest run first; several only if it is seamless.

    `complete` says whether the first run is complete; None where latest.json does not tell. `hours` counts its tiles,
    `expected` those that it has when it is complete. `newer` is a newer run that was passed over, with its hours.
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
        """`2 of 13 hours`, or `2 hours` where it is not known how many there will be."""
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
    """What was asked for; by default the newest complete run."""
    asked = COMPLETE if run is None else run
    if asked not in KINDS:
        if not RUN_ID.fullmatch(asked):
            raise TileError(f"{asked!r} is not a run: use {', '.join(KINDS)} or YYYYMMDD_HH, such as 20230125_12")
        run_time(asked)
    return asked


def choose_runs(root: DataRoot, model: str | None, region: str | None, run: str | None) -> Iterator[RunChoice]:
    """The choice for each model and region that has tiles: completeness is a matter of each region."""
    asked = check_run(run)
    runs: dict[tuple[str, str], list[TileFolder]] = {}
    for folder in folders_of(root, model, None if asked in KINDS else asked, region):
        runs.setdefault((folder.model, folder.region), []).append(folder)
    for folders in runs.values():
        if found := _choose(root, folders, asked):
            yield found


def no_tiles(root: DataRoot, model: str | None, run: str | None, region: str | None) -> str:
    """Why there are none: for the name of an ensemble, which of its members can be chosen."""
    members = sorted({folder.model for folder in root.tile_folders() if folder.model.split(".")[0] == model})
    if members:
        some = ", ".join(members[:MEMBERS_NAMED]) + (", …" if len(members) > MEMBERS_NAMED else "")
        many = f"{len(members)} members" if len(members) > 1 else "1 member"
        return f"{model} is an ensemble with {many} here ({some}); choose one, such as {members[0]}"
    named = run if run not in KINDS else None
    return f"there are no tiles of {' '.join(part for part in (model, named, region) if part) or 'any model'}"


def _choose(root: DataRoot, folders: list[TileFolder], asked: str) -> RunChoice | None:
    first = folders[0]
    latest = latest_of(root, first)
    hours = expected_hours(root, first)

    def choice(*chosen: TileFolder, newer: RunChoice | None = None) -> RunChoice:
        run, here = chosen[0].run, len(chosen[0].tiles())
        return RunChoice(asked, chosen, _is_complete(latest, run, here, hours.get(run)), here, hours.get(run), newer)

    # An empty folder is one whose first tile is being written, or that is being removed.
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
    """Lost tiles make a run incomplete again. Of runs before the newest complete one latest.json says nothing."""
    if expected is not None and here < expected:
        return False
    if latest is None or (latest.complete is not None and run < latest.complete):
        return None
    return run == latest.complete


def valid_minutes(folder: TileFolder, since: str) -> list[int]:
    """The valid times of a folder's tiles, in minutes after the start of the run `since`."""
    shift = (run_time(folder.run) - run_time(since)) // timedelta(minutes=1)
    return [shift + step for step in folder.tiles()]
