"""Old runs are removed by age, count and disk; the newest complete run of a region never is."""

from __future__ import annotations

import os
import sqlite3
from datetime import UTC, datetime
from typing import Any

from gribmill.identity import HourRef, RunRef, run_time
from gribmill.pipeline.context import Context
from gribmill.pipeline.job_types import ingest_job, tile_jobs
from gribmill.pipeline.open_queue import open_queue
from gribmill.pipeline.retention import RunDecision, RunOnDisk, decide, prune_now, runs_on_disk
from gribmill.queue.model import ClaimRequest, Report, Succeeded
from gribmill.settings.schema import Settings
from tests.pipeline.conftest import Scribe

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def on_disk(*run_ids: str, protected: str | None = None, model: str = "hrrr") -> list[RunOnDisk]:
    return [
        RunOnDisk(RunRef(model, run_id), 100_000_000, run_time(run_id), "needed" if run_id == protected else "")
        for run_id in run_ids
    ]


def decisions(runs: list[RunOnDisk], retention: dict[str, Any] | None = None, **chain: Any) -> list[RunDecision]:
    return decide(runs, Settings.model_validate({"chain": chain, "retention": retention or {}}), NOW)


def gone(runs: list[RunOnDisk], retention: dict[str, Any] | None = None, **chain: Any) -> list[str]:
    return [one.run.ref.run_id for one in decisions(runs, retention, **chain) if one.removed]


def old_runs(context: Context, settings: Settings) -> list[str]:
    old = decide(runs_on_disk(context.root, context.catalogue), settings)
    return [one.run.ref.run_id for one in old if one.removed]


def keep_days(days: float) -> Settings:
    return Settings.model_validate({"chain": {"keep_days": days}})


def test_runs_are_removed_by_age() -> None:
    assert gone(on_disk("20261108_00", "20261110_00", "20261116_06"), keep_days=7) == ["20261108_00"]


def test_runs_are_removed_by_count_oldest_first() -> None:
    runs = on_disk("20261115_00", "20261115_06", "20261115_12")
    assert gone(runs, keep_runs=2) == ["20261115_00"]


def test_oldest_runs_are_removed_until_the_rest_fits_the_disk() -> None:
    runs = on_disk("20261115_00", "20261115_06", "20261115_12")
    assert gone(runs, keep_gigabytes=0.15) == ["20261115_00", "20261115_06"]


def test_newest_complete_run_stays_however_old() -> None:
    runs = on_disk("20260101_00", "20260201_00", protected="20260101_00")
    assert gone(runs, keep_days=1, keep_runs=1, keep_gigabytes=0.001) == ["20260201_00"]


def test_pruned_run_is_removed_from_disk_and_catalogue(context: Context, scribe: Scribe) -> None:
    for run_id in ("20200101_00", "20200102_00"):
        scribe.run(run_id, [0])
        scribe.hour(run_id, 0, ["ne"])
        scribe.tile(run_id, 0, "ne")
        os.utime(scribe.place(run_id, 0, "ne"), (0, 0))
    stray = context.root.path / "grib" / "gfs" / "20200101_00" / "000.grib2"
    stray.parent.mkdir(parents=True)
    stray.write_bytes(b"GRIB")
    os.utime(stray, (0, 0))
    half = context.root.path / "tiles" / "hrrr" / "20200102_00" / "ne" / ".001.npz.17.abcd.part"
    half.write_bytes(b"x")
    os.utime(half, (0, 0))
    doomed = decide(runs_on_disk(context.root, context.catalogue), keep_days(1))
    assert prune_now(context, doomed) == []
    assert not half.exists(), "its writer died long ago"
    assert [record.run_id for record in context.catalogue.runs()] == ["20200102_00"]
    assert sorted(path.name for path in (context.root.path / "tiles" / "hrrr").iterdir()) == ["20200102_00"]
    assert not stray.exists()


def test_backfilled_run_is_aged_from_its_backfill(context: Context) -> None:
    tile = context.root.path / "tiles" / "hrrr" / "20200101_00" / "ne" / "000.npz"
    tile.parent.mkdir(parents=True)
    tile.write_bytes(b"x")
    settings = keep_days(1)
    assert old_runs(context, settings) == []
    os.utime(tile, (0, 0))
    assert old_runs(context, settings) == ["20200101_00"]


def test_runs_that_latest_json_names_stay_when_the_catalogue_was_lost(context: Context) -> None:
    for run_id in ("20200101_00", "20200102_00", "20200103_00"):
        tile = context.root.path / "tiles" / "hrrr" / run_id / "ne" / "000.npz"
        tile.parent.mkdir(parents=True)
        tile.write_bytes(b"x")
        os.utime(tile, (0, 0))
    latest = context.root.path / "tiles" / "hrrr" / "latest.json"
    settings = keep_days(1)
    for text, left in (
        ('{"regions": {"ne": {"newest": "20200103_00", "complete": "20200102_00"}}}', ["20200101_00"]),
        ('{"regions": {"ne": 3, "nw": {"newest": ["20200101_00"]}}}', ["20200101_00", "20200102_00", "20200103_00"]),
        ('{"regions": []}', ["20200101_00", "20200102_00", "20200103_00"]),
    ):
        latest.write_text(text)
        assert old_runs(context, settings) == left


def test_limits_of_a_model_replace_those_of_the_chain() -> None:
    runs = [*on_disk("20261112_00", "20261115_00"), *on_disk("20261112_00", "20261115_00", model="gefs.p01")]
    ordered = sorted(runs, key=lambda run: run.ref.run_id)
    found = decisions(ordered, {"hrrr": {"keep_days": 2}, "gefs": {"keep_runs": 1}})
    assert [(str(one.run.ref), one.reason) for one in found if one.removed] == [
        ("hrrr/20261112_00", "older than 2 days (retention.hrrr.keep_days)"),
        ("gefs.p01/20261112_00", "more than 1 runs (retention.gefs.keep_runs)"),
    ]


def test_limits_of_a_member_precede_those_of_its_family() -> None:
    runs = on_disk("20261112_00", "20261115_00", model="gefs.p01")
    assert gone(runs, {"gefs.p01": {"keep_runs": 2}, "gefs": {"keep_runs": 1}}) == []


def test_disk_budget_of_a_family_covers_only_its_members_together() -> None:
    runs = [
        *on_disk("20261115_00", model="gefs.p01"),
        *on_disk("20261115_00"),
        *on_disk("20261115_06", model="gefs.p02"),
    ]
    found = decisions(runs, {"gefs": {"keep_gigabytes": 0.15}})
    assert [(str(one.run.ref), one.reason) for one in found if one.removed] == [
        ("gefs.p01/20261115_00", "more than 0.15 GB are in use (retention.gefs.keep_gigabytes)")
    ]


def test_protected_runs_count_in_the_budget_and_stay() -> None:
    runs = on_disk("20261115_00", "20261115_06", "20261115_12", protected="20261115_00")
    assert gone(runs, keep_gigabytes=0.2) == ["20261115_06"]


def test_protected_run_counts_in_the_budget_even_if_it_is_too_old() -> None:
    runs = on_disk("20261101_00", "20261115_06", "20261115_12", protected="20261101_00")
    assert gone(runs, keep_gigabytes=0.2) == ["20261115_06"]


def test_each_run_that_is_kept_has_a_reason() -> None:
    found = decisions(on_disk("20261101_00", "20261115_12", protected="20261101_00"), keep_runs=3)
    assert [(one.removed, one.reason) for one in found] == [
        (False, "needed"),
        (False, "1.0 days old (limit 7), run 1 of at most 3"),
    ]


def old_tile(context: Context, run_id: str) -> None:
    tile = context.root.path / "tiles" / "hrrr" / run_id / "ne" / "000.npz"
    tile.parent.mkdir(parents=True)
    tile.write_bytes(b"x")
    os.utime(tile, (0, 0))


def test_run_that_a_pending_or_running_job_reads_stays(context: Context) -> None:
    for run_id in ("20200101_00", "20200102_00", "20200103_00"):
        old_tile(context, run_id)
    store = open_queue(context.settings)
    store.jobs.enqueue_many(tile_jobs(HourRef("hrrr", "20200101_00", 1), ["ne"], live=True))
    assert old_runs(context, keep_days(1)) == ["20200102_00", "20200103_00"], "pending"
    (job,) = store.claim(ClaimRequest("host-1-ab", ("build_tile",), 60))
    store.jobs.enqueue(ingest_job(HourRef("hrrr", "20200103_00", 1), live=False))
    assert old_runs(context, keep_days(1)) == ["20200102_00"], "running, and a pending one"
    store.exchange("host-1-ab", [Report(job.ref, Succeeded())])
    assert old_runs(context, keep_days(1)) == ["20200101_00", "20200102_00"]


def test_manually_written_arguments_do_not_stop_pruning(context: Context) -> None:
    old_tile(context, "20200101_00")
    open_queue(context.settings)
    with sqlite3.connect(context.root.jobs_db) as database:
        for args in ("[1]", '{"model_id": 3, "run_id": {}}', '{"model_id": "hrrr", "run_id": "x/../y"}'):
            database.execute("INSERT INTO jobs (type, args) VALUES ('build_tile', ?)", (args,))
    assert old_runs(context, keep_days(1)) == ["20200101_00"]
