"""The arrays of tiles: float32 fields, and the packed integers of the same fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.hours import Hour, real_hours, tile_hours
from benchmarks.regions import EIGHT
from gribmill.grib.decode.field import read_fields
from gribmill.regions.region import load_regions
from gribmill.regions.window import window
from gribmill.tiles.format.requantize import requantize

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class TileArrays:
    """All arrays of one file's tiles."""

    floats: list[Array]
    integers: list[Array]  # of the fields that can be restored bit for bit


def hours() -> list[Hour]:
    """Real files if available, otherwise generated ones."""
    return real_hours() or tile_hours()


def tile_arrays(hour: Hour) -> TileArrays:
    """Every field of the file, cut for eight regions."""
    regions = load_regions()
    found = TileArrays([], [])
    for field in read_fields(hour.path):
        windows = [window(field.grid, regions[name].box) for name in EIGHT]
        for values in field.cut([one for one in windows if one is not None]):
            found.floats.append(values)
            packed = requantize(values, field.packing)
            if packed is not None:
                found.integers.append(packed[0])
    return found
