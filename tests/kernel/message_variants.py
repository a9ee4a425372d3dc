"""Messages of every kind that the kernel covers: packings, widths, bitmaps, scanning modes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gribmill.sandbox.grib_writer.grib_message import Missing
from gribmill.sandbox.grib_writer.sections import multi_field
from tests.make_grib import GRIDS, GridSpec, make_message, smooth_values

COMPLEX = ("grid_complex", "grid_complex_spatial_differencing")
COVERED = ("grid_simple", *COMPLEX, "grid_ccsds")
SCANNING_MODES = range(0x00, 0x100, 0x10)

TINY = replace(GRIDS["gfs-small"], nx=23, ny=11, keys=GRIDS["gfs-small"].keys | {
    "latitudeOfFirstGridPointInDegrees": 20, "latitudeOfLastGridPointInDegrees": -5,
    "longitudeOfLastGridPointInDegrees": 55})  # fmt: skip


def fields_of_values(shape: tuple[int, int]) -> dict[str, NDArray[Any]]:
    """By kind: smooth, with a hole, mostly zero, steps, noise, with some holes, all missing but one value."""
    smooth = smooth_values(shape)
    holed = smooth.copy()
    holed[shape[0] // 4 : shape[0] // 2, shape[1] // 5 : shape[1] // 2] = np.nan
    chance = np.random.default_rng(7)
    showers = np.where(chance.random(shape) < 0.1, chance.gamma(1.0, 8.0, shape), 0.0)
    steps = np.where(smooth > 285, 1.0, 0.0)
    pinholes = np.where(chance.random(shape) < 0.02, np.nan, smooth)
    lonely = np.full(shape, np.nan)
    lonely[shape[0] // 2, shape[1] // 3] = 271.25
    noise = chance.normal(0, 1000, shape)
    return {"smooth": smooth, "holed": holed, "showers": showers, "steps": steps, "noise": noise,
            "pinholes": pinholes, "lonely": lonely}  # fmt: skip


def packings(spec: GridSpec | str, values: NDArray[Any], **extra: Any) -> dict[str, bytes]:
    """The values in each covered packing: two widths, both orders of differencing, both ways to mark missing values."""
    made: dict[str, bytes] = {}
    for packing, bits in product(COVERED, (11, 20)):
        orders = (1, 2) if packing.endswith("differencing") else (2,)
        ways: tuple[Missing, ...] = ("bitmap",)
        if packing in COMPLEX and np.isnan(values).any():
            ways = ("bitmap", "management")
        for order, missing in product(orders, ways):
            name = f"{packing}-{bits}-order{order}-{missing}"
            made[name] = make_message(spec, values=values, packing=packing, bits=bits, order=order,
                                      missing=missing, **extra)  # fmt: skip
    return made


@cache
def small_messages() -> dict[str, bytes]:
    """A few hundred bytes each, so that damage can be tried at every byte."""
    made: dict[str, bytes] = {}
    for kind, values in fields_of_values(TINY.shape).items():
        made |= {f"{kind}-{name}": message for name, message in packings(TINY, values).items()}
    for packing in COVERED:
        made[f"constant-{packing}"] = make_message(TINY, values=273.0, packing=packing)
        made[f"zero-{packing}"] = make_message(TINY, values=0.0, packing=packing)
        made[f"columns-{packing}"] = make_message(TINY, packing=packing, scanning=0x20)
        made[f"alternating-columns-{packing}"] = make_message(
            TINY, values=fields_of_values(TINY.shape)["holed"], packing=packing, scanning=0xF0)  # fmt: skip
    pair = [make_message(TINY, name, values=fields_of_values(TINY.shape)["holed"]) for name in ("10u", "10v")]
    made["two-fields-one-bitmap"] = multi_field(pair, reuse_bitmap=True)
    return made
