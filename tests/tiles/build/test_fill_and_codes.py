"""Fill values become NaN, and codes are never averaged: on the model's grid, regridded, and at a point."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import gribmill
from gribmill.cli.main import cli
from gribmill.regions.box import Box
from gribmill.regions.region import Region
from gribmill.regions.tile_options import Encoding, Method
from gribmill.tiles.build.build import build
from gribmill.tiles.build.regrid import Cells, regridder
from gribmill.tiles.check.verify import verify
from gribmill.tiles.format.meta import VariableMeta
from gribmill.tiles.read.tile import Tile, read_tile
from tests.make_grib import GRIDS, make_message, write
from tests.real_files import real
from tests.tiles.build.test_regrid import BOXES
from tests.tiles.build.test_regrid import GRIDS as GRIDS_TO_REGRID
from tests.tiles.make_tile import quantity

EAST = Region("east", Box(-79.0, 38.0, -75.0, 41.0))
SURFACE, CLOUD_TOP = {"typeOfFirstFixedSurface": 1}, {"typeOfFirstFixedSurface": 3}


def numbers(discipline: int, category: int, number: int, **more: int) -> dict[str, Any]:
    return {"discipline": discipline, "parameterCategory": category, "parameterNumber": number, **more}


def echo_tops() -> np.ndarray:
    """-999 where there is no echo, as HRRR writes it, in blocks and single points."""
    rng = np.random.default_rng(3)
    shape = GRIDS["hrrr-ne"].shape
    tops = np.round(rng.uniform(500, 15000, shape))
    tops[rng.random(shape) < 0.4] = -999
    tops[50:120, 60:150] = -999
    return tops


def codes() -> np.ndarray:
    return np.random.default_rng(4).choice([0.0, 1.0, 3.0, 5.0], GRIDS["hrrr-ne"].shape, p=[0.5, 0.3, 0.1, 0.1])


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """RETOP with fill values, PTYPE, and a temperature of -999 that is not declared as a fill value."""
    common: dict[str, Any] = {"grid": "hrrr-ne", "decimal": 0}
    return write(
        tmp_path_factory.mktemp("grib") / "hour.grib2",
        [
            make_message(values=echo_tops(), keys=numbers(0, 16, 197, **CLOUD_TOP), **common),
            make_message(values=codes(), keys=numbers(0, 1, 19, **SURFACE), **common),
            make_message(values=echo_tops(), **common),
        ],
    )


def cut(file: Path, out: Path, *, method: Method | None = None, encoding: Encoding = "fast") -> Tile:
    region = replace(EAST, encoding=encoding)
    if method:
        region = replace(region, resolution=0.1, method=method)
    (built,) = build(file, [region], out, model="hrrr").tiles
    return read_tile(built.path)


@pytest.mark.parametrize("encoding", ["fast", "compact", "packed"])
def test_fill_values_are_missing_and_the_rest_is_exact(file: Path, tmp_path: Path, encoding: Encoding) -> None:
    tile = cut(file, tmp_path, encoding=encoding)
    found, raw = tile.read("retop"), tile.read("t2m")
    filled = raw == -999
    assert filled.any() and not filled.all()
    np.testing.assert_array_equal(np.isnan(found), filled)
    np.testing.assert_array_equal(found[~filled], raw[~filled])


def test_statistics_and_metadata_leave_fill_values_out(file: Path, tmp_path: Path) -> None:
    facts = cut(file, tmp_path).meta.variables
    filled = facts["retop"].missing
    assert facts["retop"].min is not None and facts["retop"].min >= 500
    assert facts["retop"].fill_values == (-999.0,) and facts["retop"].filled == filled > 0
    assert facts["t2m"].min == -999 and facts["t2m"].fill_values == () and facts["t2m"].filled == 0


@pytest.mark.parametrize("method", ["bilinear", "cells", "nearest"])
def test_regridding_never_averages_fill_values(file: Path, tmp_path: Path, method: Method) -> None:
    tile = cut(file, tmp_path, method=method)
    for name in [name for name in tile.names if name.startswith("retop")]:
        values = tile.read(name)
        assert np.nanmin(values) >= 500, name
    assert np.isnan(tile.read("retop")).any()


@pytest.mark.parametrize(
    ("name", "parameter", "surface", "value", "fill", "between"),
    [
        ("cpofp", (0, 1, 39), 1, 40, -50, -12.5),
        ("cbh_msl", (0, 3, 5), 2, 1200, -5000, -2200),
        ("pres_cloudtop", (0, 3, 0), 3, 30_000, -50_000, -12_000),
    ],
)
def test_values_interpolated_with_fill_values_are_missing(
    tmp_path: Path, name: str, parameter: tuple[int, int, int], surface: int, value: float, fill: float, between: float
) -> None:
    values = np.full(GRIDS["hrrr-ne"].shape, float(value))
    values[:, 171:] = fill
    values[:, 170] = between
    made = make_message(
        "hrrr-ne", values=values, decimal=1, keys=numbers(*parameter, **SURFACE | {"typeOfFirstFixedSurface": surface})
    )
    tile = cut(write(tmp_path / f"{name}.grib2", [made]), tmp_path)
    found = tile.read(name)
    assert set(np.unique(found[~np.isnan(found)])) == {value} and np.isnan(found).any()


def test_a_fill_value_of_one_centre_is_a_value_of_another(tmp_path: Path) -> None:
    made = make_message("ecmwf-small", values=-50.0, keys=numbers(0, 1, 39, **SURFACE))
    region = Region("all", Box(-180, -90, 180, 90))
    (built,) = build(write(tmp_path / "x.grib2", [made]), [region], tmp_path, model="ifs").tiles
    assert built.meta.variables["cpofp"].fill_values == ()


@pytest.mark.parametrize(("category", "fill"), [(10, -99.0), (10, -999.0), (6, -3.0), (6, -1.0)])
def test_points_outside_radar_coverage_of_mrms_are_missing(tmp_path: Path, category: int, fill: float) -> None:
    seen = np.full(GRIDS["hrrr-ne"].shape, 12.0)
    seen[::2] = fill
    mrms = numbers(209, category, 0, centre=161, **SURFACE)
    files = [make_message("hrrr-ne", values=seen, decimal=0, keys=keys) for keys in (mrms, mrms | {"centre": 7})]
    (built,) = build(write(tmp_path / "x.grib2", files), [EAST], tmp_path, model="mrms", everything=True).tiles
    radar, other = built.meta.variables.values()
    assert (radar.min, radar.max) == (12.0, 12.0) and radar.filled > 0
    assert (other.min, other.filled) == (fill, 0)


@pytest.mark.parametrize("method", ["bilinear", "cells", "nearest"])
def test_regridding_never_invents_codes(file: Path, tmp_path: Path, method: Method) -> None:
    tile = cut(file, tmp_path, method=method)
    found = tile.read("ptype")
    assert set(np.unique(found[~np.isnan(found)])) <= {0.0, 1.0, 3.0, 5.0}
    assert tile.meta.variables["ptype"].method == ("most frequent" if method == "cells" else "nearest")
    assert [name for name in tile.names if name.startswith("ptype")] == ["ptype"]


@pytest.mark.parametrize("name", GRIDS_TO_REGRID)
def test_cells_take_the_most_frequent_code(name: str) -> None:
    grid, box = GRIDS_TO_REGRID[name], BOXES[name]
    made = regridder(grid, box, 7.0, "cells")
    assert isinstance(made, Cells)
    rng = np.random.default_rng(8)
    field = rng.choice([0, 1, 5], grid.shape).astype("f4")
    field[rng.random(grid.shape) < 0.3] = np.nan
    part = np.ascontiguousarray(made.window.take(field))
    found = made.most_frequent(part)
    values, bounds = part.reshape(-1)[made.points], [*made.starts, len(made.points)]
    for number, cell in enumerate(made.cells):
        inside = values[bounds[number] : bounds[number + 1]]
        there, counts = np.unique(inside[~np.isnan(inside)], return_counts=True)
        expected = there[np.argmax(counts)] if there.size else np.nan
        np.testing.assert_equal(found.flat[cell], np.float32(expected))


@pytest.mark.parametrize("method", ["bilinear", "cells", None])
def test_tiles_with_fill_values_and_codes_verify_against_their_grib(
    file: Path, tmp_path: Path, method: Method | None
) -> None:
    checks = verify(cut(file, tmp_path, method=method).path, file)
    assert [check for check in checks if not check.good] == []


def test_codes_have_cf_attributes(file: Path, tmp_path: Path) -> None:
    attrs = gribmill.open_tile(cut(file, tmp_path).path).ptype.attrs
    meanings = attrs["flag_meanings"].split(" ")
    assert attrs["flag_values"].dtype == np.float32 and len(meanings) == len(attrs["flag_values"])
    assert dict(zip(attrs["flag_values"].tolist(), meanings, strict=True))[3] == "freezing_rain"


@pytest.mark.parametrize("method", ["nearest", "bilinear"])
def test_a_point_forecast_gives_a_code_and_its_meaning(file: Path, tmp_path: Path, method: Any) -> None:
    cut(file, tmp_path)
    arguments = ["--data", str(tmp_path), "point", "39.5", "-77.03", "--vars", "ptype", "--method", method]
    shown = CliRunner().invoke(cli, [*arguments, "--json"])
    found = json.loads(shown.stdout)
    meaning = found["flags"]["ptype"][f"{found['hours'][0]['ptype']:.0f}"]
    assert meaning in {"no precipitation", "rain", "freezing rain", "snow"}
    table = CliRunner().invoke(cli, arguments)
    assert meaning in table.stdout


def test_tile_info_shows_codes_and_fill_values(file: Path, tmp_path: Path) -> None:
    tile = cut(file, tmp_path)
    shown = " ".join(CliRunner().invoke(cli, ["tile", "info", str(tile.path)]).stdout.split())
    assert "ptype: 0 no precipitation, 1 rain" in shown
    assert f"retop: {tile.meta.variables['retop'].filled} points of the GRIB that are -999 or less than 0" in shown


def test_the_mean_of_an_ensemble_of_codes_is_not_a_code(tmp_path: Path) -> None:
    keys = {"productDefinitionTemplateNumber": 2, **numbers(0, 1, 192, **SURFACE), "derivedForecast": 0}
    made = make_message("gfs-small", values=0.5, keys=keys)
    region = Region("all", Box(-180, -90, 180, 90))
    (built,) = build(write(tmp_path / "mean.grib2", [made]), [region], tmp_path, model="gefs").tiles
    assert built.meta.variables["crain"].flags == {}


def test_meta_with_more_values_than_meanings_is_refused() -> None:
    good = VariableMeta(**quantity(flag_values=(0, 1), flag_meanings=("no", "yes")))
    assert good.flags == {0: "no", 1: "yes"}
    with pytest.raises(ValueError, match="2 flag values have 1 meanings"):
        VariableMeta(**quantity(flag_values=(0, 1), flag_meanings=("no",)))


def test_real_ceilings_and_types_are_clean(tmp_path: Path) -> None:
    """GFS writes 20000 m where there is no ceiling, and -50 % where nothing falls."""
    file = real("noaa/gfs.20221107.t00z.pgrb2.1p00.f024.FULL.grib2")
    (built,) = build(file, [Region("all", Box(-180, -90, 180, 90))], tmp_path, variables=["ceil_msl", "cpofp"]).tiles
    facts = built.meta.variables
    assert facts["ceil_msl"].filled > 10_000 and facts["cpofp"].filled > 10_000
    assert facts["ceil_msl"].max is not None and facts["ceil_msl"].max < 20000
    assert facts["cpofp"].min == pytest.approx(0, abs=1e-4)
