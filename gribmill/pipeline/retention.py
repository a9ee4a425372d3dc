"""Runs on disk: which are kept and which are removed, each with the reason, and their removal."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gribmill.catalogue.events import RunRemoved
from gribmill.catalogue.reads import Catalogue
from gribmill.catalogue.records import RunRecord
from gribmill.identity import IdentityError, RunRef
from gribmill.pipeline.context import Context
from gribmill.settings.schema import Settings
from gribmill.storage.latest import named_runs
from gribmill.storage.layout import DataRoot, remove_folder

# Longer than any attempt to build a tile.
LEFTOVER_SECONDS = 6 * 3600.0


@dataclass(frozen=True, slots=True)
class RunOnDisk:
    """The size of one run, and why it must be kept."""

    ref: RunRef
    bytes: int
    written_at: datetime
    """When its newest file was written; for a backfilled run, the time of the backfill."""
    protected: str = ""
    """Why it is kept regardless of limits; empty if nothing protects it."""


@dataclass(frozen=True, slots=True)
class RunDecision:
    """Whether a run is removed, and why or why not."""

    run: RunOnDisk
    removed: bool
    reason: str


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


def decide(runs: Iterable[RunOnDisk], settings: Settings, now: datetime | None = None) -> list[RunDecision]:
    """One decision per run, in the order of `runs`, which must be sorted oldest first."""
    moment = now or datetime.now(UTC)
    known = [*runs]
    reasons: dict[RunRef, str] = {}
    kept: dict[RunRef, str] = {}
    for several in _by_model(known).values():
        limits = _limits_of(settings, several[0].ref.model_id)
        for place, run in enumerate(reversed(several), start=1):
            age = moment - run.written_at
            if age > timedelta(days=limits.days):
                reasons[run.ref] = f"older than {limits.days:g} days ({limits.days_from})"
            elif place > limits.runs:
                reasons[run.ref] = f"more than {limits.runs} runs ({limits.runs_from})"
            else:
                days = max(age, timedelta()).total_seconds() / 86400
                kept[run.ref] = f"{days:.1f} days old (limit {limits.days:g}), run {place} of at most {limits.runs}"
    for budget in _budgets_of(settings):
        _apply_budget(budget, known, reasons)
    return [_decision(run, reasons.get(run.ref), kept.get(run.ref, "")) for run in known]


@dataclass(frozen=True, slots=True)
class _RunLimits:
    """The limits of one model. Reasons name the setting that each limit comes from."""

    days: float
    runs: int
    days_from: str
    runs_from: str


@dataclass(frozen=True, slots=True)
class _DiskBudget:
    """The combined disk space of some models; `owner` is a model, a family, or None for all."""

    gigabytes: float
    setting: str
    owner: str | None = None

    def covers(self, model_id: str) -> bool:
        return self.owner in (None, model_id, _family_of(model_id))


def _decision(run: RunOnDisk, reason: str | None, kept: str) -> RunDecision:
    if reason is None or run.protected:
        return RunDecision(run, False, run.protected or kept)
    return RunDecision(run, True, reason)


def _limits_of(settings: Settings, model_id: str) -> _RunLimits:
    """The limits of a model: its own in [retention], else those of its family, else those of [chain]."""
    limits = _RunLimits(settings.chain.keep_days, settings.chain.keep_runs, "chain.keep_days", "chain.keep_runs")
    for name in (_family_of(model_id), model_id):
        own = settings.retention.get(name)
        if own is None:
            continue
        days = (limits.days, limits.days_from) if own.keep_days is None else (own.keep_days, _key(name, "keep_days"))
        count = (limits.runs, limits.runs_from) if own.keep_runs is None else (own.keep_runs, _key(name, "keep_runs"))
        limits = _RunLimits(days[0], count[0], days[1], count[1])
    return limits


def _budgets_of(settings: Settings) -> list[_DiskBudget]:
    """The disk budgets, those of models and families first, because their removals count towards the overall one."""
    own = [
        _DiskBudget(table.keep_gigabytes, _key(name, "keep_gigabytes"), name)
        for name, table in settings.retention.items()
        if table.keep_gigabytes is not None
    ]
    total = settings.chain.keep_gigabytes
    return [*own, *([] if total is None else [_DiskBudget(total, "chain.keep_gigabytes")])]


def _family_of(model_id: str) -> str:
    return model_id.partition(".")[0]


def _apply_budget(budget: _DiskBudget, runs: list[RunOnDisk], reasons: dict[RunRef, str]) -> None:
    """Remove the oldest runs until the rest fits. Protected runs count towards the budget but are kept."""
    covered = [run for run in runs if budget.covers(run.ref.model_id)]
    used = sum(run.bytes for run in covered if run.protected or run.ref not in reasons)
    for run in covered:
        if used <= budget.gigabytes * 1e9:
            return
        if run.ref not in reasons and not run.protected:
            reasons[run.ref] = f"more than {budget.gigabytes:g} GB are in use ({budget.setting})"
            used -= run.bytes


def _by_model(runs: Iterable[RunOnDisk]) -> dict[str, list[RunOnDisk]]:
    found: dict[str, list[RunOnDisk]] = {}
    for run in runs:
        found.setdefault(run.ref.model_id, []).append(run)
    return found


def _key(name: str, key: str) -> str:
    return f"retention.{name}.{key}"


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
