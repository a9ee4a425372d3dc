"""Grid-relative winds become winds from the east and the north."""

from __future__ import annotations

from typing import Any

import eccodes
import numpy as np
import pytest

from gribmill.tiles.grib.field import Field, fields, read_fields
from gribmill.tiles.grib.winds import is_component, pairs
from tests.grib.whole_winds import earth_relative, turn_of
from tests.make_grib import GRIDS, make_message, multi_field, smooth_values
from tests.real_files import real


def wind(grid: str, **options: Any) -> tuple[Field, Field]:
    shape = GRIDS[grid].shape
    made = [
        make_message(grid, name, smooth_values(shape, seed=seed, mean=4), packing="grid_simple", bits=24, **options)
        for seed, name in enumerate(("10u", "10v"))
    ]
    u, v = fields(b"".join(made), "f")
    return u, v


def longitudes(field: Field) -> Any:
    handle = eccodes.codes_new_from_message(field.message())
    try:
        assert field.layout is not None
        return eccodes.codes_get_array(handle, "longitudes").reshape(field.layout.ny, field.layout.nx)
    finally:
        eccodes.codes_release(handle)


@pytest.mark.parametrize(
    ("grid", "cone", "lov"),
    [("hrrr-ne", np.sin(np.radians(38.5)), 262.5), ("rap", np.sin(np.radians(25)), 265), ("hrrr-ak-small", 1.0, 225)],
)
def test_winds_turn_by_the_convergence_of_the_meridians(grid: str, cone: float, lov: float) -> None:
    """The angle is n·(lon - LoV); longitudes here are ecCodes' own."""
    u, v = wind(grid)
    angle = np.radians(cone * ((longitudes(u) - lov + 180) % 360 - 180))
    a, b = u.values().astype(np.float64), v.values().astype(np.float64)
    east, north = earth_relative(u, v)
    assert np.abs(east - (a * np.cos(angle) + b * np.sin(angle))).max() < 2e-6
    assert np.abs(north - (b * np.cos(angle) - a * np.sin(angle))).max() < 2e-6
    assert east.dtype == north.dtype == np.float32


def test_speed_does_not_change() -> None:
    u, v = wind("rrfs-na-small")
    east, north = earth_relative(u, v)
    assert np.abs(np.hypot(east, north) - np.hypot(u.values(), v.values())).max() < 5e-6
    assert np.abs(east - u.values()).max() > 0.1


def test_winds_that_are_earth_relative_already_stay_as_they_are() -> None:
    for grid, options in (("gfs-small", {}), ("hrrr-small", {"grid_relative": False})):
        u, v = wind(grid, **options)
        assert not u.grid_relative_winds
        east, north = earth_relative(u, v)
        assert np.array_equal(east, u.values())
        assert np.array_equal(north, v.values())


@pytest.mark.parametrize("grid", ["gfs-small", "nbm-hi-small"])
def test_axes_of_an_upright_grid_are_east_and_north_whatever_the_flag_says(grid: str) -> None:
    """So a lone component is not lost, and a gap in one makes none in the other."""
    u, v = wind(grid, grid_relative=True)
    assert eccodes_flag(u) == 1
    assert not u.grid_relative_winds
    assert np.array_equal(earth_relative(u, v)[0], u.values())


def eccodes_flag(field: Field) -> int:
    handle = eccodes.codes_new_from_message(field.message())
    try:
        return int(eccodes.codes_get(handle, "uvRelativeToGrid"))
    finally:
        eccodes.codes_release(handle)


@pytest.mark.parametrize(("discipline", "category", "first"), [(10, 1, 2), (10, 2, 4), (0, 2, 23)])
def test_currents_ice_drift_and_gusts_are_turned_as_well(discipline: int, category: int, first: int) -> None:
    def drift(number: int) -> bytes:
        made = make_message("hrrr-ak-small", "10u", smooth_values(GRIDS["hrrr-ak-small"].shape), packing="grid_simple")
        handle = eccodes.codes_new_from_message(made)
        try:
            keys = {"discipline": discipline, "parameterCategory": category, "parameterNumber": number}
            for key, value in keys.items():
                eccodes.codes_set(handle, key, value)
            return bytes(eccodes.codes_get_message(handle))
        finally:
            eccodes.codes_release(handle)

    ((u, v),) = pairs(list(fields(drift(first) + drift(first + 1), "f")))
    east, _ = earth_relative(u, v)
    assert np.abs(east - u.values()).max() > 0.1


def test_a_missing_component_makes_both_missing() -> None:
    shape = GRIDS["hrrr-small"].shape
    holed = smooth_values(shape)
    holed[4, 5] = np.nan
    made = [make_message("hrrr-small", "10u", holed), make_message("hrrr-small", "10v", smooth_values(shape))]
    east, north = earth_relative(*fields(b"".join(made), "f"))
    assert np.argwhere(np.isnan(east)).tolist() == np.argwhere(np.isnan(north)).tolist() == [[4, 5]]


def test_pairs_join_u_and_v_of_one_level_and_time() -> None:
    def one(name: str, **options: Any) -> bytes:
        return make_message("hrrr-small", name, 1.0, packing="grid_simple", **options)

    messages = [
        one("10v", step=2), one("2t"), one("10u"), one("100u"), one("10u", step=2), one("10v"), one("100v"),
    ]  # fmt: skip
    found = pairs(list(fields(b"".join(messages), "f")))
    assert [(u.label, v.label) for u, v in found] == [("3", "6"), ("4", "7"), ("5", "1")]


def test_pairs_within_one_message() -> None:
    both = multi_field([make_message(short_name=name, values=1.0, packing="grid_simple") for name in ("10u", "10v")])
    ((u, v),) = pairs(list(fields(both, "f")))
    assert (u.label, v.label) == ("1.1", "1.2")


def test_a_component_alone_has_no_pair() -> None:
    for component in wind("hrrr-small"):
        assert is_component(component.keys)
        assert not pairs([component])


def test_hrrr_winds_turn_as_far_as_noaa_says() -> None:
    """A real HRRR grid: minus 12.8 degrees in Los Angeles, plus 14.7 in New York, up to 22.8 in the corners."""
    (u,) = read_fields(real("noaa/hrrr.20230722.t06z.wrfsfcf01.UGRD-10m.grid_simple.grib2"))
    assert u.grid_relative_winds
    cosine, sine = turn_of(u.grid)
    angle = np.degrees(np.arctan2(sine, cosine))

    def at(lat: float, lon: float) -> float:
        j, i = u.grid.index(lat, lon)
        return float(angle[round(float(j)), round(float(i))])

    assert at(34.05, -118.24) == pytest.approx(-12.9, abs=0.15)
    assert at(40.71, -74.01) == pytest.approx(14.6, abs=0.15)
    assert np.abs(angle).max() == pytest.approx(22.8, abs=0.1)
