"""prune: old runs go, by age, by count and by disk; never the newest run of a model, nor its newest complete one."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from gribmill.identity import IdentityError, ModelId, RunRef
from gribmill.queue.job_type import Args, JobType
from gribmill.queue.model import Failed, Outcome, Succeeded
from gribmill.queue.worker.task import Task
from gribmill.storage.latest import named_runs
from gribmill.storage.layout import DataRoot

if TYPE_CHECKING:
    from gribmill.catalogue.events import RunRemoved
    from gribmill.catalogue.reads import Catalogue
    from gribmill.pipeline.context import Context
    from gribmill.settings.schema import ChainSettings


# No attempt at a tile lasts as long.
LEFTOVER_SECONDS = 6 * 3600.0


class PruneArgs(Args):
    """One model, or all of them."""

    model_id: ModelId | None = None


@dataclass(frozen=True, slots=True)
class RunOnDisk:
    """What one run occupies, and whether it may go."""

    ref: RunRef
    bytes: int
    written_at: datetime
    """When it last got a file: a backfilled run is as young as its backfill."""
    protected: bool


@dataclass(frozen=True, slots=True)
class Doomed:
    """A run that goes, and why."""

    run: RunOnDisk
    reason: str


def run(task: Task) -> Outcome:
    """Remove the files first, the catalogue's rows with the completion: a crash in between is repeated, not lost."""
    from gribmill.pipeline.context import context_of
    from gribmill.pipeline.effects import effects_of

    args = task.args_as(PruneArgs)
    context = context_of(task)
    doomed = choose(runs_on_disk(context.root, context.catalogue, args.model_id), context.settings.chain)
    stuck, events = _remove(context.root, doomed)
    also = effects_of(events)
    return Failed(complaint_of(context.root, stuck), also=also) if stuck else Succeeded(also=also)


def runs_on_disk(root: DataRoot, catalogue: Catalogue, model_id: str | None = None) -> list[RunOnDisk]:
    """Every run with tiles, messages or a row in the catalogue, the oldest first."""
    known = root.runs(model_id) | {record.run for record in catalogue.runs(model_id)}
    newest = {model: _newest(catalogue, model) | named_runs(root, model) for model in {run.model_id for run in known}}
    return [
        RunOnDisk(run, *_measure(root, run), protected=run.run_id in newest[run.model_id])
        for run in sorted(known, key=lambda run: (run.run_id, run.model_id))
    ]


def choose(runs: list[RunOnDisk], settings: ChainSettings, now: datetime | None = None) -> list[Doomed]:
    """Which runs go: too old, too many of a model, or the oldest while all together need too much disk."""
    oldest_kept = (now or datetime.now(UTC)) - timedelta(days=settings.keep_days)
    doomed: dict[RunRef, Doomed] = {}
    models: dict[str, list[RunOnDisk]] = {}
    for one in runs:
        models.setdefault(one.ref.model_id, []).append(one)
        if one.written_at < oldest_kept:
            _doom(doomed, one, f"older than {settings.keep_days:g} days")
    for several in models.values():
        for one in several[: -settings.keep_runs]:
            _doom(doomed, one, f"more than {settings.keep_runs} runs")
    if settings.keep_gigabytes is not None:
        _fit(doomed, runs, settings.keep_gigabytes)
    return list(doomed.values())


def remove_run(root: DataRoot, run: RunRef) -> bool:
    """Its messages and its tiles; whether all of them are gone."""
    import shutil  # late: it brings every compressor along, and each worker imports this module

    folders = root.run_folders(run)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    return not any(folder.exists() for folder in folders)


def complaint_of(root: DataRoot, stuck: list[Doomed]) -> str:
    """Files of another account, or a run that is being written just now."""
    names = ", ".join([*(str(one.run.ref) for one in stuck[:5]), *("…" for _ in stuck[5:6])])
    return f"{root}: these runs cannot be removed whole: {names}; look who owns their files"


def remove_leftovers(root: DataRoot, before: float) -> int:
    """Half-written tiles whose writers died, not touched since that time; how many there were."""
    count = 0
    for path in root.parts():
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_mtime < before:
                path.unlink()
                count += 1
    return count


def prune_now(context: Context, doomed: list[Doomed]) -> list[Doomed]:
    """Outside the queue: files and rows of these runs go at once. Those that could not be removed."""
    stuck, events = _remove(context.root, doomed)
    context.catalogue.record(events)
    return stuck


def _remove(root: DataRoot, doomed: list[Doomed]) -> tuple[list[Doomed], list[RunRemoved]]:
    """The files of these runs go, and what dead writers left; the runs that resist, and the events of the others."""
    from gribmill.catalogue.events import RunRemoved

    stuck = [one for one in doomed if not remove_run(root, one.run.ref)]
    remove_leftovers(root, time.time() - LEFTOVER_SECONDS)
    return stuck, [RunRemoved(one.run.ref) for one in doomed if one not in stuck]


def _fit(doomed: dict[RunRef, Doomed], runs: list[RunOnDisk], gigabytes: float) -> None:
    used = sum(one.bytes for one in runs if one.ref not in doomed)
    for one in runs:
        if used <= gigabytes * 1e9:
            return
        if one.ref not in doomed and not one.protected:
            _doom(doomed, one, f"all together need more than {gigabytes:g} GB")
            used -= one.bytes


def _doom(doomed: dict[RunRef, Doomed], run: RunOnDisk, reason: str) -> None:
    if not run.protected:
        doomed.setdefault(run.ref, Doomed(run, reason))


def _newest(catalogue: Catalogue, model_id: str) -> set[str]:
    """The newest run of each region, and its newest complete one: one may be arriving, and latest.json will name it."""
    newest = catalogue.newest_runs(model_id)
    complete = {catalogue.newest_complete_run(model_id, region) for region in newest}
    return {run_id for run_id in (*newest.values(), *complete) if run_id}


def _measure(root: DataRoot, run: RunRef) -> tuple[int, datetime]:
    """The bytes of a run's files, and when the newest was written; a run without files is as old as its date."""
    total, newest = 0, _began(run)
    for file in root.run_files(run):
        total += file.st_size
        newest = max(newest, datetime.fromtimestamp(file.st_mtime, UTC))
    return total, newest


def _began(run: RunRef) -> datetime:
    try:
        return run.time
    except IdentityError:
        return datetime.fromtimestamp(0, UTC)  # a stray folder that only looks like a run


PRUNE = JobType(
    key="prune",
    description="Removes old runs: by age, by count, by disk.",
    args=PruneArgs,
    lane="fetch",
    handler="gribmill.pipeline.handlers.prune:run",
    timeout_seconds=1800,
    max_attempts=3,
    dedupe=True,
)
