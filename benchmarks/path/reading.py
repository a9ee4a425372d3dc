"""Reading 49 hours × 12 variables: the forecast at a place, and the run as one dataset."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.hours import at_hour, made
from gribmill.regions.region import load_regions
from gribmill.tiles.build.build import build
from gribmill.tiles.read.point.point import point
from gribmill.tiles.read.run_dataset import open_run

HOURS = 49


def measure(rounds: int) -> dict[str, Any]:
    """Median CPU milliseconds of each, on files in the page cache, in a process that just did the same."""
    with tempfile.TemporaryDirectory() as folder:
        _build_run(Path(folder))
        tiles = sorted(Path(folder).glob("tiles/**/[0-9]*.npz"))
        ways: dict[str, Callable[[], object]] = {
            "point": lambda: point(40.7, -74.0, data=folder),
            "open_run": lambda: open_run("hrrr", data=folder),
            "open_run, all of t2m": lambda: open_run("hrrr", data=folder).t2m.values,
            "np.load of each tile, all of t2m": lambda: [_load(path) for path in tiles],
        }
        spent: dict[str, list[float]] = {name: [] for name in ways}
        for name, way in ways.items():  # points first: a process that reads points has no xarray loaded
            for _ in range(rounds + 1):
                start = time.process_time()
                way()
                spent[name].append(time.process_time() - start)
        found = point(40.7, -74.0, data=folder)
    if len(found.steps) != HOURS:
        raise SystemExit(f"the run has {HOURS} hours, and `point` reads {len(found.steps)} of them")
    return {
        "hours": len(found.steps),
        "columns": len(found.columns),
        "cpu_ms": {name: round(1000 * statistics.median(times[1:]), 1) for name, times in spent.items()},
    }


def _build_run(folder: Path) -> None:
    region, grib = load_regions()["ne"], folder / "hour.grib2"
    for hour in range(HOURS):
        grib.write_bytes(at_hour(made("hrrr"), hour))
        build(grib, [region], folder, model="hrrr")


def _load(path: Path) -> Any:
    with np.load(path) as tile:
        return tile["t2m"]
