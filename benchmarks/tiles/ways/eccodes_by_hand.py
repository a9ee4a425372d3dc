"""ecCodes by hand: each message decoded once, slices, savez_compressed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import eccodes
import numpy as np
from inside import rectangle
from stopwatch import Boxes, main


def decoded(path: Path) -> tuple[dict[str, Any], Any, Any]:
    """Every message as float32 rows, under ecCodes' short name; latitudes and longitudes of the first."""
    arrays: dict[str, Any] = {}
    lat = lon = None
    with path.open("rb") as file:
        while (handle := eccodes.codes_grib_new_from_file(file)) is not None:
            shape = eccodes.codes_get(handle, "Ny"), eccodes.codes_get(handle, "Nx")
            if lat is None:
                lat = eccodes.codes_get_array(handle, "latitudes").reshape(shape)
                lon = eccodes.codes_get_array(handle, "longitudes").reshape(shape)
            name = eccodes.codes_get(handle, "shortName")
            key = name if name not in arrays else f"{name}_{len(arrays)}"
            arrays[key] = eccodes.codes_get_values(handle).reshape(shape).astype(np.float32)
            eccodes.codes_release(handle)
    return arrays, lat, lon


def work(path: Path, boxes: Boxes, out: Path) -> None:
    arrays, lat, lon = decoded(path)
    for name, box in boxes.items():
        cut = rectangle(lat, lon, box)
        parts = {key: array[cut] for key, array in arrays.items()}
        np.savez_compressed(out / f"{name}.npz", lat=lat[cut], lon=lon[cut], **parts)


if __name__ == "__main__":
    main(work, "2t")
