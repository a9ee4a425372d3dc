"""The usual way: for each region, open with cfgrib, `where(drop=True)`, savez_compressed."""

from __future__ import annotations

from pathlib import Path

import cfgrib
import numpy as np
from inside import mask
from stopwatch import Boxes, main


def work(path: Path, boxes: Boxes, out: Path) -> None:
    for name, box in boxes.items():
        arrays = {}
        for dataset in cfgrib.open_datasets(str(path), backend_kwargs={"indexpath": ""}):
            part = dataset.where(mask(dataset.latitude, dataset.longitude, box), drop=True)
            arrays |= {key: part[key].values for key in part.data_vars}
            arrays |= {"lat": part.latitude.values, "lon": part.longitude.values}
        np.savez_compressed(out / f"{name}.npz", **arrays)


main(work, "t2m")
