"""cfgrib once, then slices of the loaded arrays, savez_compressed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cfgrib
import numpy as np
from inside import planes, rectangle
from stopwatch import Boxes, main


def work(path: Path, boxes: Boxes, out: Path) -> None:
    arrays: dict[str, Any] = {}
    for dataset in cfgrib.open_datasets(str(path), backend_kwargs={"indexpath": ""}):
        arrays |= {key: dataset[key].values for key in dataset.data_vars}
        lat, lon = planes(dataset.latitude.values, dataset.longitude.values)
    for name, box in boxes.items():
        cut = rectangle(lat, lon, box)
        parts = {key: array[cut] for key, array in arrays.items()}
        np.savez_compressed(out / f"{name}.npz", lat=lat[cut], lon=lon[cut], **parts)


main(work, "t2m")
