"""Grid-relative winds become winds from the east and the north."""

from __future__ import annotations

import re
from typing import Any

import eccodes
import numpy as np
import pytest

from gribmill.grib.decode.field import Field, fields, read_fields
from gribmill.grib.decode.winds import is_component, pairs, partners
from gribmill.grib.product.keys import NCEP
from gribmill.sandbox.grib_writer.sections import multi_field
from tests.grib.decode.whole_winds import earth_relative, turn_of
from tests.make_grib import GRIDS, make_message, smooth_values
from tests.real_files import real

GRIB2_NAMES = ("discipline", "parameterCategory", "parameterNumber")


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
def test_winds_rotate_by_the_convergence_of_the_meridians(grid: str, cone: float, lov: float) -> None:
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


def test_earth_relative_winds_stay_unchanged() -> None:
    for grid, options in (("gfs-small", {}), ("hrrr-small", {"grid_relative": False})):
        u, v = wind(grid, **options)
        assert not u.grid_relative_winds
        east, north = earth_relative(u, v)
        assert np.array_equal(east, u.values())
        assert np.array_equal(north, v.values())


@pytest.mark.parametrize("grid", ["gfs-small", "nbm-hi-small"])
def test_axes_of_an_upright_grid_are_east_and_north_whatever_the_flag_says(grid: str) -> None:
    """So a single component is not lost, and a gap in one causes none in the other."""
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


def component(parameter: tuple[int, ...], **more: Any) -> bytes:
    """A message along the axes of a rotated grid: (discipline, category, number), or GRIB1's (table, number)."""
    grib1 = len(parameter) == 2
    names = ("table2Version", "indicatorOfParameter") if grib1 else GRIB2_NAMES
    return make_message(
        "rrfs-na-small", "u" if grib1 else "10u", packing="grid_simple", edition=1 if grib1 else 2,
        keys={**more, **dict(zip(names, parameter, strict=True))},
    )  # fmt: skip


def found_pairs(*messages: bytes) -> list[tuple[str, str]]:
    return [(u.label, v.label) for u, v in pairs(list(fields(b"".join(messages), "f")))]


@pytest.mark.parametrize(
    ("u", "v"),
    [
        ((10, 1, 2), (10, 1, 3)), ((10, 2, 4), (10, 2, 5)), ((0, 2, 23), (0, 2, 24)), ((0, 3, 16), (0, 3, 17)),
        ((0, 2, 38), (0, 2, 37)), ((0, 2, 62), (0, 2, 63)), ((0, 1, 150), (0, 1, 151)), ((10, 4, 43), (10, 4, 42)),
        ((0, 2, 194), (0, 2, 195)), ((0, 2, 210), (0, 2, 211)), ((10, 1, 192), (10, 1, 193)),
        ((10, 1, 194), (10, 1, 195)), ((2, 33), (2, 34)), ((2, 45), (2, 46)), ((2, 124), (2, 125)),
        ((2, 147), (2, 148)), ((2, 196), (2, 197)), ((2, 247), (2, 248)),
    ],
)  # fmt: skip
def test_every_vector_is_rotated(u: tuple[int, ...], v: tuple[int, ...]) -> None:
    ((one, other),) = pairs(list(fields(component(v) + component(u), "f")))
    assert (one.keys.parameter, other.keys.parameter) == (u, v)
    assert one.grid_relative_winds
    east, _ = earth_relative(one, other)
    assert np.abs(east - one.values()).max() > 0.1


@pytest.mark.parametrize(
    "u", [(0, 2, 0), (0, 2, 50), (0, 2, 198), (0, 3, 202), (10, 1, 5), (10, 3, 16), (2, 31), (2, 181)]
)
def test_fields_that_are_not_vectors_are_not_rotated(u: tuple[int, ...]) -> None:
    """Directions, positions, covariances, quantities that are eastward by definition, and gradients along x."""
    both = component(u) + component((*u[:-1], u[-1] + 1))
    assert not any(is_component(field.keys) for field in fields(both, "f"))


def test_a_centres_own_numbers_are_vectors_of_that_centre_alone() -> None:
    storm = [component((0, 2, number), centre="edzw") for number in (194, 195)]
    assert not found_pairs(*storm)
    assert not found_pairs(*(component((128, number), centre="kwbc") for number in (131, 132)))
    assert found_pairs(*(component((128, number), centre="ecmf") for number in (131, 132))) == [("1", "2")]


def test_names_of_vectors_in_eccodes_say_which_is_u() -> None:
    """Wherever ecCodes names a pair, the names differ only in u and v, eastward and northward, and the like."""
    words = {"u": "v", "eastward": "northward", "zonal": "meridional", "zonally": "meridionally", "east": "north"}
    handle = eccodes.codes_grib_new_from_samples("GRIB2")
    eccodes.codes_set(handle, "centre", "kwbc")
    try:
        for u, v in partners(NCEP).items():
            if len(u) == 3:
                first, second = (name_in_eccodes(handle, parameter) for parameter in (u, v))
                swapped = [words.get(word, word) for word in first]
                assert swapped == second, (u, first, second)
                assert first != second or first == ["unknown"], u
    finally:
        eccodes.codes_release(handle)


def name_in_eccodes(handle: int, parameter: tuple[int, ...]) -> list[str]:
    for key, number in zip(GRIB2_NAMES, parameter, strict=True):
        eccodes.codes_set(handle, key, number)
    return re.findall(r"[a-z0-9]+", str(eccodes.codes_get(handle, "name")).lower())


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


ONE_OF_TWO = {"selector": (42, "constituentType"), "member": (1, "perturbationNumber")}


@pytest.mark.parametrize(("template", "key"), ONE_OF_TWO.values(), ids=ONE_OF_TWO)
def test_pairs_are_of_one_constituent_and_one_member(template: int, key: str) -> None:
    def one(number: int, part: int) -> bytes:
        return component((0, 2, number), productDefinitionTemplateNumber=template, **{key: part})

    assert found_pairs(one(2, 1), one(3, 2), one(2, 2), one(3, 1)) == [("1", "4"), ("3", "2")]
    assert not found_pairs(one(2, 1), one(3, 2))


@pytest.mark.parametrize(
    "keys",
    [
        {"productDefinitionTemplateNumber": 5, "probabilityType": 1},
        {"productDefinitionTemplateNumber": 6, "percentileValue": 90},
        {"productDefinitionTemplateNumber": 2, "derivedForecast": 4},
        {"productDefinitionTemplateNumber": 2, "derivedForecast": 9},
    ],
    ids=["chance", "percentile", "spread", "maximum"],
)
def test_probabilities_percentiles_and_spreads_are_not_vectors(keys: dict[str, int]) -> None:
    both = [component((0, 2, number), **keys) for number in (2, 3)]
    assert not found_pairs(*both)
    assert all(is_component(field.keys) for field in fields(b"".join(both), "f"))


def test_a_component_alone_has_no_pair() -> None:
    for component in wind("hrrr-small"):
        assert is_component(component.keys)
        assert not pairs([component])


def test_hrrr_winds_rotate_by_the_angles_of_noaa() -> None:
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
