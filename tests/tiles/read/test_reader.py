"""Tiles in xarray: one tile, a whole run, lazily, with CF attributes."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import gribmill
from gribmill.regions.box import Box
from gribmill.regions.region import Region
from gribmill.tiles.errors import TileError
from gribmill.tiles.read.tile import Tile, read_tile
from tests.tiles.make_tile import GFS, HRRR, Fields, make_tile

FIJI = Region("fiji", Box(175.0, -20.0, -175.0, -10.0))
PATTERN = np.arange(HRRR.nx * HRRR.ny, dtype="f4").reshape(HRRR.shape)
RAIN = {"units": "kg m-2", "long_name": "Precipitation", "standard_name": "precipitation_amount", "statistic": "accum"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return make_tile(tmp_path, {"t2m": (PATTERN, {}), "tp": (1.0, {**RAIN, "step_minutes": (0, 60)})})


def test_a_projected_tile_is_a_cf_dataset(path: Path) -> None:
    opened = gribmill.open_tile(path)
    assert opened.t2m.dims == ("y", "x")
    assert opened.t2m.attrs["standard_name"] == "air_temperature"
    assert opened.t2m.attrs["units"] == "K"
    assert opened.t2m.attrs["grid_mapping"] == "crs"
    assert opened.crs.attrs["grid_mapping_name"] == "lambert_conformal_conic"
    assert opened.x.attrs["standard_name"] == "projection_x_coordinate"
    assert opened.lat.dims == ("y", "x")
    assert opened.lat.attrs["units"] == "degrees_north"
    assert opened.tp.attrs["cell_methods"] == "time: sum"
    assert opened.time.values == np.datetime64("2023-07-22T07:00")
    assert opened.run.attrs["standard_name"] == "forecast_reference_time"
    np.testing.assert_array_equal(opened.t2m, read_tile(path).read("t2m"))
    np.testing.assert_array_equal(opened.lat, read_tile(path).latlon()[0])


def test_a_regular_tile_has_latitudes_and_continuous_longitudes(tmp_path: Path) -> None:
    path = make_tile(tmp_path, {"t2m": (280.0, {})}, grid=GFS, region=FIJI, model="gfs")
    opened = gribmill.open_tile(path)
    assert opened.t2m.dims == ("lat", "lon")
    np.testing.assert_array_equal(opened.lon, np.arange(175.0, 186.0))
    assert float(opened.t2m.sel(lat=-15, lon=181)) == 280.0
    assert opened.crs.attrs["grid_mapping_name"] == "latitude_longitude"


@pytest.mark.parametrize("engine", ["gribmill", None])
def test_xarray_finds_the_engine_by_name_and_by_the_file_itself(path: Path, engine: str | None) -> None:
    with xr.open_dataset(path, engine=engine) as opened:
        np.testing.assert_array_equal(opened.t2m, read_tile(path).read("t2m"))


def test_the_engine_leaves_other_npz_files_to_others(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    from gribmill.tiles.read.xarray_engine import GribmillEntrypoint

    assert not GribmillEntrypoint().guess_can_open(tmp_path / "other.npz")
    assert not GribmillEntrypoint().guess_can_open(tmp_path / "absent.npz")
    with pytest.raises(TileError, match="not a tile"):
        xr.open_dataset(tmp_path / "other.npz", engine="gribmill")


def test_variables_can_be_dropped(path: Path) -> None:
    with xr.open_dataset(path, engine="gribmill", drop_variables="tp") as opened:
        assert "tp" not in opened
        assert "t2m" in opened


def test_values_are_read_when_they_are_accessed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[str] = []
    real_read = Tile.read_part

    def counting(self: Tile, name: str, part: tuple[int | slice, ...]) -> np.ndarray:
        reads.append(name)
        return real_read(self, name, part)

    monkeypatch.setattr(Tile, "read_part", counting)
    opened = gribmill.open_tile(path)
    assert reads == []
    float(opened.t2m[3, 4])
    assert reads == ["t2m"]


def test_dataset_can_be_sent_to_another_process(path: Path) -> None:
    opened = pickle.loads(pickle.dumps(gribmill.open_tile(path)))
    np.testing.assert_array_equal(opened.t2m, read_tile(path).read("t2m"))
    np.testing.assert_array_equal(opened.lon, read_tile(path).latlon()[1])


def make_run(root: Path, hours: tuple[int, ...] = (1, 2, 4)) -> None:
    for hour in hours:
        fields: Fields = {"t2m": (PATTERN + hour, {})}
        if hour > 1:
            fields["gust"] = (float(hour), {"units": "m s-1", "long_name": "Gust", "standard_name": None})
        make_tile(root, fields, minutes=hour * 60)


@pytest.mark.parametrize("dask", [True, False])
def test_a_run_is_one_dataset_over_its_hours(tmp_path: Path, dask: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not dask:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    make_run(tmp_path)
    opened = gribmill.open_run("hrrr", "20230722_06", "boston", data=tmp_path)
    assert (opened.t2m.chunks is not None) == dask
    assert list(opened.time.values) == [np.datetime64(f"2023-07-22T{hour:02d}:00") for hour in (7, 8, 10)]
    for number, hour in enumerate((1, 2, 4)):
        stored = read_tile(tmp_path / f"tiles/hrrr/20230722_06/boston/{hour:03d}.npz").read("t2m")
        np.testing.assert_array_equal(opened.t2m[number], stored)
    np.testing.assert_array_equal(opened.t2m[:, 5, 6], [opened.t2m.values[n, 5, 6] for n in range(3)])
    np.testing.assert_array_equal(opened.t2m[[2, 0], 1:9:3, [4, 2]], opened.t2m.values[[2, 0]][:, 1:9:3][:, :, [4, 2]])


@pytest.mark.parametrize("dask", [True, False])
@pytest.mark.parametrize("part", [np.s_[:], np.s_[0], np.s_[:, 3], np.s_[1:1], np.s_[1, 2:4], np.s_[1, 2, 3]], ids=str)
def test_returned_values_are_writable_copies(
    tmp_path: Path, dask: bool, part: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not dask:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    make_run(tmp_path)
    opened = gribmill.open_run("hrrr", data=tmp_path)
    assert opened.t2m[part].values.flags.writeable
    one = gribmill.open_tile(tmp_path / "tiles/hrrr/20230722_06/boston/002.npz").t2m
    assert one.values.flags.writeable
    assert one[3:5].values.flags.writeable


def test_hours_that_lack_a_variable_are_nan(tmp_path: Path) -> None:
    make_run(tmp_path)
    opened = gribmill.open_run("hrrr", data=tmp_path)
    assert np.isnan(opened.gust[0]).all()
    assert (opened.gust[1:] == [[[2.0]], [[4.0]]]).all()


def test_a_run_reads_only_the_hours_that_are_accessed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_run(tmp_path)
    reads: list[str] = []
    real_read = Tile.read_part

    def counting(self: Tile, name: str, part: tuple[int | slice, ...]) -> np.ndarray:
        reads.append(f"{self.path.name}:{name}")
        return real_read(self, name, part)

    monkeypatch.setattr(Tile, "read_part", counting)
    opened = gribmill.open_run("hrrr", data=tmp_path)
    assert reads == []
    opened.t2m.sel(time="2023-07-22T08:00").load()
    assert reads == ["002.npz:t2m"]


def test_equal_runs_have_equal_names_in_a_graph_and_changed_ones_others(tmp_path: Path) -> None:
    make_run(tmp_path)
    first, again = (gribmill.open_run("hrrr", data=tmp_path).t2m.data.name for _ in range(2))
    make_run(tmp_path, (2,))
    assert first == again != gribmill.open_run("hrrr", data=tmp_path).t2m.data.name


def test_the_newest_run_is_taken_unless_one_is_named(tmp_path: Path) -> None:
    for run in ("20230722_06", "20230723_00", "20230722_18"):
        make_tile(tmp_path, {"t2m": (280.0, {})}, run=run)
    assert gribmill.open_run("hrrr", data=tmp_path).attrs["run_id"] == "20230723_00"
    assert gribmill.open_run("hrrr", "20230722_18", data=tmp_path).attrs["run_id"] == "20230722_18"


def test_missing_or_ambiguous_runs_are_reported(tmp_path: Path) -> None:
    with pytest.raises(TileError, match="no tiles of hrrr"):
        gribmill.open_run("hrrr", data=tmp_path)
    make_run(tmp_path)
    make_tile(tmp_path, {"t2m": (280.0, {})}, region=Region("cape_cod", Box(-71, 41, -69.5, 42.2)))
    with pytest.raises(TileError, match="boston, cape_cod"):
        gribmill.open_run("hrrr", data=tmp_path)
    with pytest.raises(TileError, match="no tiles of"):
        gribmill.open_run("../../etc", data=tmp_path)
    with pytest.raises(TileError, match="has snow; they have gust, t2m"):
        gribmill.open_run("hrrr", region="boston", data=tmp_path, variables=["snow"])


def test_an_hour_on_another_grid_is_not_mixed_in(tmp_path: Path) -> None:
    make_run(tmp_path)
    make_tile(tmp_path, {"t2m": (280.0, {})}, grid=GFS, region=Region("boston", Box(-80, 35, -60, 50)), minutes=300)
    with pytest.raises(TileError, match="another grid"):
        gribmill.open_run("hrrr", data=tmp_path)


def test_a_dataset_can_be_written_as_netcdf_and_read_back(path: Path, tmp_path: Path) -> None:
    if not {"netcdf4", "h5netcdf", "scipy"} & set(xr.backends.list_engines()):
        pytest.skip("no library that writes netCDF is installed")
    gribmill.open_tile(path).to_netcdf(tmp_path / "tile.nc")
    with xr.open_dataset(tmp_path / "tile.nc") as again:
        np.testing.assert_array_equal(again.t2m, read_tile(path).read("t2m"))
