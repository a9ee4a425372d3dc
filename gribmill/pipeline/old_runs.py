"""Old runs: which go by age, by count and by disk. Never the newest run of a region, nor its newest complete one."""

from __future__ import annotations

import contextlib
import shutil
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gribmill.catalogue.events import RunRemoved
from gribmill.catalogue.reads import Catalogue
from gribmill.catalogue.records import RunRecord
from gribmill.identity import IdentityError, RunRef
from gribmill.pipeline.context import Context
from gribmill.settings.schema import ChainSettings
from gribmill.storage.latest import named_runs
from gribmill.storage.layout import DataRoot

# No attempt at a tile takes as long.
LEFTOVER_SECONDS = 6 * 3600.0


@dataclass(frozen=True, slots=True)
class RunOnDisk:
    """What one run occupies, and whether it may go."""

    ref: RunRef
    bytes: int
    written_at: datetime
    """When its newest file was written: a backfilled run is as young as its backfill."""
    protected: bool


@dataclass(frozen=True, slots=True)
class OldRun:
    """A run that goes, and why."""

    run: RunOnDisk
    reason: str


def runs_on_disk(root: DataRoot, catalogue: Catalogue, model_id: str | None = None) -> list[RunOnDisk]:
    """Every run with tiles, messages or a row in the catalogue, the oldest first."""
    records = {record.ref: record for record in catalogue.runs(model_id)}
    known = root.runs(model_id) | records.keys()
    newest = {model: _newest(catalogue, model) | named_runs(root, model) for model in {run.model_id for run in known}}
    return [
        RunOnDisk(run, *_measure(root, run, records.get(run)), protected=run.run_id in newest[run.model_id])
        for run in sorted(known, key=lambda run: (run.run_id, run.model_id))
    ]


def choose_old_runs(runs: list[RunOnDisk], settings: ChainSettings, now: datetime | None = None) -> list[OldRun]:
    """Those that are too old, too many of a model, or the oldest while all together need too much disk."""
    oldest_kept = (now or datetime.now(UTC)) - timedelta(days=settings.keep_days)
    chosen: dict[RunRef, OldRun] = {}
    by_model: dict[str, list[RunOnDisk]] = {}
    for run in runs:
        by_model.setdefault(run.ref.model_id, []).append(run)
        if run.written_at < oldest_kept:
            _choose(chosen, run, f"older than {settings.keep_days:g} days")
    for several in by_model.values():
        for run in several[: -settings.keep_runs]:
            _choose(chosen, run, f"more than {settings.keep_runs} runs")
    if settings.keep_gigabytes is not None:
        _choose_by_size(chosen, runs, settings.keep_gigabytes)
    return list(chosen.values())


def prune_now(context: Context, old: list[OldRun]) -> list[OldRun]:
    """Outside the queue: remove the files and rows of these runs at once. Those that could not be removed."""
    left, events = remove_runs(context.root, old)
    context.catalogue.record(events)
    return left


def remove_runs(root: DataRoot, old: list[OldRun]) -> tuple[list[OldRun], list[RunRemoved]]:
    """Remove the files of these runs, and what killed writers left. The runs that remain, and the others' events."""
    left = [one for one in old if not _remove_run(root, one.run.ref)]
    remove_leftovers(root, time.time() - LEFTOVER_SECONDS)
    return left, [RunRemoved(one.run.ref) for one in old if one not in left]


def explain_left(root: DataRoot, left: list[OldRun]) -> str:
    """Files of another account, or a run that is being written."""
    names = ", ".join([*(str(one.run.ref) for one in left[:5]), *("…" for _ in left[5:6])])
    return f"{root}: could not remove all files of {names}; check their ownership"


def remove_leftovers(root: DataRoot, before: float) -> int:
    """Half-written files whose writers were killed, not changed since that time; how many there were."""
    count = 0
    for path in root.parts():
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_mtime < before:
                path.unlink()
                count += 1
    return count


def _remove_run(root: DataRoot, run: RunRef) -> bool:
    """Its messages and its tiles; whether all of them are gone."""
    folders = root.run_folders(run)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    return not any(folder.exists() for folder in folders)


def _choose_by_size(chosen: dict[RunRef, OldRun], runs: list[RunOnDisk], gigabytes: float) -> None:
    used = sum(run.bytes for run in runs if run.ref not in chosen)
    for run in runs:
        if used <= gigabytes * 1e9:
            return
        if run.ref not in chosen and not run.protected:
            _choose(chosen, run, f"all together need more than {gigabytes:g} GB")
            used -= run.bytes


def _choose(chosen: dict[RunRef, OldRun], run: RunOnDisk, reason: str) -> None:
    if not run.protected:
        chosen.setdefault(run.ref, OldRun(run, reason))


def _newest(catalogue: Catalogue, model_id: str) -> set[str]:
    """The newest run of each region, and its newest complete one. The newest may be arriving still."""
    newest = catalogue.newest_runs(model_id)
    complete = {catalogue.newest_complete_run(model_id, region) for region in newest}
    return {run_id for run_id in (*newest.values(), *complete) if run_id}


def _measure(root: DataRoot, run: RunRef, record: RunRecord | None) -> tuple[int, datetime]:
    """The bytes of a run's files, and when the newest was written.

    A run without files is as old as its date, but a backfill that waits is as young as its request.
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
