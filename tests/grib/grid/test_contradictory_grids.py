"""Grid sections whose last point, increments and number of points contradict each other; ecCodes is the witness."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import eccodes
import numpy as np
import pytest

import gribmill
from gribmill.grib.decode.field import Field, fields
from gribmill.grib.errors import GribError
from tests.make_grib import GRIDS, GridSpec, make_message


def spec(nx: int, ny: int, **keys: Any) -> GridSpec:
    known = {
        "latitudeOfFirstGridPointInDegrees": 40.0,
        "latitudeOfLastGridPointInDegrees": 40.0 - 0.25 * (ny - 1),
        "longitudeOfFirstGridPointInDegrees": 10.0,
        "longitudeOfLastGridPointInDegrees": 10.0 + 0.25 * (nx - 1),
        "iDirectionIncrementInDegrees": 0.25,
        "jDirectionIncrementInDegrees": 0.25,
    }
    return replace(GRIDS["gfs-small"], nx=nx, ny=ny, keys=known | keys)


def field_of(grid: GridSpec, **options: Any) -> Field:
    (field,) = fields(make_message(grid, "2t", packing="grid_simple", **options), "f")
    return field


def eccodes_axes(field: Field) -> tuple[Any, Any]:
    """The latitudes south to north and the longitudes, as ecCodes reads them."""
    handle = eccodes.codes_new_from_message(field.message())
    lat, lon = (np.unique(eccodes.codes_get_array(handle, key)) for key in ("latitudes", "longitudes"))
    eccodes.codes_release(handle)
    return lat, lon


@pytest.mark.parametrize("edition", [1, 2])
def test_first_point_and_increment_win_where_the_last_latitude_was_not_rewritten(edition: int) -> None:
    field = field_of(spec(40, 320, latitudeOfLastGridPointInDegrees=-40.0), edition=edition)
    assert field.grid.y[-1] == 40.0
    assert field.grid.y[0] == pytest.approx(-39.75)
    # ecCodes too counts rows by the increment, and then writes the stated latitude over the last one.
    theirs, _ = eccodes_axes(field)
    assert np.abs(field.grid.y[1:] - theirs[1:]).max() < 1e-9
    (note,) = field.grid_notes
    assert "last latitude (-40°) is 1 cell away" in note


def test_first_point_and_increment_win_where_the_last_longitude_was_not_rewritten() -> None:
    field = field_of(spec(41, 30, longitudeOfLastGridPointInDegrees=50.0))
    assert field.grid.x[-1] == pytest.approx(20.0)
    assert "120 cells away" in field.grid_notes[0]


def test_rows_that_run_north_are_counted_from_the_south() -> None:
    keys = {"latitudeOfFirstGridPointInDegrees": -40.0, "latitudeOfLastGridPointInDegrees": 40.0}
    field = field_of(replace(spec(40, 320, **keys), scanning=64))
    assert field.grid.y[0] == -40.0
    assert field.grid.y[-1] == pytest.approx(39.75)


def test_a_circle_that_ends_on_its_first_meridian_again_has_one_column_less() -> None:
    last = {"longitudeOfFirstGridPointInDegrees": 0.0, "longitudeOfLastGridPointInDegrees": 360.0}
    field = field_of(spec(1440, 3, **last))
    assert field.grid.wraps
    assert field.grid.x[1] - field.grid.x[0] == pytest.approx(0.25)
    assert len(field.grid_notes) == 1


@pytest.mark.parametrize(
    ("edition", "nx", "step"), [(1, 1080, 1 / 3), (1, 1000, 1 / 3), (2, 1080, 1 / 3), (1, 2160, 1 / 6), (2, 301, 1 / 6)]
)
def test_rounded_increments_are_not_a_contradiction(edition: int, nx: int, step: float) -> None:
    keys = {
        "longitudeOfFirstGridPointInDegrees": 0.0,
        "longitudeOfLastGridPointInDegrees": (nx - 1) * step,
        "iDirectionIncrementInDegrees": step,
    }
    field = field_of(spec(nx, 3, **keys), edition=edition)
    assert field.grid_notes == ()
    assert field.grid.x[1] - field.grid.x[0] == pytest.approx(step, rel=1e-5)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        # Neither whole cells nor rounding.
        ({"latitudeOfLastGridPointInDegrees": -12.4}, "latitude increment is 0.25°, but first and last points give"),
        # A part of a cell, but more than rounding explains.
        ({"latitudeOfLastGridPointInDegrees": 34.9}, "latitude increment is 0.25°, but first and last points give"),
        ({"jDirectionIncrementInDegrees": 0.0}, "latitude increment is 0°"),
        # Rows to the south that run to the north.
        ({"latitudeOfLastGridPointInDegrees": 60.0}, "its rows should run south"),
        # The increment would lead beyond the pole.
        ({"latitudeOfLastGridPointInDegrees": -30.0, "jDirectionIncrementInDegrees": 10.0}, "its grid is not valid"),
    ],
)
def test_contradictions_that_cannot_be_settled_are_refused(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(GribError, match=words):
        field_of(spec(40, 21, **keys)).grid  # noqa: B018


def test_a_gaussian_grid_is_counted_from_its_first_row() -> None:
    handle = eccodes.codes_grib_new_from_samples("regular_gg_pl_grib2")
    eccodes.codes_set(handle, "Nj", 20)
    eccodes.codes_set_values(handle, np.zeros(20 * eccodes.codes_get(handle, "Ni")))
    message = bytes(eccodes.codes_get_message(handle))
    eccodes.codes_release(handle)
    (field,) = fields(message, "f")
    assert field.grid.y[-1] == pytest.approx(87.8638, abs=1e-4)
    assert len(field.grid.y) == 20
    assert field.grid.y[0] > 0
    assert "contradicts its first one" in field.grid_notes[0]


def test_a_grid_with_a_row_at_the_pole_out_of_step_is_refused() -> None:
    # ECMWF's archive adds the pole to rows that do not end there: 90, 83, … -78, -85, -90.
    rows = {
        "latitudeOfFirstGridPointInDegrees": 90.0,
        "latitudeOfLastGridPointInDegrees": -90.0,
        "jDirectionIncrementInDegrees": 7.0,
    }
    field = field_of(spec(40, 27, **rows), edition=1)
    assert list(eccodes_axes(field)[0][:3]) == [-90.0, -85.0, -78.0]
    with pytest.raises(GribError, match="increment is 7°, but first and last points give 6"):
        field.grid  # noqa: B018


def test_an_orientation_does_not_turn_a_mercator_grid_that_ends_where_an_upright_one_does() -> None:
    hawaii = GRIDS["nbm-hi-small"]
    field = field_of(replace(hawaii, keys=hawaii.keys | {"orientationOfTheGridInDegrees": 203.0}))
    handle = eccodes.codes_new_from_message(field.message())
    lat, lon = (eccodes.codes_get_array(handle, key).reshape(57, 63) for key in ("latitudes", "longitudes"))
    eccodes.codes_release(handle)
    rows, columns = np.indices((57, 63))
    ours = field.grid.latlon(rows, columns)
    assert np.abs(ours[0] - lat).max() < 1e-6
    assert np.abs((ours[1] - lon + 180) % 360 - 180).max() < 1e-6


def test_a_turned_mercator_grid_is_refused() -> None:
    hawaii = GRIDS["nbm-hi-small"]
    turned = {"orientationOfTheGridInDegrees": 20.0, "longitudeOfLastGridPointInDegrees": 206.0}
    with pytest.raises(GribError, match="a rotated Mercator grid is not supported"):
        field_of(replace(hawaii, keys=hawaii.keys | turned)).grid  # noqa: B018


def test_tile_records_which_values_were_used(tmp_path: Path) -> None:
    path = tmp_path / "x.grib2"
    path.write_bytes(make_message(spec(40, 320, latitudeOfLastGridPointInDegrees=-40.0), "2t"))
    (result,) = gribmill.cut(path, gribmill.Box(10, -45, 30, 45), tmp_path)
    assert "first point and increment were taken" in result.tiles[0].meta.notes[0]
    plain = tmp_path / "y.grib2"
    plain.write_bytes(make_message(spec(40, 320), "2t"))
    (result,) = gribmill.cut(plain, gribmill.Box(10, -45, 30, 45), tmp_path / "plain")
    assert result.tiles[0].meta.notes == ()
