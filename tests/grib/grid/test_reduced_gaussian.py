"""Reduced Gaussian grids: every value against ecCodes' own latitudes, longitudes and values of the message's points."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import eccodes
import numpy as np
import pytest
from numpy.typing import NDArray

import gribmill
from gribmill.grib.decode.field import Field, fields, read_fields
from gribmill.grib.errors import GribError
from gribmill.grib.grid.rows import reduced_rows
from gribmill.regions.window import Window
from gribmill.tiles.check.verify import verify
from tests.real_files import real

Floats = NDArray[np.float64]
OCTAHEDRAL = [20 + 4 * row for row in range(16)] + [20 + 4 * row for row in range(15, -1, -1)]
SHUFFLED = np.random.default_rng(5).permutation(20_000).astype(np.float64)


def made(edition: int, rows: list[int] | None = None, **keys: Any) -> bytes:
    """N32 as ecCodes' sample has it, or a grid with these rows; each point has a different value."""
    handle = eccodes.codes_grib_new_from_samples(f"reduced_gg_pl_32_grib{edition}")
    if rows is not None:
        latitude = 85.76058712
        eccodes.codes_set(handle, "N", len(rows) // 2)
        eccodes.codes_set(handle, "Nj", len(rows))
        eccodes.codes_set_array(handle, "pl", rows)
        eccodes.codes_set(handle, "latitudeOfFirstGridPointInDegrees", latitude)
        eccodes.codes_set(handle, "latitudeOfLastGridPointInDegrees", -latitude)
        eccodes.codes_set(handle, "longitudeOfLastGridPointInDegrees", 360 - 360 / max(rows))
    for key, value in keys.items():
        eccodes.codes_set(handle, key, value)
    count = int(eccodes.codes_get_array(handle, "pl").sum())
    eccodes.codes_set(handle, "bitsPerValue", 24)
    eccodes.codes_set_values(handle, SHUFFLED[:count])
    message = eccodes.codes_get_message(handle)
    eccodes.codes_release(handle)
    return bytes(message)


def theirs(message: bytes) -> tuple[Floats, Floats, Floats]:
    handle = eccodes.codes_new_from_message(message)
    eccodes.codes_set(handle, "missingValue", float("nan"))
    arrays = tuple(eccodes.codes_get_array(handle, key) for key in ("latitudes", "longitudes", "values"))
    eccodes.codes_release(handle)
    return arrays


def check_against_eccodes(field: Field, rows: slice) -> None:
    """Each value is that of a point of its row which is as near as any other."""
    ours = field.values()
    lat, lon, values = theirs(field.message())
    ny, nx = field.grid.shape
    for j in range(*rows.indices(ny)):
        row_lat, row_lon = field.grid.latlon(j, np.arange(nx))
        on_row = np.abs(lat - row_lat[0]) < 1e-3
        assert on_row.any()
        away = np.abs((row_lon[:, None] - lon[on_row][None, :] + 180) % 360 - 180)
        least = away.min(axis=1)
        assert least.max() <= 180 / on_row.sum() + 1e-6
        near = away <= least[:, None] + 1e-6
        same = (values[on_row][None, :].astype(np.float32) == ours[j][:, None]) | np.isnan(ours[j])[:, None]
        assert (near & same).any(axis=1).all()


@pytest.mark.parametrize("edition", [1, 2])
@pytest.mark.parametrize("rows", [None, OCTAHEDRAL], ids=["N32", "O16"])
def test_each_value_is_that_of_the_nearest_point_of_its_row(edition: int, rows: list[int] | None) -> None:
    (field,) = fields(made(edition, rows), "f")
    assert field.grid.shape == ((64, 128) if rows is None else (32, 80))
    check_against_eccodes(field, slice(None))


def test_rows_of_full_length_are_the_sources_own_points() -> None:
    message = made(2)
    (field,) = fields(message, "f")
    lat, lon, values = theirs(message)
    equator = np.abs(lat - field.grid.y[32]) < 1e-3
    assert equator.sum() == 128
    ours = field.values()[32]
    order = np.argsort(lon[equator])
    assert np.array_equal(ours, values[equator][order].astype(np.float32))


def test_windows_are_parts_of_the_whole() -> None:
    (field,) = fields(made(2, OCTAHEDRAL), "f")
    window = Window(slice(3, 20), (slice(70, 80), slice(0, 9)))
    assert np.array_equal(field.cut([window])[0], window.take(field.values()))


def test_tiles_of_reduced_grids_are_read_like_others(tmp_path: Path) -> None:
    path = tmp_path / "x.grib2"
    path.write_bytes(made(2, OCTAHEDRAL, shortName="2t"))
    (result,) = gribmill.cut(path, gribmill.Box(-20, -40, 50, 40), tmp_path, model="mine")
    (tile,) = result.tiles
    assert "n = 16, rows of 20 to 80 points" in tile.meta.notes[0]
    assert all(check.good for check in verify(tile.path, path))
    data = gribmill.open_tile(tile.path)
    assert "nearest point of its row" in data.attrs["comment"]
    series = gribmill.point(10.0, 20.0, data=tmp_path)
    nearest = data["t2m"].sel(lat=10.0, lon=20.0, method="nearest").item()
    assert series.columns["t2m"].values[0] == pytest.approx(nearest - 273.15, abs=1e-2)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"longitudeOfLastGridPointInDegrees": 90.0}, "a part of the globe"),
        ({"scanningMode": 16}, "scanning mode 16"),
        ({"interpretationOfNumberOfPoints": 2}, "around the globe"),
    ],
)
def test_reduced_grids_that_cannot_be_read_so_are_refused(keys: dict[str, Any], words: str) -> None:
    (field,) = fields(made(2, **keys), "f")
    with pytest.raises(GribError, match=words):
        field.grid  # noqa: B018


def test_a_list_of_rows_beyond_its_section_is_refused() -> None:
    (field,) = fields(made(2), "f")
    section = bytearray(field.sections.grid)
    section[34:38] = (60_000).to_bytes(4, "big")
    with pytest.raises(GribError, match="does not list"):
        reduced_rows(2, bytes(section))


@pytest.mark.witness
@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("ecmwf/ifs.20260714.00z.O1280.2t.mtg2.grib2", slice(0, None, 257)),
        ("ecmwf/tigge-ecmwf.20070505.00z.120h.reduced_gg.jpeg.grib2", slice(0, None, 7)),
        ("adversarial/ecmwf-index-384msgs.reduced_gg.grib1", slice(0, None, 7)),
        ("adversarial/ecmwf.second-order.grib1", slice(0, None, 5)),
    ],
)
def test_points_of_real_reduced_grids_are_where_eccodes_puts_them(name: str, rows: slice) -> None:
    check_against_eccodes(next(read_fields(real(name))), rows)
