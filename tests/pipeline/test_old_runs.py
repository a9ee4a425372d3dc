"""Old runs are removed by age, count and disk; the newest complete run of a region never is."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import Any

from gribmill.identity import RunRef, run_time
from gribmill.pipeline.context import Context
from gribmill.pipeline.old_runs import RunOnDisk, choose_old_runs, prune_now, runs_on_disk
from gribmill.settings.schema import ChainSettings
from tests.pipeline.conftest import Scribe

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def on_disk(*run_ids: str, protected: str | None = None, model: str = "hrrr") -> list[RunOnDisk]:
    return [RunOnDisk(RunRef(model, run_id), 100_000_000, run_time(run_id), run_id == protected) for run_id in run_ids]


def gone(runs: list[RunOnDisk], **settings: Any) -> list[str]:
    return [one.run.ref.run_id for one in choose_old_runs(runs, ChainSettings(**settings), NOW)]


def old_runs(context: Context, settings: ChainSettings) -> list[str]:
    old = choose_old_runs(runs_on_disk(context.root, context.catalogue), settings)
    return [one.run.ref.run_id for one in old]


def test_runs_go_by_age() -> None:
    assert gone(on_disk("20261108_00", "20261110_00", "20261116_06"), keep_days=7) == ["20261108_00"]


def test_runs_go_by_count_the_oldest_first() -> None:
    runs = on_disk("20261115_00", "20261115_06", "20261115_12")
    assert gone(runs, keep_runs=2) == ["20261115_00"]


def test_oldest_runs_go_until_the_rest_fits_the_disk() -> None:
    runs = on_disk("20261115_00", "20261115_06", "20261115_12")
    assert gone(runs, keep_gigabytes=0.15) == ["20261115_00", "20261115_06"]


def test_newest_complete_run_stays_however_old() -> None:
    runs = on_disk("20260101_00", "20260201_00", protected="20260101_00")
    assert gone(runs, keep_days=1, keep_runs=1, keep_gigabytes=0.001) == ["20260201_00"]


def test_pruned_run_is_gone_from_disk_and_catalogue(context: Context, scribe: Scribe) -> None:
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
    doomed = choose_old_runs(runs_on_disk(context.root, context.catalogue), ChainSettings(keep_days=1))
    assert prune_now(context, doomed) == []
    assert not half.exists(), "its writer died long ago"
    assert [record.run_id for record in context.catalogue.runs()] == ["20200102_00"]
    assert sorted(path.name for path in (context.root.path / "tiles" / "hrrr").iterdir()) == ["20200102_00"]
    assert not stray.exists()


def test_backfilled_run_is_as_young_as_its_backfill(context: Context) -> None:
    tile = context.root.path / "tiles" / "hrrr" / "20200101_00" / "ne" / "000.npz"
    tile.parent.mkdir(parents=True)
    tile.write_bytes(b"x")
    settings = ChainSettings(keep_days=1)
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
    settings = ChainSettings(keep_days=1)
    for text, left in (
        ('{"regions": {"ne": {"newest": "20200103_00", "complete": "20200102_00"}}}', ["20200101_00"]),
        ('{"regions": {"ne": 3, "nw": {"newest": ["20200101_00"]}}}', ["20200101_00", "20200102_00", "20200103_00"]),
        ('{"regions": []}', ["20200101_00", "20200102_00", "20200103_00"]),
    ):
        latest.write_text(text)
        assert old_runs(context, settings) == left
