"""gribberish: each message decoded once, slices, savez_compressed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gribberish
import numpy as np
from inside import planes, rectangle
from stopwatch import Boxes, main


def coordinates(facts: Any, shape: tuple[int, int]) -> tuple[Any, Any]:
    lat, lon = (np.asarray(axis) for axis in facts.latlng())
    return (lat.reshape(shape), lon.reshape(shape)) if lat.size == shape[0] * shape[1] else planes(lat, lon)


def work(path: Path, boxes: Boxes, out: Path) -> None:
    data = path.read_bytes()
    arrays: dict[str, Any] = {}
    lat: Any = None
    lon: Any = None
    for key, entry in gribberish.parse_grib_mapping(data).items():
        offset, facts = entry[1], entry[2]
        shape = facts.grid_shape
        if lat is None:
            lat, lon = coordinates(facts, shape)
        name = key.split(":")[0] + "_" + str(len(arrays)) if key.split(":")[0] in arrays else key.split(":")[0]
        arrays[name] = gribberish.parse_grib_array(data, offset).reshape(shape).astype(np.float32)
    for name, box in boxes.items():
        cut = rectangle(lat, lon, box)
        parts = {key: array[cut] for key, array in arrays.items()}
        np.savez_compressed(out / f"{name}.npz", lat=lat[cut], lon=lon[cut], **parts)


main(work, "TMP")
