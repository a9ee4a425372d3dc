"""ecCodes by hand: each message decoded once, slices, savez_compressed; coordinates are computed and saved once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import eccodes
import numpy as np
from inside import rectangle
from stopwatch import Boxes, main

Save = Callable[..., None]
cuts: dict[str, tuple[slice, slice]] = {}


def decoded(path: Path) -> dict[str, Any]:
    """Every message as float32 rows, under ecCodes' short name."""
    arrays: dict[str, Any] = {}
    with path.open("rb") as file:
        while (handle := eccodes.codes_grib_new_from_file(file)) is not None:
            shape = eccodes.codes_get(handle, "Nj"), eccodes.codes_get(handle, "Ni")
            name = eccodes.codes_get(handle, "shortName")
            key = name if name not in arrays else f"{name}_{len(arrays)}"
            arrays[key] = eccodes.codes_get_values(handle).reshape(shape).astype(np.float32)
            eccodes.codes_release(handle)
    return arrays


def cut_all(path: Path, boxes: Boxes, out: Path, save: Save) -> None:
    """A tile per region; the first time, also a file with latitudes and longitudes."""
    if not cuts:
        save_grids(path, boxes, out, save)
    arrays = decoded(path)
    for name in boxes:
        save(out / f"{name}.npz", **{key: array[cuts[name]] for key, array in arrays.items()})


def save_grids(path: Path, boxes: Boxes, out: Path, save: Save) -> None:
    with path.open("rb") as file:
        handle = eccodes.codes_grib_new_from_file(file)
        shape = eccodes.codes_get(handle, "Nj"), eccodes.codes_get(handle, "Ni")
        lat = eccodes.codes_get_array(handle, "latitudes").reshape(shape)
        lon = eccodes.codes_get_array(handle, "longitudes").reshape(shape)
        eccodes.codes_release(handle)
    for name, box in boxes.items():
        cuts[name] = rectangle(lat, lon, box)
        save(out / f"grid-{name}.npz", lat=lat[cuts[name]], lon=lon[cuts[name]])


def work(path: Path, boxes: Boxes, out: Path) -> None:
    cut_all(path, boxes, out, np.savez_compressed)


if __name__ == "__main__":
    main(work, "2t")
