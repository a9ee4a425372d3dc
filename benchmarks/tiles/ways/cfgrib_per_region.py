"""Common practice: for each region, open with cfgrib, `where(drop=True)` or `sel`, savez_compressed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cfgrib
import numpy as np
from inside import part
from stopwatch import Boxes, main


def work(path: Path, boxes: Boxes, out: Path) -> None:
    for name, box in boxes.items():
        arrays: dict[str, Any] = {}
        for dataset in cfgrib.open_datasets(str(path), backend_kwargs={"indexpath": ""}):
            cut = part(dataset, box)
            arrays |= {key: cut[key].values for key in cut.data_vars}
            arrays |= {"lat": cut.latitude.values, "lon": cut.longitude.values}
        np.savez_compressed(out / f"{name}.npz", **arrays)


main(work, "t2m")
