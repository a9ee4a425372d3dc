"""latest.json of a model: the newest run and the newest complete run of each region. It only moves forward."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from gribmill.storage.atomic import write_atomic
from gribmill.storage.layout import DataRoot, lock_of

LIMIT_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class LatestRuns:
    """The run ids of one region."""

    newest: str | None = None
    complete: str | None = None

    def forward(self, other: LatestRuns) -> LatestRuns:
        """The later of both. Run ids sort by time."""
        return LatestRuns(_later(self.newest, other.newest), _later(self.complete, other.complete))


def publish_latest(root: DataRoot, model_id: str, known: Mapping[str, LatestRuns]) -> dict[str, LatestRuns]:
    """Write what is known of each region, unless the file has something newer. What it says now."""
    path = root.latest(model_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    with lock_of(path).open("w") as lock:
        # Two publishers at once: the second one reads what the first one wrote.
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = read_latest(root, model_id)
        after = {
            region: before.get(region, LatestRuns()).forward(known.get(region, LatestRuns()))
            for region in sorted({*before, *known})
        }
        if after != before or not path.exists():
            regions = {region: asdict(runs) for region, runs in after.items()}
            text = json.dumps({"model": model_id, "regions": regions}, indent=2, sort_keys=True)
            write_atomic(path, [text.encode(), b"\n"])
    return after


def read_latest(root: DataRoot, model_id: str) -> dict[str, LatestRuns]:
    """What the file says of each region; empty where there is none, or nothing that can be read."""
    try:
        with root.latest(model_id).open("rb") as file:
            value = json.loads(file.read(LIMIT_BYTES))
    except (OSError, ValueError):
        return {}
    regions = value.get("regions") if isinstance(value, dict) else None
    entries = regions.items() if isinstance(regions, dict) else ()
    return {region: _runs(entry) for region, entry in entries if isinstance(entry, dict)}


def named_runs(root: DataRoot, model_id: str) -> set[str]:
    """The runs that the file sends readers to."""
    both = (run for runs in read_latest(root, model_id).values() for run in (runs.newest, runs.complete))
    return {run for run in both if run is not None}


def _runs(entry: dict[str, Any]) -> LatestRuns:
    return LatestRuns(*(run if isinstance(run := entry.get(key), str) else None for key in ("newest", "complete")))


def _later(one: str | None, other: str | None) -> str | None:
    return max((run for run in (one, other) if run), default=None)
