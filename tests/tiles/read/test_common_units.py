"""Common units: the same quantity of two models is read in the same unit, with the same values."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner

import gribmill
from gribmill.cli.main import cli
from gribmill.regions.box import Box
from gribmill.regions.region import Region
from gribmill.tiles.build.build import build
from gribmill.tiles.errors import TileError
from tests.make_grib import make_message, write
from tests.tiles.make_tile import Fields, make_tile

ALL = Region("all", Box(-180, -90, 180, 90))
SURFACE, COLUMN = {"typeOfFirstFixedSurface": 1}, {"typeOfFirstFixedSurface": 10}


def parameter(discipline: int, category: int, number: int, **level: int) -> dict[str, int]:
    return {"discipline": discipline, "parameterCategory": category, "parameterNumber": number, **level}


# What NOAA and ECMWF publish of the same weather: grid, keys, value, and further options.
NOAA: list[tuple[dict[str, int], float, dict[str, Any]]] = [
    (parameter(0, 6, 1, **COLUMN), 50.0, {}),
    (parameter(0, 1, 8, **SURFACE), 12.5, {"window": (0, 6)}),
    (parameter(0, 1, 13, **SURFACE), 80.0, {}),
    (parameter(0, 7, 7, **SURFACE), -40.0, {}),
]
ECMWF: list[tuple[dict[str, int], float, dict[str, Any]]] = [
    (parameter(0, 6, 192, **SURFACE), 0.5, {}),
    (parameter(0, 1, 193, **SURFACE), 0.0125, {"window": (0, 6)}),
    (parameter(0, 1, 254, **SURFACE), 0.08, {}),
    (parameter(0, 7, 7, **SURFACE), 40.0, {}),
    (parameter(0, 4, 7, **SURFACE), 5.4e6, {"window": (0, 6)}),
]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("data")
    for model, grid, fields in (("gfs", "gfs-small", NOAA), ("ifs", "ecmwf-small", ECMWF)):
        messages = [make_message(grid, values=value, keys=keys, **{"step": 6, **more}) for keys, value, more in fields]
        built = build(write(root / f"{model}.grib2", messages), [ALL], root, model=model)
        assert not built.skipped
    return root


def path_of(root: Path, model: str) -> Path:
    (path,) = (root / "tiles" / model).glob("*/all/006.npz")
    return path


SAME = {"tcc": (50.0, "%"), "tp": (12.5, "mm"), "weasd": (80.0, "mm"), "cin": (-40.0, "J kg-1")}


@pytest.mark.parametrize("model", ["gfs", "ifs"])
@pytest.mark.parametrize("name", SAME)
def test_every_reader_gives_one_unit_per_quantity(root: Path, model: str, name: str) -> None:
    value, units = SAME[name]
    path = path_of(root, model)
    for opened in (
        gribmill.open_tile(path, units="common"),
        xr.open_dataset(path, engine="gribmill", units="common"),
        gribmill.open_run(model, data=root, units="common").isel(time=0),
    ):
        assert opened[name].attrs["units"] == units
        assert "opposite sign" not in opened[name].attrs["long_name"]
        np.testing.assert_allclose(opened[name].values, value, rtol=1e-6)
        assert opened[name].dtype == np.float32
    column = gribmill.point(10, 10, data=root, model=model, units="common").columns[name]
    assert column.units == units and column.values[0] == pytest.approx(value, rel=1e-6)


def test_native_units_stay_the_default_and_exact(root: Path) -> None:
    opened = gribmill.open_tile(path_of(root, "ifs"))
    assert {name: opened[name].attrs["units"] for name in ("tcc", "tp", "ssrd")} == {
        "tcc": "1",
        "tp": "m",
        "ssrd": "J m-2",
    }
    assert float(opened["cin"][0, 0]) == 40.0
    run = gribmill.open_run("ifs", data=root)
    assert run["tp"].attrs["units"] == "m"


def test_energy_becomes_the_mean_power_over_its_time_range(root: Path) -> None:
    opened = gribmill.open_tile(path_of(root, "ifs"), units="common")["ssrd"]
    np.testing.assert_allclose(opened.values, 250.0, rtol=1e-6)
    assert opened.attrs["units"] == "W m-2" and opened.attrs["cell_methods"] == "time: mean"
    assert opened.attrs["standard_name"] == "surface_downwelling_shortwave_flux_in_air"
    column = gribmill.point(10, 10, data=root, model="ifs", units="common").columns["ssrd"]
    assert column.units == "W m-2" and column.values[0] == pytest.approx(250.0)


def test_energy_over_no_time_has_no_power(tmp_path: Path) -> None:
    path = make_tile(tmp_path, {"ssrd": (0.0, {"units": "J m-2", "statistic": "accum", "step_minutes": (0, 0)})})
    assert np.isnan(gribmill.open_tile(path, units="common")["ssrd"].values).all()


def test_geopotential_becomes_geopotential_height_but_helicity_does_not(tmp_path: Path) -> None:
    fields: Fields = {"z_500": (54000.0, {"units": "m2 s-2"}), "hlcy_3km": (100.0, {"units": "m2 s-2"})}
    opened = gribmill.open_tile(make_tile(tmp_path, fields), units="common")
    assert opened["z_500"].attrs["units"] == "m" and float(opened["z_500"][0, 0]) == pytest.approx(54000 / 9.80665)
    assert opened["hlcy_3km"].attrs["units"] == "m2 s-2"


def test_temperatures_are_kelvin_in_common_and_celsius_in_metric_units(tmp_path: Path) -> None:
    path = make_tile(tmp_path, {"t2m": (300.0, {}), "sp": (100000.0, {"units": "Pa"})})
    common, metric = gribmill.open_tile(path, units="common"), gribmill.open_tile(path, units="metric")
    assert common["t2m"].attrs["units"] == "K" and float(common["sp"][0, 0]) == 1000.0
    assert metric["t2m"].attrs["units"] == "°C" and float(metric["t2m"][0, 0]) == pytest.approx(26.85)


def test_a_dataset_in_other_units_can_be_pickled(root: Path) -> None:
    opened = gribmill.open_tile(path_of(root, "ifs"), units="common")
    np.testing.assert_allclose(pickle.loads(pickle.dumps(opened))["tp"].values, 12.5, rtol=1e-6)


def test_units_that_do_not_exist_are_refused(root: Path) -> None:
    with pytest.raises(TileError, match="furlongs are not units; they are one of metric, us, si, native, common"):
        gribmill.open_tile(path_of(root, "ifs"), units="furlongs")  # type: ignore[arg-type]


def test_the_point_command_has_common_units(root: Path) -> None:
    shown = CliRunner().invoke(
        cli, ["--data", str(root), "point", "10", "10", "--model", "ifs", "--units", "common", "--json"]
    )
    found = json.loads(shown.stdout)
    assert found["units"]["tp"] == "mm" and found["hours"][0]["tcc"] == 50.0
