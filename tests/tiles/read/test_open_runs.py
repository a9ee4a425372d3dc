"""The run that `open_run` opens, seamless datasets, and several runs together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gribmill
from gribmill.tiles.errors import TileError
from tests.tiles.make_tile import GFS, make_tile
from tests.tiles.read.test_point import NEW_ENGLAND
from tests.tiles.read.test_run_choice import NEW, OLD, WIDER, latest, run_of


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Five hours of one run, and two of the five of the next."""
    run_of(tmp_path, OLD, range(1, 6), kelvin=280, rate=1.0)
    run_of(tmp_path, NEW, range(2), kelvin=290, rate=4.0)
    latest(tmp_path, OLD)
    return tmp_path


def test_the_newest_complete_run_is_opened_and_noted(root: Path) -> None:
    opened = gribmill.open_run("hrrr", data=root)
    assert (opened.attrs["run_id"], opened.sizes["time"]) == (OLD, 5)
    assert opened.attrs["run_choice"] == f"the newest complete run; 2 of 5 hours of {NEW} are here"
    newest = gribmill.open_run("hrrr", "newest", data=root)
    assert (newest.attrs["run_id"], newest.attrs["run_choice"]) == (NEW, "the newest run; 2 of 5 hours are here")


def test_the_regions_are_ambiguous_although_their_complete_runs_differ(root: Path) -> None:
    run_of(root, NEW, range(1, 6), kelvin=290, rate=4.0, region=WIDER)
    latest(root, NEW, region="wider")
    with pytest.raises(TileError, match="has several regions; choose one of: boston, wider"):
        gribmill.open_run("hrrr", data=root)
    assert gribmill.open_run("hrrr", region="wider", data=root).attrs["run_id"] == NEW


def test_a_seamless_dataset_has_the_run_of_each_hour_and_no_joined_totals(root: Path) -> None:
    opened = gribmill.open_run("hrrr", "seamless", data=root)
    assert opened["t2m"].isel(y=5, x=5).values.tolist() == [290.0, 291.0, 283.0, 284.0, 285.0]
    assert opened["run"].dims == ("time",)
    assert opened["run"].dt.hour.values.tolist() == [7, 7, 6, 6, 6]
    assert (opened["time"] - opened["run"] == opened["step"]).all()
    assert "tp" not in opened and opened.attrs["left_out"].endswith("runs: tp")
    named = gribmill.open_run("hrrr", "seamless", data=root, variables=["tp"])
    assert named["tp"].isel(y=5, x=5).values[1:].tolist() == [4.0, 3.0, 4.0, 5.0]


def test_a_seamless_dataset_of_one_run_has_its_totals(root: Path) -> None:
    run_of(root, NEW, range(2, 6), kelvin=290, rate=4.0)
    opened = gribmill.open_run("hrrr", "seamless", data=root)
    assert "tp" in opened and opened["run"].dims == ()


def test_a_damaged_hour_of_a_seamless_dataset_is_that_of_the_run_before(root: Path) -> None:
    (root / f"tiles/hrrr/{NEW}/boston/001.npz").write_bytes(b"")
    opened = gribmill.open_run("hrrr", "seamless", data=root)
    assert opened["t2m"].isel(y=5, x=5).values.tolist() == [290.0, 282.0, 283.0, 284.0, 285.0]


def test_several_runs_have_axes_of_run_and_step(root: Path) -> None:
    opened = gribmill.open_runs("hrrr", data=root)
    assert opened["t2m"].dims == ("run", "step", "y", "x")
    assert opened["run"].dt.hour.values.tolist() == [6, 7]
    hours = (opened["step"].values / np.timedelta64(1, "h")).tolist()
    assert hours == [0, 1, 2, 3, 4, 5]
    values = opened["t2m"].isel(y=5, x=5).values
    assert values[0, 1:].tolist() == [281, 282, 283, 284, 285]
    assert values[1, :2].tolist() == [290, 291]
    assert np.isnan(values[0, 0]) and np.isnan(values[1, 2:]).all()
    assert opened["time"].sel(run="2023-07-22T07", step=np.timedelta64(1, "h")).dt.hour.item() == 8
    assert opened.attrs["runs"] == f"{OLD}, {NEW}"
    # The same valid time from both runs, 1 K an hour apart in lead time and 10 K apart in level.
    at_eight = opened["t2m"].isel(y=5, x=5).where(opened["time"] == np.datetime64("2023-07-22T08"))
    assert sorted(at_eight.values[~np.isnan(at_eight.values)].tolist()) == [282.0, 291.0]


def test_runs_are_chosen_by_number_or_by_name(root: Path) -> None:
    assert gribmill.open_runs("hrrr", 1, data=root).attrs["runs"] == NEW
    assert gribmill.open_runs("hrrr", [OLD], data=root).attrs["runs"] == OLD
    for runs, sentence in (([OLD, "20200101_00"], "no tiles of hrrr 20200101_00; there are"), (0, "at least one")):
        with pytest.raises(TileError, match=sentence):
            gribmill.open_runs("hrrr", runs, data=root)
    with pytest.raises(TileError, match="has snow; they have t2m"):
        gribmill.open_runs("hrrr", data=root, variables=["snow"])


def test_runs_with_an_old_and_a_new_name_of_a_variable_have_it_once(tmp_path: Path) -> None:
    make_tile(tmp_path, {"ceil": (500.0, {})}, run=OLD)
    make_tile(tmp_path, {"ceil_msl": (700.0, {})}, run=NEW)
    opened = gribmill.open_runs("hrrr", data=tmp_path)
    assert {*opened.data_vars} == {"ceil_msl", "crs"}
    assert opened["ceil_msl"].isel(step=0, y=5, x=5).values.tolist() == [500.0, 700.0]


def test_runs_on_different_grids_are_not_put_together(root: Path) -> None:
    boston = NEW_ENGLAND.__class__("boston", NEW_ENGLAND.box)
    make_tile(root, {"t2m": (1.0, {})}, grid=GFS, region=boston, run="20230722_08")
    with pytest.raises(TileError, match="on another grid"):
        gribmill.open_runs("hrrr", data=root)


def test_the_name_of_an_ensemble_lists_its_members_to_open(tmp_path: Path) -> None:
    make_tile(tmp_path, {"t2m": (280.0, {})}, model="gefs.c00")
    with pytest.raises(TileError, match=r"gefs is an ensemble with 1 member here \(gefs.c00\)"):
        gribmill.open_run("gefs", data=tmp_path)
