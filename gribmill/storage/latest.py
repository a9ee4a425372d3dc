"""latest.json of a model: the newest run and the newest complete run of each region.

It only moves forward, unless the complete run has lost a tile.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Set
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from gribmill.identity import IdentityError, run_time
from gribmill.regular_file import open_regular
from gribmill.storage.atomic import MOST_TURNS, locked_folder, write_atomic
from gribmill.storage.bucket import NEW, Condition
from gribmill.storage.errors import ChangedObject, StorageError
from gribmill.storage.layout import DataRoot
from gribmill.storage.object_path import ObjectPath, StoredPath

LIMIT_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class LatestRuns:
    """The run ids of one region."""

    newest: str | None = None
    complete: str | None = None

    def forward(self, other: LatestRuns) -> LatestRuns:
        """The later of both. Run ids sort by time."""
        return LatestRuns(_later(self.newest, other.newest), _later(self.complete, other.complete))


@dataclass(frozen=True, slots=True)
class KnownRuns:
    """What the catalogue knows: the runs of each region, and the runs in which a region has lost a tile.

    `hours` maps a run id to the number of forecast hours of the complete run.
    """

    runs: Mapping[str, LatestRuns]
    lost: Set[tuple[str, str]] = frozenset()
    hours: Mapping[str, int] = field(default_factory=dict)

    def without_lost(self, region: str, before: LatestRuns) -> LatestRuns:
        """The runs that the file named, unless the complete one has lost a tile: only then may it move back."""
        return replace(before, complete=None) if (region, before.complete) in self.lost else before


def publish_latest(root: DataRoot, model_id: str, look: Callable[[], KnownRuns]) -> dict[str, LatestRuns]:
    """Write what is known about each region, unless the file has something newer; returns its new content.

    `look` is called under the lock: a publisher that was suspended after the call still holds the lock, so an older
    result never replaces a newer one.
    """
    path = root.latest(model_id)
    if isinstance(path, ObjectPath):
        return _publish_object(path, model_id, look)
    with locked_folder(path.parent):
        known = look()
        before = _read(path)
        after = before.forward(known)
        if after != before or not path.exists():
            write_atomic(path, [after.text(model_id)])
    return after.regions


def _publish_object(path: ObjectPath, model_id: str, look: Callable[[], KnownRuns]) -> dict[str, LatestRuns]:
    """Like `publish_latest`, without a lock: the file is written only if it is still the one that was read.

    It is written each time, with an increasing number. Otherwise a publisher that was suspended after `look` could not
    notice that another one has since found the file to be correct.
    """
    for _ in range(MOST_TURNS):
        there: Condition = NEW
        before = LatestContent({}, {})
        with suppress(FileNotFoundError):  # it does not exist yet
            data, there = path.read()
            before = _parse(data[:LIMIT_BYTES])
        after = before.forward(look())
        try:
            path.write([after.text(model_id, before.revision + 1)], there)
        except ChangedObject:
            continue
        return after.regions
    raise StorageError(f"{path} was replaced by other processes {MOST_TURNS} times while it was to be written")


@dataclass(frozen=True, slots=True)
class LatestContent:
    """The content of the file: the runs of each region, and the number of hours of each complete run."""

    regions: dict[str, LatestRuns]
    hours: dict[str, int]
    revision: int = field(default=0, compare=False)

    def forward(self, known: KnownRuns) -> LatestContent:
        """The content updated from the catalogue, except where this is newer."""
        none = LatestRuns()
        regions = {
            region: known.without_lost(region, self.regions.get(region, none)).forward(known.runs.get(region, none))
            for region in sorted({*self.regions, *known.runs})
        }
        named = {run for runs in regions.values() for run in (runs.newest, runs.complete)}
        hours = {run: count for run, count in {**self.hours, **known.hours}.items() if run in named}
        return LatestContent(regions, hours)

    def text(self, model_id: str, revision: int = 0) -> bytes:
        content: dict[str, Any] = {
            "model": model_id,
            "regions": {name: asdict(runs) for name, runs in self.regions.items()},
        }
        if self.hours:
            content["hours"] = self.hours
        if revision:
            content["revision"] = revision
        return json.dumps(content, indent=2, sort_keys=True).encode() + b"\n"


class LatestFiles:
    """The files of a data root, each read once, so that all regions and runs are consistent."""

    def __init__(self, root: DataRoot) -> None:
        self.root = root
        self._read: dict[str, LatestContent] = {}

    def __getitem__(self, model_id: str) -> LatestContent:
        if model_id not in self._read:
            self._read[model_id] = _read(self.root.latest(model_id))
        return self._read[model_id]


def read_latest(root: DataRoot, model_id: str) -> dict[str, LatestRuns]:
    """The runs of each region; empty if the file does not exist or cannot be read."""
    return _read(root.latest(model_id)).regions


def named_runs(root: DataRoot, model_id: str) -> set[str]:
    """The runs that the file names."""
    both = (run for runs in read_latest(root, model_id).values() for run in (runs.newest, runs.complete))
    return {run for run in both if run is not None}


def _read(path: StoredPath) -> LatestContent:
    try:
        if isinstance(path, ObjectPath):
            return _parse(path.read_bytes()[:LIMIT_BYTES])
        with open_regular(path) as file:
            return _parse(file.read(LIMIT_BYTES))
    except OSError:
        return LatestContent({}, {})


def _parse(data: bytes) -> LatestContent:
    """Parse what can be read; a damaged file counts as empty."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        value = None
    regions, hours = _table(value, "regions"), _table(value, "hours")
    revision = value.get("revision") if isinstance(value, dict) else None
    return LatestContent(
        {region: _runs(entry) for region, entry in regions.items() if isinstance(entry, dict)},
        {run: count for run, count in hours.items() if type(count) is int and count > 0},
        revision if type(revision) is int else 0,
    )


def _table(value: Any, key: str) -> dict[str, Any]:
    table = value.get(key) if isinstance(value, dict) else None
    return table if isinstance(table, dict) else {}


def _runs(entry: dict[str, Any]) -> LatestRuns:
    return LatestRuns(*(run if _is_run(run := entry.get(key)) else None for key in ("newest", "complete")))


def _is_run(value: Any) -> bool:
    """Whether it is a run that can exist. Any other text may sort after all runs, and would never be replaced."""
    try:
        run_time(value)
    except (IdentityError, TypeError):
        return False
    return True


def _later(one: str | None, other: str | None) -> str | None:
    return max((run for run in (one, other) if run), default=None)
