"""The cost of one point, array, tile or megabyte, from the results of the other benchmarks."""

from __future__ import annotations

import json
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.hours import made, real_hours
from benchmarks.regions import EIGHT
from gribmill.regions.box import Box
from gribmill.regions.grids import Grid
from gribmill.regions.grids.spec import named_grids
from gribmill.regions.region import load_regions
from gribmill.regions.window import window
from gribmill.tiles.build.build import build

MESSAGES = 12
# Stages of the whole job (path.json): paid per tile, and paid per array.
PER_TILE = (
    "claim and complete (SQLite, FULL)",
    "between the processes",
    "the worker's loop",
    "the handler around it, catalogue",
)
PER_ARRAY = ("names, statistics, meta", "encode: deflate, CRC-32", "write, fsync, rename", "turn winds")
# The file that represents each packing, and its grid.
PACKINGS = {"5.3": ("hrrr53", "hrrr"), "5.3, lat-lon": ("gfs", "gfs"), "CCSDS": ("ifs", "ifs")}


@dataclass(frozen=True, slots=True)
class Line:
    """A cost with a fixed part and a part per point."""

    start: float
    each: float

    def at(self, points: float) -> float:
        return self.start + self.each * points


@dataclass(frozen=True, slots=True)
class Rates:
    """CPU in seconds, sizes in bytes."""

    decode: dict[str, float]
    """By packing, per point of the source grid."""
    array_cpu: Line
    tile_cpu: float
    file_cpu: float
    download_cpu: float
    """Per downloaded byte."""
    array_bytes: dict[str, Line]
    """By kind of grid: `projected` or `lat-lon`."""
    smaller: dict[str, float]
    """The size of other encodings, relative to the default."""


def grids() -> dict[str, Grid]:
    return {one.name: one.grid for one in named_grids()}


def points_of(grid: Grid, box: Box) -> int:
    found = window(grid, box)
    return 0 if found is None else found.points


def measured(folder: Path) -> Rates:
    """From the results in this folder."""
    known = grids()
    decode, path, subset = (_read(folder / name) for name in ("decode.json", "path.json", "subset.json"))
    job, fetched = path["job"], subset["gribmill_way"]
    values = {grid: MESSAGES * known[grid].shape[0] * known[grid].shape[1] for grid in ("hrrr", "gfs", "ifs")}
    return Rates(
        decode={
            packing: decode["gribmill-reusing"][key]["cpu_ms"] / 1e3 / values[grid]
            for packing, (key, grid) in PACKINGS.items()
        },
        array_cpu=_array_cpu(known, job),
        tile_cpu=statistics.mean(_stages(job[model], PER_TILE) for model in ("hrrr", "gfs")) / len(EIGHT),
        file_cpu=statistics.mean(_stages(job[model], ("read: walk, headers",)) for model in ("hrrr", "gfs")),
        download_cpu=sum(one["cpu_s"] for one in fetched) / sum(one["sent"] for one in fetched),
        array_bytes=_array_bytes(),
        smaller=_smaller(path["encodings"]),
    )


def _array_cpu(known: dict[str, Grid], job: dict[str, Any]) -> Line:
    """The line through two jobs with as many arrays of the same regions: large ones (HRRR), small ones (GFS)."""
    regions = load_regions()
    arrays = MESSAGES * len(EIGHT)
    (x0, y0), (x1, y1) = (
        (
            sum(points_of(known[model], regions[name].box) for name in EIGHT) / len(EIGHT),
            _stages(job[model], PER_ARRAY) / arrays,
        )
        for model in ("gfs", "hrrr")
    )
    each = (y1 - y0) / (x1 - x0)
    return Line(max(0.0, y0 - each * x0), each)


def _stages(job: dict[str, Any], names: tuple[str, ...]) -> float:
    return float(sum(job["cpu"]["stages"].get(name, 0.0) for name in names))


def _array_bytes() -> dict[str, Line]:
    """Sizes of tiles over regions of all sizes, from real messages if available, otherwise from generated ones."""
    real = {hour.key: hour.path for hour in real_hours()}
    return {
        "projected": _fit(real.get("hrrr-real") or made("hrrr"), "hrrr"),
        "lat-lon": _fit(real.get("gfs-real") or made("gfs"), "gfs"),
    }


def _fit(path: Path, model: str) -> Line:
    with tempfile.TemporaryDirectory() as folder:
        tiles = build(path, list(load_regions().values()), folder, model=model, everything=True).tiles
    rows = [
        (tile.meta.grid.shape[0] * tile.meta.grid.shape[1], tile.bytes / len(tile.meta.variables)) for tile in tiles
    ]
    mean_x, mean_y = (statistics.mean(row[number] for row in rows) for number in (0, 1))
    each = sum((x - mean_x) * (y - mean_y) for x, y in rows) / sum((x - mean_x) ** 2 for x, _ in rows)
    return Line(max(0.0, mean_y - each * mean_x), each)


def _smaller(kinds: dict[str, Any]) -> dict[str, float]:
    """Over real files, if there are any."""
    chosen = [each for title, each in kinds.items() if "real" in title] or list(kinds.values())
    return {
        name: statistics.mean(each[name]["size"] / each["fast"]["size"] for each in chosen)
        for name in ("compact", "packed")
    }


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise SystemExit(f"{path} does not exist: run `make bench`, or the benchmark that writes it")
    found: dict[str, Any] = json.loads(path.read_text())
    return found
