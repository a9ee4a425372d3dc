"""CF bounds: the time range of every sum, mean and extreme, hour by hour, in datasets and in netCDF."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import gribmill
from gribmill.tiles.errors import TileError
from tests.tiles.make_tile import Fields, make_tile

RUN = np.datetime64("2023-07-22T06:00", "ns")
Write = Callable[[xr.Dataset], xr.Dataset]


def over(start: int, end: int, value: float = 1.0, statistic: str = "accum") -> tuple[float, dict[str, Any]]:
    facts = {"units": "kg m-2", "long_name": "Precipitation", "standard_name": None, "level": "surface"}
    return value, {**facts, "statistic": statistic, "step_minutes": (start * 60, end * 60)}


def make_run(root: Path) -> None:
    """Hours 1 and 2 as hourly sums, then a gap and six hours; run totals; highest temperatures that reset."""
    hours: dict[int, Fields] = {
        1: {"tp": over(0, 1, 1.0), "t2m_max": over(0, 1, 290.0, "max")},
        2: {"tp": over(0, 2, 3.0), "tp_bucket": over(1, 2, 2.0), "t2m_max": over(0, 2, 291.0, "max")},
        5: {"tp": over(0, 5, 4.0)},
        8: {"tp": over(0, 8, 9.0), "tp_bucket": over(7, 8, 0.5), "tp_6h": over(2, 8, 6.0)},
    }
    hours[8] |= {"t2m_max": over(6, 8, 292.0, "max")}
    for hour, fields in hours.items():
        make_tile(root, {"t2m": (280.0 + hour, {}), **fields}, minutes=hour * 60)


def ranges(dataset: xr.Dataset, name: str) -> list[tuple[float, float]]:
    """The time ranges of a variable in hours since the run, found as CF says: coordinates, then bounds."""
    named = (dataset[name].encoding.get("coordinates") or dataset[name].attrs["coordinates"]).split()
    (label,) = [one for one in named if "bounds" in dataset[one].attrs]
    assert dataset[label].attrs["standard_name"] == "time"
    np.testing.assert_array_equal(dataset[label].values, dataset["time"].values)
    bounds = dataset[dataset[label].attrs["bounds"]].values
    assert (bounds[..., 1] == dataset["time"].values).all()
    return [(float(a), float(b)) for a, b in ((bounds - RUN) / np.timedelta64(1, "h")).reshape(-1, 2)]


def as_it_is(dataset: xr.Dataset) -> xr.Dataset:
    return dataset


def encoded(dataset: xr.Dataset) -> xr.Dataset:
    """Encoded as for a netCDF file, and decoded again."""
    variables, attributes = xr.conventions.cf_encoder(*xr.conventions.encode_dataset_coordinates(dataset.load()))
    return xr.decode_cf(xr.Dataset(variables, attrs=attributes))


@pytest.mark.parametrize("written", [as_it_is, encoded])
def test_every_variable_of_a_run_has_the_bounds_of_its_own_time_ranges(tmp_path: Path, written: Write) -> None:
    make_run(tmp_path)
    run = written(gribmill.open_run("hrrr", data=tmp_path))
    assert ranges(run, "tp") == [(0, 1), (0, 2), (0, 5), (0, 8)]
    # At hour 1 the run's total is the bucket; at hour 5 there is none: an empty time range, and no value.
    assert ranges(run, "tp_bucket") == [(0, 1), (1, 2), (5, 5), (7, 8)]
    np.testing.assert_array_equal(run["tp_bucket"][:, 0, 0], [1.0, 2.0, np.nan, 0.5])
    assert ranges(run, "t2m_max") == [(0, 1), (0, 2), (5, 5), (6, 8)]
    assert ranges(run, "tp_6h") == [(1, 1), (2, 2), (5, 5), (2, 8)]
    assert run["tp"].attrs["cell_methods"] == "time: sum"
    assert run["t2m_max"].attrs["cell_methods"] == "time: maximum"
    assert "cell_methods" not in run["t2m"].attrs
    named = (run["t2m"].encoding.get("coordinates") or run["t2m"].attrs["coordinates"]).split()
    assert sorted(named) == ["lat", "lon", "run", "step"]
    assert {"time_run", "time_1h", "time_6h", "time_t2m_max"} <= set(run.coords)


def test_a_tile_has_bounds_for_each_length(tmp_path: Path) -> None:
    make_run(tmp_path)
    tile = gribmill.open_tile(tmp_path / "tiles/hrrr/20230722_06/boston/008.npz")
    assert tile["time_6h_bounds"].values.tolist() == [2 * 60, 8 * 60]
    read_back = encoded(tile)
    found = {name: ranges(read_back, name) for name in ("tp", "tp_bucket", "tp_6h", "t2m_max")}
    assert found == {"tp": [(0, 8)], "tp_bucket": [(7, 8)], "tp_6h": [(2, 8)], "t2m_max": [(6, 8)]}
    assert "time_6h" in read_back["tp_6h"].encoding["coordinates"].split()


def test_tiles_with_different_time_ranges_can_be_concatenated(tmp_path: Path) -> None:
    make_run(tmp_path)
    paths = sorted((tmp_path / "tiles/hrrr/20230722_06/boston").glob("0*.npz"))
    both = xr.concat(
        [gribmill.open_tile(path)[["t2m", "tp"]] for path in paths], "time", coords="different", compat="equals"
    )
    np.testing.assert_array_equal(both["tp"][:, 0, 0], [1.0, 3.0, 4.0, 9.0])


def test_run_is_opened_by_names_with_a_length(tmp_path: Path) -> None:
    make_run(tmp_path)
    run = gribmill.open_run("hrrr", data=tmp_path, variables=["tp_1h", "tp_run", "t2m_max_2h"])
    np.testing.assert_array_equal(run["tp_1h"][:, 0, 0], [1.0, 2.0, np.nan, 0.5])
    assert ranges(run, "tp_1h") == [(0, 1), (1, 2), (5, 5), (7, 8)]
    np.testing.assert_array_equal(run["tp_run"][:, 0, 0], [1.0, 3.0, 4.0, 9.0])
    np.testing.assert_array_equal(run["t2m_max_2h"][:, 0, 0], [np.nan, 291.0, np.nan, 292.0])
    with pytest.raises(TileError, match="has tp_3h; they have"):
        gribmill.open_run("hrrr", data=tmp_path, variables=["tp_3h"])


def test_a_run_with_bounds_is_written_as_netcdf_and_read_back(tmp_path: Path) -> None:
    if not {"netcdf4", "h5netcdf", "scipy"} & set(xr.backends.list_engines()):
        pytest.skip("no library that writes netCDF is installed")
    make_run(tmp_path)
    gribmill.open_run("hrrr", data=tmp_path).to_netcdf(tmp_path / "run.nc")
    with xr.open_dataset(tmp_path / "run.nc") as again:
        assert ranges(again, "tp_bucket") == [(0, 1), (1, 2), (5, 5), (7, 8)]
        np.testing.assert_array_equal(again["tp"][:, 0, 0], [1.0, 3.0, 4.0, 9.0])
    with xr.open_dataset(tmp_path / "run.nc", decode_coords="all") as again:
        assert "time_run_bounds" in again.coords
