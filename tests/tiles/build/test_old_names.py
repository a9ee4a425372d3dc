"""Variables that were renamed: both names find them, in files, models, tiles and runs."""

from __future__ import annotations

import logging
import pickle
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner

import gribmill
from gribmill.catalogue.records import HourRecord
from gribmill.cli.main import cli
from gribmill.grib.names import lexicon as lexicon_module
from gribmill.grib.names.lexicon import lexicon
from gribmill.ingest.index.select import wanted
from gribmill.regions.box import Box
from gribmill.regions.region import Region
from gribmill.tiles.build.build import build
from gribmill.tiles.format.meta import Meta
from gribmill.tiles.read.tile import read_tile
from tests.make_grib import make_message, write
from tests.real_files import real
from tests.tiles.make_tile import make_tile

CEILING = {"typeOfFirstFixedSurface": 215}
ALL = Region("all", Box(-180, -90, 180, 90))
HGT = {"discipline": 0, "parameterCategory": 3, "parameterNumber": 5, **CEILING}
CEIL = {"discipline": 0, "parameterCategory": 6, "parameterNumber": 13, **CEILING}


def built(path: Path, keys: dict[str, int], names: list[str] | None = None) -> Meta:
    made = write(path / "x.grib2", [make_message("gfs-small", values=1500.0, keys=keys)])
    return build(made, [ALL], path, model="gfs", variables=names).tiles[0].meta


def test_ceilings_above_sea_level_and_above_ground_have_two_names(tmp_path: Path) -> None:
    assert [*built(tmp_path / "1", HGT).variables] == ["ceil_msl"]
    assert [*built(tmp_path / "2", {**CEIL, "generatingProcessIdentifier": 104}).variables] == ["ceil_agl"]
    assert [*built(tmp_path / "3", {**CEIL, "generatingProcessIdentifier": 134}).variables] == ["ceil_msl"]


@pytest.mark.parametrize(("keys", "found"), [(HGT, "ceil_msl"), (CEIL, "ceil_agl")])
def test_the_old_name_finds_whichever_a_file_has(tmp_path: Path, keys: dict[str, int], found: str) -> None:
    meta = built(tmp_path, {**keys, "generatingProcessIdentifier": 104}, ["ceil", "t2m"])
    assert [*meta.variables] == [found]
    assert meta.absent == ("t2m",)
    assert built(tmp_path / "none", HGT, ["cbh", "ceil_msl"]).absent == ("cbh",)


def test_the_old_name_is_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    lexicon_module._warn_of_old_name.cache_clear()
    with caplog.at_level(logging.WARNING):
        assert lexicon().current_names("ceil") == lexicon().current_names("ceil") == ("ceil_msl", "ceil_agl")
        assert lexicon().current_names("t2m") == ("t2m",)
    assert [record.getMessage() for record in caplog.records] == [
        "the variable ceil is called ceil_msl or ceil_agl now; the old name is still understood"
    ]


def test_the_command_line_accepts_the_old_name(tmp_path: Path) -> None:
    made = write(tmp_path / "x.grib2", [make_message("gfs-small", values=1500.0, keys=HGT)])
    shown = CliRunner().invoke(cli, ["cut", str(made), "-b", "0,0,20,20", "--vars", "ceil", "-o", str(tmp_path)])
    assert shown.exit_code == 0, shown.output
    assert "not in the file" not in shown.output


def test_a_model_file_with_the_old_name_still_selects_its_messages() -> None:
    (found,) = wanted(["ceil"])
    assert found.name == "ceil" and found.noaa is not None
    assert found.noaa.elements[:2] == ("HGT", "CEIL") and found.noaa.levels == ("cloud ceiling",)


def test_hours_that_were_fetched_under_the_old_name_are_not_fetched_again() -> None:
    facts: dict[str, Any] = dict.fromkeys((one.name for one in fields(HourRecord)), None)
    known = HourRecord(**facts | {"found": ("t2m", "ceil"), "missing": ()})
    assert known.covers(["t2m", "ceil_msl"]) and not known.covers(["t2m", "cape"])


@pytest.mark.parametrize(
    ("model", "stored", "asked", "there"),
    [
        ("hrrr", "ceil_msl", "ceil", True), ("hrrr", "ceil", "ceil_msl", True), ("hrrr", "ceil", "ceil_agl", False),
        ("nbm_co", "ceil", "ceil_agl", True), ("nbm_co", "ceil", "ceil_msl", False),
        ("ifs", "cbh", "cbh_agl", True), ("gfs", "cbh", "cbh_msl", True), ("gfs", "ceil_max", "ceil_msl_max", True),
    ],
)  # fmt: skip
def test_tiles_of_either_version_are_read_by_either_name(
    tmp_path: Path, model: str, stored: str, asked: str, there: bool
) -> None:
    path = make_tile(tmp_path, {stored: (1500.0, {})}, model=model)
    tile = read_tile(path)
    assert tile.find(asked) == (stored if there else None)
    if there:
        np.testing.assert_array_equal(tile.read(asked), tile.read(stored))
        np.testing.assert_array_equal(tile.read_part(asked, (0,)), tile.read(stored)[0])


def test_the_pressure_of_the_eta_reduction_has_its_own_name_beside_the_usual_one(tmp_path: Path) -> None:
    sea = {"typeOfFirstFixedSurface": 101}
    keys = {"discipline": 0, "parameterCategory": 3, "parameterNumber": 1, **sea}
    usual = make_message("gfs-small", values=101300.0, keys=keys)
    eta = make_message("gfs-small", values=101310.0, keys={**keys, "parameterNumber": 192})
    both = build(write(tmp_path / "b.grib2", [eta, usual]), [ALL], tmp_path / "b", model="gfs").tiles[0]
    assert {name: facts.message for name, facts in both.meta.variables.items()} == {"mslet": 1, "mslp": 2}
    assert both.meta.duplicates == ()
    alone = build(write(tmp_path / "a.grib2", [eta]), [ALL], tmp_path / "a", model="rrfs").tiles[0]
    assert [*alone.meta.variables] == ["mslp"]
    asked = build(tmp_path / "a.grib2", [ALL], tmp_path / "c", model="rrfs", variables=["mslet"]).tiles[0]
    assert [*asked.meta.variables] == ["mslet"]


def test_real_gfs_has_both_pressures(tmp_path: Path) -> None:
    file = real("noaa/gfs.20221107.t00z.pgrb2.1p00.f024.FULL.grib2")
    (made,) = build(file, [ALL], tmp_path, variables=["mslp", "mslet", "ceil"]).tiles
    assert {*made.meta.variables} == {"mslp", "mslet", "ceil_msl"} and made.meta.absent == ()


def test_the_sign_of_cin_is_stated(tmp_path: Path) -> None:
    keys = {"discipline": 0, "parameterCategory": 7, "parameterNumber": 7, "typeOfFirstFixedSurface": 1}
    for grid, negated in (("gfs-small", False), ("ecmwf-small", True)):
        made = write(tmp_path / f"{grid}.grib2", [make_message(grid, values=50.0, keys=keys)])
        facts = build(made, [ALL], tmp_path / grid, model="x").tiles[0].meta.variables["cin"]
        assert facts.negated is negated
        assert ("opposite sign" in facts.long_name) is negated


def test_dataset_accepts_either_name(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    lexicon_module._warn_of_old_name.cache_clear()
    path = make_tile(tmp_path, {"ceil_msl": (1500.0, {"units": "m"}), "t2m": (280.0, {})})
    opened = {
        "tile": gribmill.open_tile(path),
        "engine": xr.open_dataset(path, engine="gribmill"),
        "chunks": xr.open_dataset(path, engine="gribmill", chunks={}),
        "run": gribmill.open_run("hrrr", data=tmp_path),
        "runs": gribmill.open_runs("hrrr", data=tmp_path),
        "part": gribmill.open_tile(path).isel(y=slice(3)),
    }
    with caplog.at_level(logging.WARNING):
        for how, found in opened.items():
            assert found["ceil"].name == "ceil_msl", how
            assert float(found["ceil"].mean()) == 1500.0, how
            assert {*found[["ceil", "t2m"]].data_vars} == {"ceil_msl", "t2m"}, how
            assert "ceil" not in found
    assert len(caplog.records) == 1 and "is called ceil_msl or ceil_agl now" in caplog.text
    old = gribmill.open_tile(make_tile(tmp_path, {"ceil": (900.0, {"units": "m"})}, run="20230722_07"))
    assert float(old["ceil_msl"].mean()) == 900.0
    with pytest.raises(KeyError, match="cape"):
        old["cape"]


def test_a_dataset_with_either_name_stays_an_ordinary_one(tmp_path: Path) -> None:
    paths = [
        make_tile(tmp_path, {"ceil_msl": (1500.0, {"units": "m"})}, run="20230722_06", minutes=minutes)
        for minutes in (60, 120)
    ]
    first, second = (gribmill.open_tile(path) for path in paths)
    both = xr.concat([first, second], "time", coords="minimal", compat="override")
    assert both.sizes["time"] == 2 and float(both["ceil_msl"].max()) == 1500.0
    assert pickle.loads(pickle.dumps(first))["ceil"].name == "ceil_msl"
    assert first.identical(xr.Dataset(first.data_vars, first.coords, first.attrs))
    assert (first + 1)["ceil_msl"].shape == first["ceil"].shape
    assert xr.merge([first, xr.Dataset({"own": 1})], compat="override", join="override")["ceil_msl"].ndim == 2


def test_point_answers_to_the_old_name(tmp_path: Path) -> None:
    make_tile(tmp_path, {"ceil_msl": (1500.0, {"units": "m"})})
    column = gribmill.point(42.3, -71.1, data=tmp_path, model="hrrr", variables=["ceil"], units="native").columns
    assert [float(one.values[0]) for one in column.values()] == [1500.0]
    shown = CliRunner().invoke(
        cli, ["--data", str(tmp_path), "point", "42.3", "-71.1", "--model", "hrrr", "--vars", "ceil", "--units", "si"]
    )
    assert shown.exit_code == 0, shown.output
    assert "1500" in shown.output
