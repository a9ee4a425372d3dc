"""`python -m benchmarks.a_day`: what a day of all deterministic models × 50 regions costs, from measured figures.

CPU per point comes from results/path.json (growth with regions), bytes per point from the generated HRRR hour.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.hours import HRRR as FIELDS
from benchmarks.hours import made
from benchmarks.path.growth import boxes
from gribmill.ingest.model import Model
from gribmill.ingest.registry import load_models
from gribmill.regions.box import Box
from gribmill.regions.grids import Grid
from gribmill.regions.named_grid import named_grids
from gribmill.regions.region import load_regions
from gribmill.regions.window import window
from gribmill.tiles.build import build

RESULTS = Path(__file__).parent / "results"
REGIONS = 50
DAY = datetime(2026, 11, 1, tzinfo=UTC)
# By id and not by member: what these files hold is one run among many, or statistics of them.
ENSEMBLES = ("gefs", "aifs_ens", "ifs_enfo")


@dataclass(frozen=True, slots=True)
class Rates:
    """CPU per grid point of a message, CPU per point of a tile, bytes of both."""

    decode_s: float
    tile_s: float
    message_bytes: float
    tile_bytes: float


@dataclass(frozen=True, slots=True)
class Cost:
    """One model's day."""

    model: str
    runs: int
    files: int
    fields: int
    network_gb: float
    tiles_gb: float
    cpu_hours: float
    at_most: bool


def main() -> None:
    rates = measured()
    grids = {one.name: one.grid for one in named_grids()}
    models = [model for name, model in sorted(load_models().items()) if name.split(".")[0] not in ENSEMBLES]
    costs = [cost_of(model, grids[model.grid], rates) for model in models if model.grid in grids]
    unknown = [model.id for model in models if model.grid not in grids]
    text = page(costs, unknown, rates)
    (RESULTS / "a_day.md").write_text(text, encoding="utf-8")
    sys.stdout.write(text)


def measured() -> Rates:
    """A straight line through the growth: what a file costs without regions, and what a region adds."""
    spent = {
        int(count): cpu for count, cpu in json.loads((RESULTS / "path.json").read_text())["growth"]["regions"].items()
    }
    grid = {one.name: one.grid for one in named_grids()}["hrrr"]
    points = {count: sum(_points(grid, region.box) for region in boxes()[:count]) for count in spent}
    mean_x, mean_y = sum(points.values()) / len(points), sum(spent.values()) / len(spent)
    slope = sum((points[count] - mean_x) * (spent[count] - mean_y) for count in spent)
    slope /= sum((points[count] - mean_x) ** 2 for count in spent)
    file = made("hrrr")
    values = len(FIELDS) * grid.shape[0] * grid.shape[1]
    with tempfile.TemporaryDirectory() as folder:
        tiles = build(file, boxes(), folder, model="hrrr").tiles
    cut = len(FIELDS) * sum(tile.meta.grid.shape[0] * tile.meta.grid.shape[1] for tile in tiles)
    return Rates(
        decode_s=max(0.0, mean_y - slope * mean_x) / values,
        tile_s=slope / len(FIELDS),
        message_bytes=file.stat().st_size / values,
        tile_bytes=sum(tile.bytes for tile in tiles) / cut,
    )


def cost_of(model: Model, grid: Grid, rates: Rates) -> Cost:
    """Every run of a day, every hour, every variable, for 50 regions like the built-in ones."""
    runs = [run for run in (DAY + timedelta(hours=hour) for hour in range(24)) if model.hours(run)]
    files = sum(len(model.hours(run)) for run in runs)
    fields = files * len(model.variables)
    touched = [_points(grid, region.box) for region in load_regions().values()]
    # Regions that the model does not reach cost nothing, and count among the fifty.
    tile_points = REGIONS * sum(touched) / len(touched)
    grid_points = grid.shape[0] * grid.shape[1]
    seconds = fields * (grid_points * rates.decode_s + tile_points * rates.tile_s)
    return Cost(
        model.id, len(runs), files, fields,
        fields * grid_points * rates.message_bytes / 1e9, fields * tile_points * rates.tile_bytes / 1e9, seconds / 3600,
        any(map(model.discovers, runs)),
    )  # fmt: skip


def page(costs: list[Cost], unknown: list[str], rates: Rates) -> str:
    """The table, its sum, and what that means for machines."""
    rows = [
        f"| {cost.model}{' *' if cost.at_most else ''} | {cost.runs} | {cost.files} | {cost.fields} "
        f"| {cost.network_gb:.1f} | {cost.tiles_gb:.1f} | {cost.cpu_hours:.2f} |"
        for cost in costs
    ]
    network, tiles, cpu = (
        sum(getattr(cost, name) for cost in costs) for name in ("network_gb", "tiles_gb", "cpu_hours")
    )
    return PAGE.format(
        rows="\n".join(rows), network=network, tiles=tiles, cpu=cpu, cores=cpu / 24,
        fields=sum(c.fields for c in costs), files=sum(c.files for c in costs), megabits=network * 8e3 / 86400,
        unknown=", ".join(unknown) or "none",
        decode=rates.decode_s * 1e9, tile=rates.tile_s * 1e9, in_bytes=rates.message_bytes, out_bytes=rates.tile_bytes,
    )  # fmt: skip


def _points(grid: Grid, box: Box) -> int:
    found = window(grid, box)
    return 0 if found is None else found.points


PAGE = r"""# A day of all deterministic models × 50 regions, on paper

`python -m benchmarks.a_day` wrote this page: the model files' runs, hours and variables, times what was measured
in path.json and on the generated HRRR hour. Per grid point of a message {decode:.2f} ns of CPU and {in_bytes:.2f}
bytes of network; per point of a tile {tile:.1f} ns and {out_bytes:.2f} bytes. The fifty regions are like the
built-in ones on average; those a model does not reach cost nothing. CPU of downloads, of the queue and of the
index files is not counted, nor are fields that a message index makes one fetch too many. Real fields pack and
deflate better or worse than generated ones: take the figures as an order of size.

| model | runs | files | fields | network, GB | tiles, GB | CPU hours |
|---|---|---|---|---|---|---|
{rows}
| **all** | | {files} | {fields} | {network:.0f} | {tiles:.0f} | {cpu:.1f} |

\* Which hours exist is known from the listing alone: all that may come are counted, more than do come.

Without a known grid, and so not counted: {unknown}.

**One machine.** {cores:.2f} cores busy all day on average, {megabits:.0f} Mbit/s on average, {tiles:.0f} GB of
tiles for each day that is kept. **Many.** Files are independent of each other: on N machines each has 1/N of the
CPU and of the network; a file's regions are cut where the file is decoded, so nothing is decoded twice.
"""


if __name__ == "__main__":
    main()
