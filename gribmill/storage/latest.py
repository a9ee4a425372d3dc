"""latest.json of a model: the newest run and the newest complete run of each region.

It only moves forward, unless the complete run has lost a tile.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Set
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from gribmill.storage.atomic import write_atomic
from gribmill.storage.folder_lock import locked_folder
from gribmill.storage.layout import DataRoot

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
    """What the catalogue knows: the runs of each region, and those of which a region has lost a tile.

    `hours` is how many forecast hours a run has when it is complete, by run id.
    """

    runs: Mapping[str, LatestRuns]
    lost: Set[tuple[str, str]] = frozenset()
    hours: Mapping[str, int] = field(default_factory=dict)

    def without_lost(self, region: str, before: LatestRuns) -> LatestRuns:
        """What the file said, unless that run is not complete any more: the only way back."""
        return replace(before, complete=None) if (region, before.complete) in self.lost else before


def publish_latest(root: DataRoot, model_id: str, look: Callable[[], KnownRuns]) -> dict[str, LatestRuns]:
    """Write what is known of each region, unless the file has something newer. What it says now.

    `look` is called under the lock: a publisher that was frozen after its look still has the lock, so that no newer
    answer can be replaced by an older one.
    """
    path = root.latest(model_id)
    with locked_folder(path.parent):
        known = look()
        before = read_latest(root, model_id)
        after = {
            region: known.without_lost(region, before.get(region, LatestRuns())).forward(
                known.runs.get(region, LatestRuns())
            )
            for region in sorted({*before, *known.runs})
        }
        named = {run for runs in after.values() for run in (runs.newest, runs.complete)}
        known_hours = read_hours(root, model_id)
        counts = {run: count for run, count in {**known_hours, **known.hours}.items() if run in named}
        if after != before or counts != known_hours or not path.exists():
            content: dict[str, Any] = {
                "model": model_id,
                "regions": {name: asdict(runs) for name, runs in after.items()},
            }
            if counts:
                content["hours"] = counts
            write_atomic(path, [json.dumps(content, indent=2, sort_keys=True).encode(), b"\n"])
    return after


def read_latest(root: DataRoot, model_id: str) -> dict[str, LatestRuns]:
    """What the file says of each region; empty where there is none, or nothing that can be read."""
    return {
        region: _runs(entry) for region, entry in _table(root, model_id, "regions").items() if isinstance(entry, dict)
    }


def read_hours(root: DataRoot, model_id: str) -> dict[str, int]:
    """How many forecast hours each run that the file names has when it is complete, where that is known."""
    return {run: count for run, count in _table(root, model_id, "hours").items() if type(count) is int and count > 0}


def named_runs(root: DataRoot, model_id: str) -> set[str]:
    """The runs that the file sends readers to."""
    both = (run for runs in read_latest(root, model_id).values() for run in (runs.newest, runs.complete))
    return {run for run in both if run is not None}


def _table(root: DataRoot, model_id: str, key: str) -> dict[str, Any]:
    try:
        with root.latest(model_id).open("rb") as file:
            value = json.loads(file.read(LIMIT_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    table = value.get(key) if isinstance(value, dict) else None
    return table if isinstance(table, dict) else {}


def _runs(entry: dict[str, Any]) -> LatestRuns:
    return LatestRuns(*(run if isinstance(run := entry.get(key), str) else None for key in ("newest", "complete")))


def _later(one: str | None, other: str | None) -> str | None:
    return max((run for run in (one, other) if run), default=None)
