"""tiles/{model}/latest.json: the newest run and the newest complete run of each region. It only moves forward."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any

from gribmill.catalogue.reads import Catalogue

NAME = "latest.json"
LIMIT_BYTES = 1_000_000


def publish_latest(catalogue: Catalogue, data: Path, model_id: str) -> dict[str, Any]:
    """Write what the catalogue knows, unless the file knows of something newer. What it says now."""
    folder = data / "tiles" / model_id
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f".{NAME}.lock").open("w") as lock:
        # Two publishers at once: the second one reads what the first one wrote.
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = read_latest(data, model_id)
        after = {"model": model_id, "regions": _forward(before.get("regions", {}), _known(catalogue, model_id))}
        if after != before:
            _replace(folder / NAME, json.dumps(after, indent=2, sort_keys=True) + "\n")
    return after


def read_latest(data: Path, model_id: str) -> dict[str, Any]:
    """What the file says; empty where there is none, or nothing that can be read."""
    path = data / "tiles" / model_id / NAME
    try:
        with path.open("rb") as file:
            value = json.loads(file.read(LIMIT_BYTES))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def named_runs(data: Path, model_id: str) -> set[str]:
    """The runs that the file sends readers to."""
    regions = read_latest(data, model_id).get("regions")
    entries = [entry for entry in regions.values() if isinstance(entry, dict)] if isinstance(regions, dict) else []
    return {run_id for entry in entries for run_id in entry.values() if isinstance(run_id, str)}


def _known(catalogue: Catalogue, model_id: str) -> dict[str, dict[str, str | None]]:
    return {
        region: {"newest": newest, "complete": catalogue.newest_complete_run(model_id, region)}
        for region, newest in catalogue.newest_runs(model_id).items()
    }


def _forward(before: dict[str, Any], after: dict[str, dict[str, str | None]]) -> dict[str, dict[str, str | None]]:
    """The later of both, region by region. Run ids sort by time."""
    merged: dict[str, dict[str, str | None]] = {}
    for region in sorted({*before, *after}):
        old, new = before.get(region, {}), after.get(region, {})
        merged[region] = {
            key: max((value for value in (old.get(key), new.get(key)) if value), default=None)
            for key in ("newest", "complete")
        }
    return merged


def _replace(path: Path, text: str) -> None:
    partial = path.with_name(f".{path.name}.tmp")
    with partial.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
