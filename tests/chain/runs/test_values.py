"""Tiles hold the values that ecCodes reads from the published files, without gribmill's decoder."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import eccodes
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.chain.sample_forecasts import ABSENT, IDS, SampleForecasts

BOX = {"ne": (-80.6, 38.8, -66.8, 47.6), "texas": (-107.0, 25.6, -93.3, 36.7)}
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Witness:
    """One message as decoded by ecCodes: a value for each point."""

    lat: Floats
    lon: Floats
    values: Floats
    orientation: float | None
    cone: float

    def in_box(self, box: tuple[float, float, float, float]) -> NDArray[np.bool_]:
        west, south, east, north = box
        lon = (self.lon + 180) % 360 - 180
        return (self.lat >= south) & (self.lat <= north) & (lon >= west) & (lon <= east)


def witness(path: Path, short_name: str) -> Witness:
    """The first message or submessage of that name."""
    eccodes.codes_grib_multi_support_on()
    try:
        with path.open("rb") as file:
            while (handle := eccodes.codes_grib_new_from_file(file)) is not None:
                try:
                    if eccodes.codes_get(handle, "shortName") == short_name:
                        return _witness(handle)
                finally:
                    eccodes.codes_release(handle)
    finally:
        eccodes.codes_grib_multi_support_off()
    raise AssertionError(f"{path} has no {short_name}")


def _witness(handle: int) -> Witness:
    lambert = eccodes.codes_get(handle, "gridType") == "lambert"
    turned = lambert and eccodes.codes_get(handle, "uvRelativeToGrid") == 1
    # Read points and values together: rows may alternate, which the values alone do not show.
    points = eccodes.codes_grib_get_data(handle)
    return Witness(
        np.array([point["lat"] for point in points]),
        np.array([point["lon"] for point in points]),
        np.array([point["value"] for point in points]),
        eccodes.codes_get(handle, "LoVInDegrees") if turned else None,
        float(np.sin(np.radians(eccodes.codes_get(handle, "Latin1InDegrees")))) if lambert else 0.0,
    )


def arrays_of(tile: bytes) -> dict[str, Any]:
    with np.load(io.BytesIO(tile)) as arrays:
        return {name: arrays[name] for name in arrays.files}


def by_place(reference: dict[str, bytes], place: str, name: str) -> dict[tuple[int, int], np.float32]:
    """A tile's values by rounded latitude and longitude."""
    tile = arrays_of(reference[place])
    grid = arrays_of(reference[f"{place.rpartition('/')[0]}/grid.npz"])
    lat, lon = np.broadcast_arrays(grid["lat"] if grid["lat"].ndim == 2 else grid["lat"][:, None], grid["lon"])
    keys = zip(*(_rounded(one) for one in (lat.ravel(), lon.ravel() % 360)), strict=True)
    return dict(zip(keys, tile[name].ravel(), strict=True))


def _rounded(degrees: Floats) -> list[int]:
    """Rounded to hundredths; these grids have a spacing of at least a tenth of a degree."""
    return [int(one) for one in np.rint(degrees * 100)]


def place_of(forecasts: SampleForecasts, model_id: str, region: str) -> str:
    return f"tiles/{model_id}/{forecasts.run_id}/{region}/{forecasts.of(model_id)[-1]:03d}.npz"


def source(forecasts: SampleForecasts, model_id: str) -> Path:
    return forecasts.folder / forecasts.hours[model_id, forecasts.of(model_id)[-1]].key


@pytest.mark.slow
@pytest.mark.parametrize("region", BOX)
@pytest.mark.parametrize("model_id", IDS)
def test_temperature_matches_the_published_file(
    forecasts: SampleForecasts, reference: dict[str, bytes], model_id: str, region: str
) -> None:
    truth = witness(source(forecasts, model_id), "2t")
    tile = by_place(reference, place_of(forecasts, model_id, region), "t2m")
    inside = truth.in_box(BOX[region])
    assert inside.sum() > 10
    for lat, lon, value in zip(
        _rounded(truth.lat[inside]), _rounded(truth.lon[inside] % 360), truth.values[inside], strict=True
    ):
        assert tile[lat, lon] == np.float32(value)


@pytest.mark.parametrize("model_id", ["hrrr", "gfs", "ifs", "hrrr_subh.m15"])
def test_winds_are_earth_relative(forecasts: SampleForecasts, reference: dict[str, bytes], model_id: str) -> None:
    """On a Lambert grid winds are published along the grid, and rotated by its convergence angle."""
    u, v = (witness(source(forecasts, model_id), name) for name in ("10u", "10v"))
    place = place_of(forecasts, model_id, "ne")
    east, north = (by_place(reference, place, name) for name in ("u10", "v10"))
    inside = u.in_box(BOX["ne"])
    turn = np.zeros_like(u.lon)
    if u.orientation is not None:
        turn = u.cone * np.radians((u.lon - u.orientation + 180) % 360 - 180)
        assert np.abs(turn[inside]).max() > 0.1
    eastward = u.values * np.cos(turn) + v.values * np.sin(turn)
    northward = v.values * np.cos(turn) - u.values * np.sin(turn)
    keys = list(zip(_rounded(u.lat[inside]), _rounded(u.lon[inside] % 360), strict=True))
    np.testing.assert_allclose([east[key] for key in keys], eastward[inside], atol=2e-3)
    np.testing.assert_allclose([north[key] for key in keys], northward[inside], atol=2e-3)
    meta = json.loads(arrays_of(reference[place])["meta"].item())
    assert meta["variables"]["u10"]["winds"] == "earth"
    assert (u.orientation is not None) == model_id.startswith("hrrr")


@pytest.mark.parametrize("model_id", IDS)
def test_variables_missing_from_the_source_are_named(
    forecasts: SampleForecasts, reference: dict[str, bytes], model_id: str
) -> None:
    tile = arrays_of(reference[place_of(forecasts, model_id, "texas")])
    meta = json.loads(tile["meta"].item())
    assert ABSENT in meta["absent"]
    assert ABSENT not in tile
    minutes = forecasts.of(model_id)[-1] * 60 - (45 if model_id.endswith(".m15") else 0)
    assert (meta["model"], meta["run"], meta["minutes"]) == (model_id, forecasts.run_id, minutes)
