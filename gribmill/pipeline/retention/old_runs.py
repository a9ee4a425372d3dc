"""Runs on disk: their size, what protects them, and their removal. `retention` decides which are removed."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from gribmill.catalogue.events import RunRemoved
from gribmill.catalogue.reads import Catalogue
from gribmill.catalogue.records import RunRecord
from gribmill.identity import IdentityError, RunRef
from gribmill.pipeline.context import Context
from gribmill.pipeline.retention.retention import RunDecision, RunOnDisk
from gribmill.storage.latest import named_runs
from gribmill.storage.layout import DataRoot, remove_folder

# Longer than any attempt to build a tile.
LEFTOVER_SECONDS = 6 * 3600.0


def runs_on_disk(root: DataRoot, catalogue: Catalogue, model_id: str | None = None) -> list[RunOnDisk]:
    """Every run with tiles, messages or a row in the catalogue, oldest first."""
    records = {record.ref: record for record in catalogue.runs(model_id)}
    known = root.runs(model_id) | records.keys()
    protected: dict[RunRef, str] = {}
    for model in {run.model_id for run in known}:
        protected |= _protected(root, catalogue, model)
    # Read last, so that jobs enqueued during the disk scan count.
    in_use = catalogue.runs_in_use()
    return [
        RunOnDisk(
            run,
            *_measure(root, run, records.get(run)),
            protected=protected.get(run, "a job needs it" if (run.model_id, run.run_id) in in_use else ""),
        )
        for run in sorted(known, key=lambda run: (run.run_id, run.model_id))
    ]


def prune_now(context: Context, old: list[RunDecision]) -> list[RunDecision]:
    """Remove the files and rows of these runs now, outside the queue; returns those that could not be removed."""
    left, events = remove_runs(context.root, old)
    context.catalogue.record(events)
    return left


def remove_runs(root: DataRoot, old: Iterable[RunDecision]) -> tuple[list[RunDecision], list[RunRemoved]]:
    """Remove the files of the runs to be removed, and leftovers of killed writers. Returns the runs that could not be
    removed, and the events of the others."""
    chosen = [one for one in old if one.removed]
    left = [one for one in chosen if not _remove_run(root, one.run.ref)]
    remove_leftovers(root, time.time() - LEFTOVER_SECONDS)
    return left, [RunRemoved(one.run.ref) for one in chosen if one not in left]


def explain_left(root: DataRoot, left: Sequence[RunRef]) -> str:
    """Why runs could not be removed: files of another account, or a run that is being written."""
    names = ", ".join([*(str(one) for one in left[:5]), *("…" for _ in left[5:6])])
    return f"{root}: could not remove all files of {names}; check their ownership"


def remove_leftovers(root: DataRoot, before: float) -> int:
    """Remove half-written files of killed writers that have not changed since `before`; returns how many."""
    count = 0
    for path in root.parts():
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_mtime < before:
                path.unlink()
                count += 1
    return count


def _remove_run(root: DataRoot, run: RunRef) -> bool:
    """Remove a run's messages and tiles; returns whether all of them are gone."""
    return all(remove_folder(folder) for folder in root.run_folders(run))


def _protected(root: DataRoot, catalogue: Catalogue, model_id: str) -> dict[RunRef, str]:
    """The newest run of each region (it may still be arriving), its newest complete run, and the runs in
    latest.json."""
    newest: dict[str, list[str]] = {}
    complete: dict[str, list[str]] = {}
    for region, run_id in catalogue.newest_runs(model_id).items():
        newest.setdefault(run_id, []).append(region)
        if whole := catalogue.newest_complete_run(model_id, region):
            complete.setdefault(whole, []).append(region)
    found = dict.fromkeys(named_runs(root, model_id), "named in latest.json")
    found |= {run_id: f"the newest run of {', '.join(regions)}" for run_id, regions in newest.items()}
    found |= {run_id: f"the newest complete run of {', '.join(regions)}" for run_id, regions in complete.items()}
    return {RunRef(model_id, run_id): reason for run_id, reason in found.items()}


def _measure(root: DataRoot, run: RunRef, record: RunRecord | None) -> tuple[int, datetime]:
    """The bytes of a run's files, and when the newest was written.

    A run without files is dated by its start, but one that waits for a backfill by its request.
    """
    total, newest = 0, _began(run)
    if record is not None and not record.final and record.first_seen_at is not None:
        newest = max(newest, record.first_seen_at)
    for file in root.run_files(run):
        total += file.st_size
        newest = max(newest, datetime.fromtimestamp(file.st_mtime, UTC))
    return total, newest


def _began(run: RunRef) -> datetime:
    try:
        return run.time
    except IdentityError:
        return datetime.fromtimestamp(0, UTC)  # a folder such as 20261399_00, which only looks like a run
