"""Which runs are kept and which are removed, each with the reason: by age, number and disk space."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from gribmill.identity import RunRef

if TYPE_CHECKING:
    from gribmill.settings.schema import Settings


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


@dataclass(frozen=True, slots=True)
class RunLimits:
    """The limits of one model. Reasons name the setting that each limit comes from."""

    days: float
    runs: int
    days_from: str
    runs_from: str


@dataclass(frozen=True, slots=True)
class DiskBudget:
    """The combined disk space of some models; `owner` is a model, a family, or None for all."""

    gigabytes: float
    setting: str
    owner: str | None = None

    def covers(self, model_id: str) -> bool:
        return self.owner in (None, model_id, family_of(model_id))


def decide(runs: Iterable[RunOnDisk], settings: Settings, now: datetime | None = None) -> list[RunDecision]:
    """One decision per run, in the order of `runs`, which must be sorted oldest first."""
    moment = now or datetime.now(UTC)
    known = [*runs]
    reasons: dict[RunRef, str] = {}
    kept: dict[RunRef, str] = {}
    for several in _by_model(known).values():
        limits = limits_of(settings, several[0].ref.model_id)
        for place, run in enumerate(reversed(several), start=1):
            age = moment - run.written_at
            if age > timedelta(days=limits.days):
                reasons[run.ref] = f"older than {limits.days:g} days ({limits.days_from})"
            elif place > limits.runs:
                reasons[run.ref] = f"more than {limits.runs} runs ({limits.runs_from})"
            else:
                days = max(age, timedelta()).total_seconds() / 86400
                kept[run.ref] = f"{days:.1f} days old (limit {limits.days:g}), run {place} of at most {limits.runs}"
    for budget in budgets_of(settings):
        _apply_budget(budget, known, reasons)
    return [_decision(run, reasons.get(run.ref), kept.get(run.ref, "")) for run in known]


def _decision(run: RunOnDisk, reason: str | None, kept: str) -> RunDecision:
    if reason is None or run.protected:
        return RunDecision(run, False, run.protected or kept)
    return RunDecision(run, True, reason)


def limits_of(settings: Settings, model_id: str) -> RunLimits:
    """The limits of a model: its own in [retention], else those of its family, else those of [chain]."""
    limits = RunLimits(settings.chain.keep_days, settings.chain.keep_runs, "chain.keep_days", "chain.keep_runs")
    for name in (family_of(model_id), model_id):
        own = settings.retention.get(name)
        if own is None:
            continue
        days = (limits.days, limits.days_from) if own.keep_days is None else (own.keep_days, _key(name, "keep_days"))
        count = (limits.runs, limits.runs_from) if own.keep_runs is None else (own.keep_runs, _key(name, "keep_runs"))
        limits = RunLimits(days[0], count[0], days[1], count[1])
    return limits


def budgets_of(settings: Settings) -> list[DiskBudget]:
    """The disk budgets, those of models and families first, because their removals count towards the overall one."""
    own = [
        DiskBudget(table.keep_gigabytes, _key(name, "keep_gigabytes"), name)
        for name, table in settings.retention.items()
        if table.keep_gigabytes is not None
    ]
    total = settings.chain.keep_gigabytes
    return [*own, *([] if total is None else [DiskBudget(total, "chain.keep_gigabytes")])]


def family_of(model_id: str) -> str:
    return model_id.partition(".")[0]


def _apply_budget(budget: DiskBudget, runs: list[RunOnDisk], reasons: dict[RunRef, str]) -> None:
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
