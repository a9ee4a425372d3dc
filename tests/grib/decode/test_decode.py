"""Decoded values: every packing, every kind of missing value, every scanning mode."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import eccodes
import numpy as np
import pytest

from gribmill.grib.decode.field import Field, fields
from gribmill.grib.errors import GribError
from gribmill.grib.grid.rows import ScanLayout
from gribmill.sandbox.grib_writer.sections import message, section, split_sections
from tests.make_grib import GRIDS, PACKINGS1, PACKINGS2, make_message, smooth_values

SHAPE = GRIDS["hrrr-small"].shape
VALUES = smooth_values(SHAPE, mean=285)
HOLED = np.where(np.random.default_rng(3).random(SHAPE) < 0.3, np.nan, VALUES)
COMPLEX = ("grid_complex", "grid_complex_spatial_differencing")


def only(message: bytes) -> Field:
    (field,) = fields(message, "f")
    return field


def check(field: Field, wanted: Any) -> None:
    """Missing exactly where wanted, elsewhere within half a packing step (and a float32's rounding)."""
    values = field.values()
    assert values.dtype == np.float32
    assert values.flags.c_contiguous
    assert np.array_equal(np.isnan(values), np.isnan(wanted))
    step = field.packing.step or 0
    there = ~np.isnan(wanted)
    assert np.abs(values[there] - wanted[there]).max() <= step * 0.5001 + 2e-5


@pytest.mark.parametrize("packing", PACKINGS2)
@pytest.mark.parametrize("wanted", [VALUES, HOLED], ids=["whole", "with a bitmap"])
def test_every_grib2_packing_is_decoded(packing: str, wanted: Any) -> None:
    check(only(make_message(values=wanted, packing=packing)), wanted)


@pytest.mark.parametrize(("edition", "packing"), [(2, packing) for packing in PACKINGS2] + [(1, "grid_simple")])
def test_a_field_without_a_single_value_is_missing_everywhere(edition: int, packing: str) -> None:
    """Like swell in an ice-covered sea. The message has no packed values or image."""
    nothing = np.full(GRIDS["gfs-small"].shape, np.nan)
    field = only(make_message("gfs-small", values=nothing, packing=packing, edition=edition))
    assert np.isnan(field.values()).all()


@pytest.mark.parametrize("packing", PACKINGS1)
@pytest.mark.parametrize("missing", [False, True], ids=["whole", "with a bitmap"])
def test_every_grib1_packing_is_decoded(packing: str, missing: bool) -> None:
    wanted = smooth_values(GRIDS["gfs-small"].shape)
    if missing:
        wanted[20:40, 60:100] = np.nan
    check(only(make_message("gfs-small", values=wanted, packing=packing, edition=1)), wanted)


@pytest.mark.parametrize("packing", COMPLEX)
@pytest.mark.parametrize("order", [1, 2])
def test_missing_value_management_without_a_bitmap_is_decoded(packing: str, order: int) -> None:
    field = only(make_message(values=HOLED, packing=packing, order=order, missing="management"))
    assert not field.packing.bitmap
    check(field, HOLED)


@pytest.mark.parametrize("bits", [1, 7, 8, 13, 24])
@pytest.mark.parametrize("packing", ["grid_simple", "grid_ccsds", *COMPLEX])
def test_values_of_any_bit_width_are_decoded(packing: str, bits: int) -> None:
    check(only(make_message(values=HOLED, packing=packing, bits=bits)), HOLED)


@pytest.mark.parametrize("packing", [name for name in PACKINGS2 if name != "grid_png"])
@pytest.mark.parametrize("value", [0.0, 273.15, -40.0])
def test_constant_fields_are_decoded(packing: str, value: float) -> None:
    values = only(make_message(values=value, packing=packing)).values()
    assert values.shape == SHAPE
    assert np.all(values == np.float32(value))


@pytest.mark.parametrize("packing", ["grid_simple", "grid_ccsds"])
def test_a_constant_field_with_missing_points_is_decoded(packing: str) -> None:
    wanted = np.where(np.isnan(HOLED), np.nan, 5.0)
    field = only(make_message(values=wanted, packing=packing))
    assert field.packing.bits == 0
    check(field, wanted)


@pytest.mark.parametrize("packing", ["grid_simple", "grid_ccsds", "grid_ieee", *COMPLEX])
def test_a_field_with_only_missing_points_is_decoded(packing: str) -> None:
    assert np.isnan(only(make_message(values=np.nan, packing=packing)).values()).all()


@pytest.mark.parametrize("local", [b"", b"\1", b"\0\1", bytes(range(256))], ids=len)
def test_a_local_section_of_any_content_does_not_matter(local: bytes) -> None:
    plain = make_message(values=HOLED, packing="grid_ieee")
    (first, *others) = (part for _, part in split_sections(plain))
    check(only(message([first, section(2, local), *others], discipline=plain[6])), HOLED)


def test_a_value_of_9999_is_not_missing() -> None:
    """9999 is ecCodes' default substitute for missing values."""
    wanted = np.full(SHAPE, 9999.0)
    wanted[0, 0], wanted[3:5] = 0.0, np.nan
    check(only(make_message(values=wanted, packing="grid_ieee")), wanted)


def test_a_value_is_ecmwfs_double_cast_to_single() -> None:
    message = make_message(values=VALUES, packing="grid_complex_spatial_differencing", bits=20)
    handle = eccodes.codes_new_from_message(message)
    doubles = eccodes.codes_get_values(handle).reshape(SHAPE)
    eccodes.codes_release(handle)
    assert np.array_equal(only(message).values(), doubles.astype(np.float32))


@pytest.mark.parametrize("mode", range(0, 256, 16))
@pytest.mark.parametrize("grid", ["gfs-small", "rrfs-na-small"])
def test_every_scanning_mode_comes_out_south_to_north_and_west_to_east(grid: str, mode: int) -> None:
    wanted = smooth_values(GRIDS[grid].shape)
    wanted[5, 7:11] = np.nan
    plain = only(make_message(grid, values=wanted, packing="grid_simple"))
    field = only(make_message(grid, values=wanted, packing="grid_simple", scanning=mode))
    assert field.layout is not None
    assert field.layout.scanning == mode
    assert np.array_equal(field.values(), plain.values(), equal_nan=True)
    assert field.grid == plain.grid


@pytest.mark.parametrize(("mode", "corner"), [(0, "nw"), (64, "sw"), (128, "ne"), (192, "se")])
def test_a_projected_grid_is_placed_by_whichever_corner_comes_first(mode: int, corner: str) -> None:
    spec = GRIDS["hrrr-small"]
    plain = only(make_message(spec, values=VALUES)).grid
    row = 0 if corner.startswith("s") else spec.ny - 1
    column = 0 if corner.endswith("w") else spec.nx - 1
    lat, lon = (float(angle) for angle in plain.latlon(row, column))
    keys = spec.keys | {"latitudeOfFirstGridPointInDegrees": lat, "longitudeOfFirstGridPointInDegrees": lon % 360}
    grid = only(make_message(replace(spec, keys=keys, scanning=mode), values=VALUES)).grid
    # GRIB2 has corners in millionths of a degree: a tenth of a metre.
    assert np.abs(grid.x - plain.x).max() < 0.2
    assert np.abs(grid.y - plain.y).max() < 0.2


@pytest.mark.parametrize("shape", [10, 255])
def test_degrees_need_no_earth_and_metres_do(shape: int) -> None:
    known = only(make_message("gfs-small", packing="grid_simple", keys={"shapeOfTheEarth": 6}))
    untold = only(make_message("gfs-small", packing="grid_simple", keys={"shapeOfTheEarth": shape}))
    assert untold.grid == known.grid
    with pytest.raises(GribError, match=rf"its shape of the Earth \({shape}\) is unknown or lacks its axes"):
        _ = only(make_message("hrrr-small", packing="grid_simple", keys={"shapeOfTheEarth": shape})).grid


def test_staggered_rows_are_refused() -> None:
    with pytest.raises(Exception, match="staggered"):
        ScanLayout(2, 3, 0x48).normalise(np.zeros(6))


def test_values_beyond_single_precision_become_infinite_without_a_warning() -> None:
    assert np.isinf(ScanLayout(1, 2, 64).normalise(np.array([1e300, 1.0]))[0, 0])
