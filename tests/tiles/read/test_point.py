"""The forecast at a place."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gribmill
from gribmill.regions.box import Box
from gribmill.regions.grids import Grid, RotatedLatLonGrid
from gribmill.regions.region import Region
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.npz_reader import Archive
from gribmill.tiles.format.npz_writer import write_npz
from gribmill.tiles.read.point.sample import wind_direction
from gribmill.tiles.read.tile import read_tile
from gribmill.tiles.read.units import System
from tests.tiles.make_tile import EARTH, GFS, HRRR, make_tile

LAT, LON = 42.36, -71.06
WIND = {"units": "m s-1", "long_name": "Wind", "standard_name": None, "level": "10 m above ground"}
RAIN: dict[str, Any] = {"units": "kg m-2", "long_name": "Precipitation", "standard_name": None, "statistic": "accum"}
NEW_ENGLAND = Region("new_england", Box(-74.0, 40.0, -68.0, 45.0))


def rain(start: int, end: int) -> dict[str, Any]:
    return {**RAIN, "step_minutes": (start * 60, end * 60)}


def run_of_rain(root: Path, totals: dict[int, float]) -> None:
    for hour, total in totals.items():
        make_tile(root, {"t2m": (280.0 + hour, {}), "tp": (total, rain(0, hour))}, minutes=hour * 60)


def test_a_series_has_a_row_per_hour_in_the_units_of_choice(tmp_path: Path) -> None:
    run_of_rain(tmp_path, {1: 1.0, 2: 1.0, 3: 26.4})
    expected: dict[System, tuple[str, float]] = {"metric": ("°C", 7.85), "us": ("°F", 46.13), "si": ("K", 281.0)}
    for system, (units, first) in expected.items():
        series = gribmill.point(LAT, LON, data=tmp_path, units=system)
        assert series.columns["t2m"].units == units
        assert series.columns["t2m"].values[0] == pytest.approx(first, abs=1e-3)
    assert [moment.hour for moment in series.times] == [7, 8, 9]
    assert gribmill.point(LAT, LON, data=tmp_path, units="us").columns["tp"].values[2] == pytest.approx(1.0, abs=1e-6)


def test_rain_is_since_the_row_before_and_a_missing_hour_shows_in_the_time_range(tmp_path: Path) -> None:
    run_of_rain(tmp_path, {1: 1.0, 2: 3.0, 4: 9.0, 5: 9.5})
    column = gribmill.point(LAT, LON, data=tmp_path).columns["tp"]
    assert column.values == (1.0, 2.0, 6.0, 0.5)
    assert column.windows == ((0, 60), (60, 120), (120, 240), (240, 300))
    assert column.minutes == (60, 60, 120, 60)


def test_buckets_and_run_totals_give_one_column_that_adds_up_to_the_run_total(tmp_path: Path) -> None:
    make_tile(tmp_path, {"tp": (4.0, rain(0, 1))}, minutes=60)
    make_tile(tmp_path, {"tp": (9.0, rain(0, 3)), "tp_bucket": (0.25, rain(2, 3))}, minutes=180)
    make_tile(tmp_path, {"tp": (9.5, rain(0, 4)), "tp_bucket": (0.5, rain(3, 4))}, minutes=240)
    series = gribmill.point(LAT, LON, data=tmp_path)
    assert list(series.columns) == ["tp"]
    assert series.columns["tp"].values == (4.0, 5.0, 0.5)
    assert series.columns["tp"].windows == ((0, 60), (60, 180), (180, 240))
    (tmp_path / "tiles/hrrr/20230722_06/boston/001.npz").unlink()
    assert gribmill.point(LAT, LON, data=tmp_path).columns["tp"].values == (9.0, 0.5)


def test_a_damaged_hour_is_reported_and_leaves_an_empty_row(tmp_path: Path) -> None:
    run_of_rain(tmp_path, {1: 1.0, 2: 2.0, 3: 4.0, 4: 5.0})
    broken = tmp_path / "tiles/hrrr/20230722_06/boston/002.npz"
    broken.write_bytes(broken.read_bytes()[:-40])
    series = gribmill.point(LAT, LON, data=tmp_path)
    assert series.steps == (60, 120, 180, 240)
    assert np.isnan(series.columns["t2m"].values[1])
    assert [math.isnan(value) for value in series.columns["tp"].values] == [False, True, False, False]
    assert series.columns["tp"].windows == ((0, 60), None, (60, 180), (180, 240))
    assert any("002.npz" in note for note in series.notes)


def test_wind_speed_and_direction_come_from_the_components(tmp_path: Path) -> None:
    make_tile(tmp_path, {"u10": (-3.0, WIND), "v10": (-4.0, WIND)})
    series = gribmill.point(LAT, LON, data=tmp_path)
    assert list(series.columns) == ["ws10", "wdir10"]
    assert series.columns["ws10"].values == (5.0,)
    assert series.columns["wdir10"].values[0] == pytest.approx(36.87, abs=0.01)
    components = gribmill.point(LAT, LON, data=tmp_path, variables=["u10"])
    assert components.columns["u10"].values == (-3.0,)


@pytest.mark.parametrize(
    ("u", "v", "degrees"), [(0, -1, 360), (-1, 0, 90), (0, 1, 180), (1, 0, 270), (-1, -1, 45), (1, -1, 315)]
)
def test_directions_are_where_the_wind_comes_from(u: float, v: float, degrees: float) -> None:
    assert wind_direction(u, v) == pytest.approx(degrees)


def test_calm_wind_has_no_direction() -> None:
    assert math.isnan(wind_direction(0.0, 0.0))
    assert math.isnan(wind_direction(math.nan, 1.0))


def test_nearest_takes_one_point_and_bilinear_all_four(tmp_path: Path) -> None:
    j, i = np.mgrid[: HRRR.ny, : HRRR.nx].astype("f4")
    path = make_tile(tmp_path, {"t2m": (j * 2 + i, {})})
    row, column = (float(value) for value in HRRR.index(LAT, LON))
    nearest = gribmill.point(LAT, LON, data=tmp_path, units="si").columns["t2m"].values[0]
    assert nearest == round(row) * 2 + round(column)
    smooth = gribmill.point(LAT, LON, data=tmp_path, units="si", method="bilinear").columns["t2m"].values[0]
    assert smooth == pytest.approx(row * 2 + column, abs=1e-3)
    tile = read_tile(path)
    lat, lon = tile.latlon()
    series = gribmill.point(float(lat[5, 7]), float(lon[5, 7]), data=tmp_path)
    assert series.distance_km < 0.001


def test_bilinear_passes_over_a_missing_point_but_not_over_most(tmp_path: Path) -> None:
    row, column = (float(value) for value in HRRR.index(LAT, LON))
    field = np.full(HRRR.shape, 280.0, "f4")
    farthest = field.copy()
    down, left = int(row), int(column)
    far_row = down if row - down > 0.5 else down + 1
    far_column = left if column - left > 0.5 else left + 1
    farthest[far_row, far_column] = np.nan
    make_tile(tmp_path / "one", {"t2m": (farthest, {})})
    assert gribmill.point(LAT, LON, data=tmp_path / "one", units="si", method="bilinear").columns["t2m"].values == (
        280.0,
    )
    field[down : down + 2, left : left + 2] = np.nan
    make_tile(tmp_path / "four", {"t2m": (field, {})})
    assert np.isnan(gribmill.point(LAT, LON, data=tmp_path / "four", method="bilinear").columns["t2m"].values[0])


def test_the_finest_grid_that_holds_the_place_is_chosen_and_the_others_are_named(tmp_path: Path) -> None:
    make_tile(tmp_path, {"t2m": (1.0, {})}, grid=GFS, region=NEW_ENGLAND, model="gfs", run="20230722_12")
    make_tile(tmp_path, {"t2m": (2.0, {})})
    series = gribmill.point(LAT, LON, data=tmp_path)
    assert (series.model, series.region) == ("hrrr", "boston")
    assert any("gfs/new_england" in note for note in series.notes)
    assert gribmill.point(LAT, LON, data=tmp_path, model="gfs").model == "gfs"
    assert gribmill.point(44.5, -73.0, data=tmp_path).model == "gfs"
    assert gribmill.point(LAT, LON, data=tmp_path, region="new_england").model == "gfs"


def test_the_newest_run_that_holds_the_place_is_chosen(tmp_path: Path) -> None:
    for run in ("20230722_06", "20230722_07"):
        make_tile(tmp_path, {"t2m": (280.0, {})}, run=run)
    make_tile(tmp_path, {"t2m": (280.0, {})}, run="20230722_08", region=Region("iowa", Box(-95, 41, -93, 43)))
    assert gribmill.point(LAT, LON, data=tmp_path).run == "20230722_07"
    assert gribmill.point(LAT, LON, data=tmp_path, run="20230722_06").run == "20230722_06"


def test_places_across_the_dateline_in_any_longitude_range_are_found(tmp_path: Path) -> None:
    fiji = Region("fiji", Box(175.0, -20.0, -175.0, -10.0))
    values = np.broadcast_to(np.arange(360, dtype="f4"), GFS.shape)
    make_tile(tmp_path, {"t2m": (values, {})}, grid=GFS, region=fiji, model="gfs")
    for lon in (-178.0, 182.0):
        assert gribmill.point(-17.0, lon, data=tmp_path, units="si").columns["t2m"].values == (182.0,)


ROTATED = RotatedLatLonGrid.spanning(
    nx=72, ny=31, south=-75, north=75, west=-180, east=175, pole_lat=-40.0, pole_lon=10.0, earth=EARTH
)


@pytest.mark.parametrize("grid", [GFS, ROTATED], ids=["regular", "rotated"])
@pytest.mark.parametrize("encoding", ["fast", "packed"])
@pytest.mark.parametrize("column", [-0.4, 0.0, 0.3, 17.75, -1.0, -0.75, -0.5])
def test_interpolation_wraps_between_the_last_and_first_columns_of_a_full_ring(
    tmp_path: Path, grid: Grid, encoding: Any, column: float
) -> None:
    values = np.random.default_rng(3).integers(0, 100, grid.shape).astype("f4")
    globe = Region("globe", Box(-180.0, -90.0, 180.0, 90.0), encoding=encoding)
    tile = read_tile(make_tile(tmp_path, {"t2m": (values, {})}, grid=grid, region=globe, model="gfs"))
    assert tile.shape[1] == grid.shape[1]
    row = 12.3
    lat, lon = (float(value) for value in grid.latlon(row, column))
    left, share = math.floor(column), column - math.floor(column)
    low, high = (values[j, left] * (1 - share) + values[j, (left + 1) % grid.shape[1]] * share for j in (12, 13))
    found = gribmill.point(lat, lon, data=tmp_path, units="si", method="bilinear").columns["t2m"].values[0]
    assert found == pytest.approx(low * 0.7 + high * 0.3, abs=1e-3)


def test_beyond_the_last_column_of_a_partial_grid_only_that_column_counts(tmp_path: Path) -> None:
    values = np.broadcast_to(np.arange(360, dtype="f4"), GFS.shape)
    make_tile(tmp_path, {"t2m": (values, {})}, grid=GFS, region=Region("east", Box(1, -20, 179, 20)), model="gfs")
    series = gribmill.point(0.0, 179.4, data=tmp_path, units="si", method="bilinear")
    assert series.columns["t2m"].values == (179.0,)


def test_a_replaced_hour_is_read_again(tmp_path: Path) -> None:
    run_of_rain(tmp_path, {1: 1.0, 2: 2.0})
    before = gribmill.point(LAT, LON, data=tmp_path, units="si").columns["t2m"].values
    make_tile(tmp_path, {"t2m": (300.0, {})}, minutes=120)
    after = gribmill.point(LAT, LON, data=tmp_path, units="si").columns["t2m"].values
    (tmp_path / "tiles/hrrr/20230722_06/boston/001.npz").unlink()
    last = gribmill.point(LAT, LON, data=tmp_path, units="si").columns["t2m"].values
    assert (before, after, last) == ((281.0, 282.0), (281.0, 300.0), (300.0,))


def test_an_hour_on_other_points_is_read_at_its_own(tmp_path: Path) -> None:
    values = np.broadcast_to(np.arange(360, dtype="f4"), GFS.shape)
    for hour in (1, 2, 3):
        path = make_tile(tmp_path, {"t2m": (values, {})}, grid=GFS, region=NEW_ENGLAND, model="gfs", minutes=hour * 60)
        if hour == 2:
            archive = Archive(path)
            arrays = {name: archive.read(name) for name in archive.entries}
            write_npz(path, {**arrays, "lon": arrays["lon"] - 1.0})
    assert gribmill.point(LAT, -71.0, data=tmp_path, units="si").columns["t2m"].values == (289.0, 290.0, 289.0)


@pytest.mark.parametrize(("lat", "lon"), [(91, 0), (-90.5, 0), (math.nan, 0), (0, 400), (0, math.inf)])
def test_an_invalid_place_is_refused(lat: float, lon: float, tmp_path: Path) -> None:
    with pytest.raises(TileError, match="not a l"):
        gribmill.point(lat, lon, data=tmp_path)


def test_a_place_without_tiles_is_reported(tmp_path: Path) -> None:
    with pytest.raises(TileError, match="there are no tiles"):
        gribmill.point(LAT, LON, data=tmp_path)
    make_tile(tmp_path, {"t2m": (280.0, {})})
    with pytest.raises(TileError, match="none of the regions contains it"):
        gribmill.point(0.0, 0.0, data=tmp_path)
    with pytest.raises(TileError, match="has no snow; it has t2m"):
        gribmill.point(LAT, LON, data=tmp_path, variables=["snow"])


def test_plain_values_and_a_data_frame(tmp_path: Path) -> None:
    run_of_rain(tmp_path, {1: 1.0, 3: 3.0, 4: 4.0})
    series = gribmill.point(LAT, LON, data=tmp_path)
    plain = json.loads(json.dumps(series.to_dict(), allow_nan=False))
    assert [row["hour"] for row in plain["hours"]] == [1, 3, 4]
    assert plain["hours"][1]["tp"] == 2.0
    assert plain["intervals"]["tp"] == [1.0, 2.0, 1.0]
    assert plain["window_minutes"]["tp"] == [[0, 60], [60, 180], [180, 240]]
    frame = series.to_pandas()
    assert list(frame.columns) == ["t2m", "tp"]
    assert frame.attrs["units"] == {"t2m": "°C", "tp": "mm"}


@pytest.mark.parametrize("value", [4.260864e-07, -7.777227e-05, 1.1e-38, 0.1, 281.1, 101325.25, 16777217.0])
def test_plain_values_are_those_of_the_tile_however_small(tmp_path: Path, value: float) -> None:
    make_tile(tmp_path, {"absv_500": (value, {"units": "s-1"})})
    plain = gribmill.point(LAT, LON, data=tmp_path, units="si").to_dict()["hours"][0]["absv_500"]
    assert np.float32(plain) == np.float32(value)
