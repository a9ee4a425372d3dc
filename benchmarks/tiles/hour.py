"""The file that is cut: twelve messages like those of one HRRR hour, on its true grid, made once."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tests import make_grib

# A bulletin's usual fields, packed as NCEP packs them: complex with spatial differencing, 10 m winds simple.
ENTIRE_ATMOSPHERE = {"typeOfFirstFixedSurface": 10}
SUM_OF_THE_HOUR = {"productDefinitionTemplateNumber": 8, "typeOfStatisticalProcessing": 1, "stepRange": "0-1"}
FIELDS: tuple[tuple[str, float, float, dict[str, Any]], ...] = (
    ("2t", 285, 20, {"decimal": 2}),
    ("2d", 278, 15, {"decimal": 1}),
    ("10u", 2, 10, {"decimal": 2, "packing": "grid_simple"}),
    ("10v", -1, 10, {"decimal": 2, "packing": "grid_simple"}),
    ("gust", 8, 10, {"decimal": 1}),
    ("sp", 98000, 3000, {"decimal": -1}),
    ("tp", 0, 8, {"decimal": 3, "keys": SUM_OF_THE_HOUR}),
    ("refc", 5, 40, {"decimal": 1, "keys": ENTIRE_ATMOSPHERE}),
    ("vis", 20000, 9000, {"decimal": -2}),
    ("cape", 200, 900, {"decimal": 0}),
    ("tcc", 50, 60, {"decimal": 0, "keys": ENTIRE_ATMOSPHERE}),
    ("csnow", 0, 0, {"decimal": 0}),
)
NEVER_NEGATIVE = {"gust", "tp", "vis", "cape", "tcc"}


def hrrr_file() -> Path:
    """The file in the temporary folder, made if it is not there; its name tells the recipe it was made by."""
    recipe = hashlib.sha256(repr(FIELDS).encode() + Path(make_grib.__file__).read_bytes()).hexdigest()[:12]
    path = Path(tempfile.gettempdir()) / f"gribmill-bench-{os.getuid()}" / f"hrrr-12-{recipe}.grib2"
    if not path.is_file():
        sys.stderr.write("making the GRIB file …\n")
        part = path.with_suffix(".part")
        make_grib.write(part, [_message(number, *row) for number, row in enumerate(FIELDS)])
        part.replace(path)
    return path


def _message(seed: int, name: str, mean: float, span: float, options: dict[str, Any]) -> bytes:
    values = make_grib.smooth_values(make_grib.GRIDS["hrrr"].shape, seed=seed, mean=mean, span=span)
    if name in NEVER_NEGATIVE:
        values = np.maximum(values, 0)
    return make_grib.make_message("hrrr", name, values, step=1, **options)
