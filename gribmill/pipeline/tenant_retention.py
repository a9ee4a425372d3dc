"""Retention of regions that are cut for one tenant alone: by age, number of runs and disk space."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gribmill.catalogue.events import RegionRemoved
from gribmill.identity import RunRef
from gribmill.pipeline.context import Context
from gribmill.pipeline.tenant_regions import all_tenants, own_regions
from gribmill.queue.model import Tenant
from gribmill.storage.latest import read_latest
from gribmill.storage.layout import DataRoot, remove_folder, tile_folder


@dataclass(frozen=True, slots=True)
class RegionOnDisk:
    """The tiles of one region of one run, and why they must be kept."""

    run: RunRef
    region: str
    bytes: int
    written_at: datetime
    """When its newest tile was built."""
    protected: str = ""
    """Why they are kept regardless of limits; empty if nothing protects them."""


@dataclass(frozen=True, slots=True)
class RegionDecision:
    """Whether the tiles of a tenant's region are removed from a run, and why or why not."""

    tenant: str
    tiles: RegionOnDisk
    removed: bool
    reason: str


def decide_tenants(
    context: Context, model_id: str | None = None, gone: Iterable[RunRef] = (), now: datetime | None = None
) -> list[RegionDecision]:
    """Decisions for each tenant with retention limits, oldest runs first. Runs in `gone` are left out.

    With `model_id`, only decisions about that model are returned, though disk budgets count all models.
    """
    tenants = all_tenants(context)
    removed = {*gone}
    decisions: list[RegionDecision] = []
    for tenant in tenants:
        if (tenant.keep_days, tenant.keep_runs, tenant.keep_bytes) == (None, None, None):
            continue
        found = [one for one in _on_disk(context, own_regions(context, tenant, tenants)) if one.run not in removed]
        decided = decide_regions(tenant, found, now or datetime.now(UTC))
        decisions += [one for one in decided if model_id in (None, one.tiles.run.model_id)]
    return decisions


def decide_regions(tenant: Tenant, found: Sequence[RegionOnDisk], now: datetime) -> list[RegionDecision]:
    """One decision each, in the order of `found`, which must be sorted oldest runs first."""
    reasons: dict[tuple[RunRef, str], str] = {}
    places: dict[tuple[str, str], int] = {}
    for one in reversed(found):
        series = (one.run.model_id, one.region)
        place = places[series] = places.get(series, 0) + 1
        if tenant.keep_days is not None and now - one.written_at > timedelta(days=tenant.keep_days):
            reasons[one.run, one.region] = f"older than {tenant.keep_days:g} days (keep_days of {tenant.name})"
        elif tenant.keep_runs is not None and place > tenant.keep_runs:
            reasons[one.run, one.region] = f"more than {tenant.keep_runs} runs (keep_runs of {tenant.name})"
    if tenant.keep_bytes is not None:
        _apply_budget(tenant, tenant.keep_bytes, found, reasons)
    return [_decision(tenant, one, reasons.get((one.run, one.region))) for one in found]


def remove_regions(
    root: DataRoot, decisions: Iterable[RegionDecision]
) -> tuple[list[RegionDecision], list[RegionRemoved]]:
    """Remove the files; returns what could not be removed, and the events of the rest."""
    chosen = [one for one in decisions if one.removed]
    left = [one for one in chosen if not _remove(root, one.tiles)]
    return left, [RegionRemoved(one.tiles.run, one.tiles.region) for one in chosen if one not in left]


def prune_regions_now(context: Context, decisions: Iterable[RegionDecision]) -> list[RegionDecision]:
    """Remove files and rows now, outside the queue; returns those that could not be removed."""
    left, events = remove_regions(context.root, decisions)
    context.catalogue.record(events)
    return left


def _apply_budget(
    tenant: Tenant, budget: int, found: Sequence[RegionOnDisk], reasons: dict[tuple[RunRef, str], str]
) -> None:
    """Remove the oldest until the rest fits. Protected ones count towards the budget but are kept."""
    used = sum(one.bytes for one in found if one.protected or (one.run, one.region) not in reasons)
    for one in found:
        if used <= budget:
            return
        if (one.run, one.region) not in reasons and not one.protected:
            reasons[one.run, one.region] = f"more than {budget} bytes are in use (keep_bytes of {tenant.name})"
            used -= one.bytes


def _decision(tenant: Tenant, one: RegionOnDisk, reason: str | None) -> RegionDecision:
    if reason is None or one.protected:
        return RegionDecision(tenant.name, one, False, one.protected or f"within the limits of {tenant.name}")
    return RegionDecision(tenant.name, one, True, reason)


def _on_disk(context: Context, regions: Sequence[str]) -> list[RegionOnDisk]:
    """The tiles of these regions according to the catalogue, oldest runs first."""
    if not regions:
        return []
    found: list[RegionOnDisk] = []
    protected: dict[str, dict[tuple[str, str], str]] = {}
    for record in sorted(context.catalogue.runs(), key=lambda record: (record.ref.run_id, record.ref.model_id)):
        sizes: dict[str, tuple[int, datetime]] = {}
        for tile in context.catalogue.tiles(record.ref):
            if tile.region in regions and tile.built_at is not None:
                size, newest = sizes.get(tile.region, (0, tile.built_at))
                sizes[tile.region] = (size + tile.bytes, max(newest, tile.built_at))
        model = record.ref.model_id
        if sizes and model not in protected:
            protected[model] = _protected(context, model, regions)
        for region, (size, newest) in sizes.items():
            reason = protected[model].get((record.ref.run_id, region), "")
            found.append(RegionOnDisk(record.ref, region, size, newest, reason))
    # Read last, so that jobs enqueued meanwhile count.
    in_use = context.catalogue.runs_in_use()
    return [
        RegionOnDisk(one.run, one.region, one.bytes, one.written_at, "a job needs it")
        if not one.protected and (one.run.model_id, one.run.run_id) in in_use
        else one
        for one in found
    ]


def _protected(context: Context, model_id: str, regions: Sequence[str]) -> dict[tuple[str, str], str]:
    """By run and region: the newest run (it may still be arriving), the newest complete one, and the runs in
    latest.json."""
    newest = context.catalogue.newest_runs(model_id)
    named = read_latest(context.root, model_id)
    runs = [(run, region) for region, both in named.items() for run in (both.newest, both.complete) if run]
    found = dict.fromkeys(runs, "named in latest.json")
    found |= {(newest[region], region): "the newest run" for region in regions if region in newest}
    for region in regions:
        if whole := context.catalogue.newest_complete_run(model_id, region):
            found[whole, region] = "the newest complete run"
    return found


def _remove(root: DataRoot, tiles: RegionOnDisk) -> bool:
    return remove_folder(tile_folder(root.tile_root, tiles.run.model_id, tiles.run.run_id, tiles.region).path)
