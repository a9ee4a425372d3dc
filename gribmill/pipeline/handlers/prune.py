"""prune: old runs go, by age, by count and by disk; never the newest run of a model, nor its newest complete one."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from gribmill.identity import IdentityError, ModelId, RunRef, run_time
from gribmill.queue.job_type import Args, JobType
from gribmill.queue.model import Failed, Outcome, Succeeded
from gribmill.queue.worker.task import Task
from gribmill.storage.atomic import TEMPORARY_SUFFIX
from gribmill.storage.latest import named_runs
from gribmill.storage.run_files import ROOMS, files_of, folders_of

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

    model_id: str
    run_id: str
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
    doomed = choose(runs_on_disk(context.data, context.catalogue, args.model_id), context.settings.chain)
    stuck, events = _remove(context.data, doomed)
    also = effects_of(events)
    return Failed(complaint_of(context.data, stuck), also=also) if stuck else Succeeded(also=also)


def runs_on_disk(data: Path, catalogue: Catalogue, model_id: str | None = None) -> list[RunOnDisk]:
    """Every run with tiles, messages or a row in the catalogue, the oldest first."""
    known = {(record.model_id, record.run_id) for record in catalogue.runs(model_id)}
    for room in ROOMS:
        known |= {
            (folder.parent.name, folder.name)
            for folder in (data / room).glob("*/????????_??")
            if model_id in (None, folder.parent.name)
        }
    newest = {model: _newest(catalogue, model) | named_runs(data, model) for model in {model for model, _ in known}}
    return [
        RunOnDisk(model, run_id, *_measure(data, model, run_id), protected=run_id in newest[model])
        for model, run_id in sorted(known, key=lambda pair: (pair[1], pair[0]))
    ]


def choose(runs: list[RunOnDisk], settings: ChainSettings, now: datetime | None = None) -> list[Doomed]:
    """Which runs go: too old, too many of a model, or the oldest while all together need too much disk."""
    oldest_kept = (now or datetime.now(UTC)) - timedelta(days=settings.keep_days)
    doomed: dict[tuple[str, str], Doomed] = {}
    models: dict[str, list[RunOnDisk]] = {}
    for one in runs:
        models.setdefault(one.model_id, []).append(one)
        if one.written_at < oldest_kept:
            _doom(doomed, one, f"older than {settings.keep_days:g} days")
    for several in models.values():
        for one in several[: -settings.keep_runs]:
            _doom(doomed, one, f"more than {settings.keep_runs} runs")
    if settings.keep_gigabytes is not None:
        _fit(doomed, runs, settings.keep_gigabytes)
    return list(doomed.values())


def remove_run(data: Path, run: RunOnDisk) -> bool:
    """Its messages and its tiles; whether all of them are gone."""
    import shutil  # late: it brings every compressor along, and each worker imports this module

    folders = folders_of(data, run.model_id, run.run_id)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    return not any(folder.exists() for folder in folders)


def complaint_of(data: Path, stuck: list[Doomed]) -> str:
    """Files of another account, or a run that is being written just now."""
    names = ", ".join([*(f"{one.run.model_id}/{one.run.run_id}" for one in stuck[:5]), *("…" for _ in stuck[5:6])])
    return f"{data}: these runs cannot be removed whole: {names}; look who owns their files"


def remove_leftovers(data: Path, before: float) -> int:
    """Half-written tiles whose writers died, not touched since that time; how many there were."""
    count = 0
    for path in (data / "tiles").glob(f"*/*/*/.*{TEMPORARY_SUFFIX}"):
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_mtime < before:
                path.unlink()
                count += 1
    return count


def prune_now(context: Context, doomed: list[Doomed]) -> list[Doomed]:
    """Outside the queue: files and rows of these runs go at once. Those that could not be removed."""
    stuck, events = _remove(context.data, doomed)
    context.catalogue.record(events)
    return stuck


def _remove(data: Path, doomed: list[Doomed]) -> tuple[list[Doomed], list[RunRemoved]]:
    """The files of these runs go, and what dead writers left; the runs that resist, and the events of the others."""
    from gribmill.catalogue.events import RunRemoved

    stuck = [one for one in doomed if not remove_run(data, one.run)]
    remove_leftovers(data, time.time() - LEFTOVER_SECONDS)
    return stuck, [RunRemoved(RunRef(one.run.model_id, one.run.run_id)) for one in doomed if one not in stuck]


def _fit(doomed: dict[tuple[str, str], Doomed], runs: list[RunOnDisk], gigabytes: float) -> None:
    used = sum(one.bytes for one in runs if (one.model_id, one.run_id) not in doomed)
    for one in runs:
        if used <= gigabytes * 1e9:
            return
        if (one.model_id, one.run_id) not in doomed and not one.protected:
            _doom(doomed, one, f"all together need more than {gigabytes:g} GB")
            used -= one.bytes


def _doom(doomed: dict[tuple[str, str], Doomed], run: RunOnDisk, reason: str) -> None:
    if not run.protected:
        doomed.setdefault((run.model_id, run.run_id), Doomed(run, reason))


def _newest(catalogue: Catalogue, model_id: str) -> set[str]:
    """The newest run of each region, and its newest complete one: one may be arriving, and latest.json will name it."""
    newest = catalogue.newest_runs(model_id)
    complete = {catalogue.newest_complete_run(model_id, region) for region in newest}
    return {run_id for run_id in (*newest.values(), *complete) if run_id}


def _measure(data: Path, model_id: str, run_id: str) -> tuple[int, datetime]:
    """The bytes of a run's files, and when the newest was written; a run without files is as old as its date."""
    total, newest = 0, _began(run_id)
    for file in files_of(data, model_id, run_id):
        total += file.st_size
        newest = max(newest, datetime.fromtimestamp(file.st_mtime, UTC))
    return total, newest


def _began(run_id: str) -> datetime:
    try:
        return run_time(run_id)
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
