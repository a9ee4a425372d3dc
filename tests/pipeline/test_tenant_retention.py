"""Tenants' retention of their own regions by age, count and disk; the newest complete run always stays."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gribmill.cli.main import main
from gribmill.identity import HourRef, RunRef, run_time
from gribmill.pipeline.context import Context
from gribmill.pipeline.job_types import tile_jobs
from gribmill.pipeline.open_queue import open_queue
from gribmill.pipeline.tenant_retention import (
    RegionDecision,
    RegionOnDisk,
    decide_regions,
    decide_tenants,
    prune_regions_now,
)
from gribmill.queue.model import NewJob, NewTenant, Tenant
from gribmill.queue.store import Store
from gribmill.queue.worker.in_process import Ticker
from gribmill.settings.schema import Settings
from tests.pipeline.conftest import Scribe

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
RUNS = ("20261115_00", "20261115_06", "20261115_12", "20261116_00")
OLD, MIDDLE, WHOLE, NEWEST = RUNS


def on_disk(*run_ids: str, protected: str = "", region: str = "ne") -> list[RegionOnDisk]:
    return [
        RegionOnDisk(RunRef("hrrr", run), region, 100, run_time(run), "needed" if run == protected else "")
        for run in run_ids
    ]


def gone(found: Sequence[RegionOnDisk], **limits: Any) -> list[str]:
    decided = decide_regions(Tenant("acme", **limits), found, NOW)
    return [one.tiles.run.run_id for one in decided if one.removed]


def test_regions_are_removed_by_age_count_and_disk_oldest_first() -> None:
    assert gone(on_disk(*RUNS), keep_days=1.2) == [OLD, MIDDLE]
    assert gone(on_disk(*RUNS), keep_runs=3) == [OLD]
    assert gone(on_disk(*RUNS), keep_bytes=250) == [OLD, MIDDLE]
    assert gone(on_disk(*RUNS)) == []


def test_runs_are_counted_for_each_region() -> None:
    both = sorted([*on_disk(*RUNS), *on_disk(*RUNS, region="texas")], key=lambda one: one.run.run_id)
    assert gone(both, keep_runs=3) == [OLD, OLD]


def test_needed_runs_stay_and_count() -> None:
    assert gone(on_disk(*RUNS, protected=OLD), keep_days=1.2) == [MIDDLE]
    assert gone(on_disk(*RUNS, protected=OLD), keep_bytes=250) == [MIDDLE, WHOLE]
    (first, *_) = decide_regions(Tenant("acme", keep_runs=1), on_disk(*RUNS, protected=OLD), NOW)
    assert (first.removed, first.reason) == (False, "needed")


@pytest.fixture
def settings(tmp_path: Any) -> Settings:
    return Settings.model_validate({"data": tmp_path / "data", "chain": {"models": ["hrrr"], "regions": ["texas"]}})


@pytest.fixture
def store(settings: Settings, context: Context, scribe: Scribe) -> Store:
    """Four runs with a shared region and a tenant's region; the last run is still arriving."""
    store = open_queue(settings)
    store.tenants.add(NewTenant("acme", regions=("ne", "texas"), keep_runs=1))
    for run in RUNS:
        scribe.run(run, [0, 1])
        for hour in [0] if run == NEWEST else [0, 1]:
            scribe.hour(run, hour, ["ne", "texas"])
            for region in ("ne", "texas"):
                scribe.asked(run, hour, region)
                scribe.tile(run, hour, region)
    return store


def removed(decisions: list[RegionDecision]) -> list[tuple[str, str]]:
    return [(one.tiles.run.run_id, one.tiles.region) for one in decisions if one.removed]


def test_only_regions_of_the_tenant_are_removed_and_not_reported_missing(
    context: Context, store: Store, scribe: Scribe
) -> None:
    decisions = decide_tenants(context)
    assert removed(decisions) == [(OLD, "ne"), (MIDDLE, "ne")]
    kept = {one.tiles.run.run_id: one.reason for one in decisions if not one.removed}
    assert kept == {WHOLE: "the newest complete run", NEWEST: "the newest run"}
    assert prune_regions_now(context, decisions) == []
    assert not scribe.place(OLD, 0, "ne").parent.exists()
    assert scribe.place(OLD, 0, "texas").exists()
    old = RunRef("hrrr", OLD)
    assert {tile.region for tile in context.catalogue.tiles(old, lost=True)} == {"texas"}
    assert context.catalogue.lacking(old, ["ne", "texas"]) == {}, "nothing is fetched again"
    assert context.catalogue.newest_complete_run("hrrr", "ne") == WHOLE
    assert removed(decide_tenants(context)) == []


def test_run_that_a_job_needs_stays(context: Context, store: Store) -> None:
    store.jobs.enqueue_many(tile_jobs(HourRef("hrrr", OLD, 1), ["texas"], live=True))
    assert removed(decide_tenants(context)) == [(MIDDLE, "ne")]


def test_region_that_another_tenant_wants_stays(context: Context, store: Store) -> None:
    store.tenants.add(NewTenant("beta", regions=("ne",)))
    assert removed(decide_tenants(context)) == []
    store.tenants.set_enabled("beta", enabled=False)
    assert removed(decide_tenants(context)) == [(OLD, "ne"), (MIDDLE, "ne")]


def test_runs_to_be_removed_entirely_are_skipped(context: Context, store: Store) -> None:
    assert removed(decide_tenants(context, gone=[RunRef("hrrr", OLD)])) == [(MIDDLE, "ne")]
    assert removed(decide_tenants(context, "gfs")) == []


def test_prune_job_applies_the_limits_of_tenants(
    context: Context, store: Store, scribe: Scribe, settings: Settings
) -> None:
    with closing(sqlite3.connect(context.root.jobs_db)) as connection, connection:
        connection.execute("UPDATE tiles SET built_at = '2026-11-15 00:00:00.000'")
    store.tenants.edit("acme", keep_runs=None, keep_days=0.5)
    job = store.jobs.enqueue(NewJob("prune", {})).id
    Ticker(store, 60.0, settings.model_dump(mode="json")).run_jobs([job])
    assert store.jobs.get(job).status == "completed", store.jobs.get(job).error_message
    assert [scribe.place(run, 0, "ne").exists() for run in RUNS] == [False, False, True, True]
    assert all(scribe.place(run, 0, "texas").exists() for run in RUNS)


def prune(config: Path, *words: str) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--config", str(config), "prune", *words])
    assert end.value.code in (0, None)


def test_prune_command_lists_and_removes_them(
    context: Context, store: Store, scribe: Scribe, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "gribmill.toml"
    config.write_text(f'data = "{context.root}"\n[chain]\nmodels = ["hrrr"]\nregions = ["texas"]\nkeep_days = 3650\n')
    prune(config, "--dry-run", "--json")
    shown = json.loads(capsys.readouterr().out)
    assert [(one["run"], one["region"], one["tenant"], one["bytes"]) for one in shown["regions"]] == [
        (OLD, "ne", "acme", 20),
        (MIDDLE, "ne", "acme", 20),
    ]
    assert scribe.place(OLD, 0, "ne").exists()
    prune(config, "gfs")
    assert scribe.place(OLD, 0, "ne").exists(), "another model"
    capsys.readouterr()
    prune(config, "hrrr")
    assert "removed 0 runs, and regions of tenants from 2 runs" in capsys.readouterr().out
    assert not scribe.place(OLD, 0, "ne").exists()
