"""Which run point forecasts come from: the newest complete one, the newest, several, or the named one."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import gribmill
from gribmill.errors import GribmillError
from gribmill.regions.box import Box
from gribmill.regions.region import Region
from gribmill.tiles.errors import TileError
from tests.tiles.make_tile import make_tile
from tests.tiles.read.test_point import LAT, LON, rain

OLD, NEW = "20230722_06", "20230722_07"
WIDER = Region("wider", Box(-73.0, 41.0, -70.0, 43.5))


def run_of(root: Path, run: str, hours: range, *, kelvin: float, rate: float, region: Region | None = None) -> None:
    """Hourly tiles; precipitation since the run began grows by `rate` an hour."""
    more = {} if region is None else {"region": region}
    for hour in hours:
        fields = {"t2m": (kelvin + hour, {}), **({"tp": (rate * hour, rain(0, hour))} if hour else {})}
        make_tile(root, fields, minutes=hour * 60, run=run, **more)  # type: ignore[arg-type]


def latest(root: Path, complete: str | None, newest: str = NEW, region: str = "boston", hours: int = 5) -> None:
    path = root / "tiles/hrrr/latest.json"
    known: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"model": "hrrr", "regions": {}}
    known["regions"][region] = {"complete": complete, "newest": newest}
    known["hours"] = {OLD: hours, NEW: hours}
    path.write_text(json.dumps(known))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Five hours of one run, and two of the five of the next."""
    run_of(tmp_path, OLD, range(1, 6), kelvin=280, rate=1.0)
    run_of(tmp_path, NEW, range(2), kelvin=290, rate=4.0)
    latest(tmp_path, OLD)
    return tmp_path


def test_the_newest_complete_run_answers_although_a_newer_one_is_arriving(root: Path) -> None:
    series = gribmill.point(LAT, LON, data=root)
    assert (series.run, len(series.steps)) == (OLD, 5)
    assert series.run_sentence == f"the newest complete run; 2 of 5 hours of {NEW} are here"
    assert series.to_dict()["run_choice"] == {
        "asked": "complete", "complete": True, "hours": 5, "hours_expected": 5, "newer_run": NEW,
        "sentence": series.run_sentence,
    }  # fmt: skip


def test_newest_shows_how_many_of_its_hours_exist(root: Path) -> None:
    series = gribmill.point(LAT, LON, data=root, run="newest")
    assert (series.run, len(series.steps)) == (NEW, 2)
    assert series.run_sentence == "the newest run; 2 of 5 hours are here"
    named = gribmill.point(LAT, LON, data=root, run=NEW)
    assert named.run_sentence == "the run that was asked for; 2 of 5 hours are here"


def test_without_a_complete_run_the_newest_is_used_with_a_note(root: Path) -> None:
    latest(root, None)
    series = gribmill.point(LAT, LON, data=root)
    assert series.run == NEW
    assert series.run_sentence == "the newest run; no run is complete; 2 of 5 hours are here"


def test_completeness_is_that_of_the_region(root: Path) -> None:
    run_of(root, OLD, range(1, 6), kelvin=280, rate=1.0, region=WIDER)
    run_of(root, NEW, range(1, 6), kelvin=290, rate=1.0, region=WIDER)
    latest(root, NEW, region="wider")
    assert gribmill.point(LAT, LON, data=root, region="boston").run == OLD
    assert gribmill.point(LAT, LON, data=root, region="wider").run == NEW


def test_a_complete_run_that_lost_a_tile_is_not_called_complete(root: Path) -> None:
    (root / f"tiles/hrrr/{OLD}/boston/003.npz").unlink()
    series = gribmill.point(LAT, LON, data=root)
    assert series.run == OLD
    assert series.choice is not None and series.choice.complete is False
    assert "4 of 5 hours are here" in series.run_sentence
    assert f"hour +3 of run {OLD} is missing" in series.notes


@pytest.mark.parametrize("text", [None, "{half", '{"regions": {"boston": {"complete": "../../etc"}}}'])
def test_tiles_without_a_usable_latest_json_answer_from_the_newest_run(root: Path, text: str | None) -> None:
    path = root / "tiles/hrrr/latest.json"
    path.unlink() if text is None else path.write_text(text)
    series = gribmill.point(LAT, LON, data=root)
    assert series.run == NEW
    assert series.choice is not None and not series.choice.complete


def test_a_seamless_series_takes_each_hour_from_the_newest_run_that_has_it(root: Path) -> None:
    series = gribmill.point(LAT, LON, data=root, run="seamless", units="si")
    assert [moment.hour for moment in series.times] == [7, 8, 9, 10, 11]
    assert series.row_runs == (NEW, NEW, OLD, OLD, OLD)
    assert series.steps == (0, 60, 180, 240, 300)
    assert series.columns["t2m"].values == (290.0, 291.0, 283.0, 284.0, 285.0)
    assert [row["run"] for row in series.to_dict()["hours"]] == [NEW, NEW, OLD, OLD, OLD]


def test_amounts_over_the_seam_are_each_of_one_run(root: Path) -> None:
    column = gribmill.point(LAT, LON, data=root, run="seamless").columns["tp"]
    # 4 mm an hour in the new run, 1 mm an hour in the old one; the difference of both totals would be -1 mm.
    assert column.values[1:] == (4.0, 1.0, 1.0, 1.0)
    assert column.minutes == (0, 60, 60, 60, 60)


def test_an_amount_that_reaches_back_across_the_seam_is_left_out(tmp_path: Path) -> None:
    for hour in (3, 6, 9):
        make_tile(tmp_path, {"tp": (3.0 * hour, rain(0, hour))}, minutes=hour * 60, run="20230722_06")
    run_of(tmp_path, NEW, range(4), kelvin=290, rate=4.0)
    column = gribmill.point(LAT, LON, data=tmp_path, run="seamless").columns["tp"]
    # 7 to 10 UTC of the new run; 12 and 15 UTC of the old one, each of three hours: the first overlaps 9 to 10.
    assert column.values[1:4] == (4.0, 4.0, 4.0)
    assert math.isnan(column.values[4])
    assert column.values[5] == 9.0


def test_a_damaged_hour_comes_from_the_run_before(root: Path) -> None:
    run_of(root, NEW, range(2, 5), kelvin=290, rate=4.0)
    (root / f"tiles/hrrr/{NEW}/boston/001.npz").write_bytes(b"")
    series = gribmill.point(LAT, LON, data=root, run="seamless", units="si")
    assert series.row_runs == (NEW, OLD, NEW, NEW, NEW)
    assert series.columns["t2m"].values == (290.0, 282.0, 292.0, 293.0, 294.0)
    assert any("001.npz" in note for note in series.notes)


def test_a_variable_that_only_the_older_run_has_is_a_column(root: Path) -> None:
    make_tile(root, {"t2m": (280.0, {}), "gust": (9.0, {"units": "m s-1"})}, minutes=300, run=OLD)
    for names in (None, ["gust"]):
        gust = gribmill.point(LAT, LON, data=root, run="seamless", variables=names).columns["gust"].values
        assert [math.isnan(value) for value in gust] == [True, True, True, True, False]
    with pytest.raises(TileError, match="has no snow"):
        gribmill.point(LAT, LON, data=root, run="seamless", variables=["t2m", "snow"])


@pytest.mark.parametrize("run", ["latest", "2023-07-22", "", "20231322_00"])
def test_impossible_run_is_refused(root: Path, run: str) -> None:
    with pytest.raises(GribmillError, match="is not a run"):
        gribmill.point(LAT, LON, data=root, run=run)


def test_the_name_of_an_ensemble_lists_its_members(tmp_path: Path) -> None:
    for model in ("gefs.c00", "gefs.p01"):
        make_tile(tmp_path, {"t2m": (280.0, {})}, model=model)
    with pytest.raises(TileError, match=r"gefs is an ensemble with 2 members here \(gefs.c00, gefs.p01\); choose one"):
        gribmill.point(LAT, LON, data=tmp_path, model="gefs")
    assert gribmill.point(LAT, LON, data=tmp_path, model="gefs.p01").model == "gefs.p01"


def test_hours_missing_in_the_middle_are_noted_and_longer_steps_are_not(tmp_path: Path) -> None:
    for hour in (1, 2, 5, 6, 9, 12):
        make_tile(tmp_path, {"t2m": (280.0, {})}, minutes=hour * 60)
    notes = gribmill.point(LAT, LON, data=tmp_path).notes
    assert notes == ("hours +3, +4 of run 20230722_06 are missing",)
