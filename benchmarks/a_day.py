"""`python -m benchmarks.a_day`: what a day of all deterministic models × 50 regions costs, from measured figures."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.rates import Rates, grids, measured, points_of
from benchmarks.results_folder import command, results_folder
from gribmill.ingest.download.download_plan import merge
from gribmill.ingest.index.entry import ByteRange
from gribmill.ingest.index.parse import guess_kind, parse_index
from gribmill.ingest.index.select import select, wanted
from gribmill.ingest.models.model import Model
from gribmill.ingest.models.registry import load_models
from gribmill.regions.grids import Grid, LatLonGrid
from gribmill.regions.region import load_regions
from tests.real_files import REAL_GRIB

REGIONS = 50
DAY = datetime(2026, 11, 1, tzinfo=UTC)
# By id, not by member: these files have one member of an ensemble, or its statistics.
ENSEMBLES = ("gefs", "aifs_ens", "ifs_enfo")
# Models that only list what is there: hourly to 48 h, then every third hour to 192 h, every sixth to 264 h.
DISCOVERED = (*range(1, 49), *range(51, 193, 3), *range(198, 265, 6))
# Real indexes and their forecast hours: they give the size of the wanted messages.
INDEXES = {
    "hrrr": ("reformatters.2025080100.hrrr.t00z.wrfsfcf08.grib2.idx", 8),
    "gfs": ("kerchunk.2023110400.gfs.t00z.pgrb2.0p25.f021.idx", 21),
    "aifs": ("reformatters.aifs_single_20250301_00z_0h.index", 0),
}
# Bytes per point if a real index is not available, as measured earlier from these three.
BYTES_A_POINT = {"hrrr": 0.62, "gfs": 0.55, "aifs": 0.60}
EXAMPLES = ("puerto_rico", "ne", "conus", "north_america", "global")


@dataclass(frozen=True, slots=True)
class Cost:
    """One model's day. CPU in hours, sizes in GB."""

    model: str
    packing: str
    grid_points: int
    runs: int
    files: int
    messages: int
    tiles: int
    network: float
    download_cpu: float
    decode_cpu: float
    tile_cpu: float
    queue_cpu: float
    disk: float
    guessed: bool

    @property
    def cpu(self) -> float:
        return self.download_cpu + self.decode_cpu + self.tile_cpu + self.queue_cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="from the figures of quick runs, into results/quick")
    folder = results_folder(quick=parser.parse_args().quick)
    rates, known, sizes = measured(folder), grids(), message_bytes()
    models = [model for name, model in sorted(load_models().items()) if name.split(".")[0] not in ENSEMBLES]
    costs = [cost_of(model, known[model.grid], rates, sizes) for model in models if model.grid in known]
    unknown = [model.id for model in models if model.grid not in known]
    text = page([cost for cost in costs if cost.files], unknown, rates, sizes)
    (folder / "a_day.md").write_text(text, encoding="utf-8")
    sys.stdout.write(text)


def message_bytes() -> dict[str, float]:
    """Bytes transferred per point of a wanted message, including gaps between ranges, from real indexes."""
    found = dict(BYTES_A_POINT)
    for model_id, (_, hour) in INDEXES.items():
        if index_of(model_id).is_file():
            found[model_id] = _bytes_a_point(load_models()[model_id], index_of(model_id), hour)
    return found


def index_of(model_id: str) -> Path:
    return REAL_GRIB / "idx" / INDEXES[model_id][0]


def _bytes_a_point(model: Model, path: Path, hour: int) -> float:
    data = path.read_bytes()
    inventory = parse_index(guess_kind(data), data, path.name)
    chosen = select(inventory, wanted(model.variables), hour, extras=model.extras, offset_minutes=model.offset_minutes)
    ranges = [ByteRange(one.offset, one.end) for one in chosen.found.values() if one.end is not None]
    grid = grids()[str(model.grid)]
    return sum(one.end - one.start for one in merge(ranges) if one.end) / (len(ranges) * grid.shape[0] * grid.shape[1])


def cost_of(model: Model, grid: Grid, rates: Rates, sizes: dict[str, float]) -> Cost:
    """Every run of a day, every hour, every variable, for 50 regions like the built-in ones."""
    runs = [run for run in (DAY + timedelta(hours=hour) for hour in range(24)) if model.hours(run)]
    guessed = any(map(model.discovers, runs))
    files = len(runs) * len(DISCOVERED) if guessed else sum(len(model.hours(run)) for run in runs)
    messages = files * len(model.variables)
    ecmwf, flat = "ecmwf" in model.mirrors[0].name, isinstance(grid, LatLonGrid)
    packing = "CCSDS" if ecmwf else "5.3, lat-lon" if flat else "5.3"
    grid_points = grid.shape[0] * grid.shape[1]
    built_in = [points_of(grid, region.box) for region in load_regions().values()]
    # Regions that the model does not reach cost nothing, and count among the fifty.
    share = REGIONS / len(built_in)
    reached, points = share * sum(map(bool, built_in)), share * sum(built_in)
    network = messages * grid_points * sizes["aifs" if ecmwf else "gfs" if flat else "hrrr"]
    size = rates.array_bytes["lat-lon" if flat else "projected"]
    return Cost(
        model=model.id,
        packing=packing,
        grid_points=grid_points,
        runs=len(runs),
        files=files,
        messages=messages,
        tiles=round(files * reached),
        network=network / 1e9,
        download_cpu=network * rates.download_cpu / 3600,
        decode_cpu=(messages * grid_points * rates.decode[packing] + files * rates.file_cpu) / 3600,
        tile_cpu=messages * (reached * rates.array_cpu.start + points * rates.array_cpu.each) / 3600,
        queue_cpu=files * reached * rates.tile_cpu / 3600,
        disk=messages * (reached * size.start + points * size.each) / 1e9,
        guessed=guessed,
    )


def shared(costs: list[Cost], machines: int) -> tuple[float, float, float]:
    """CPU hours, network and disk of the busiest of `machines`, if each has its own models."""
    loads = [[0.0, 0.0, 0.0] for _ in range(machines)]
    for cost in sorted(costs, key=lambda cost: -cost.cpu):
        least = min(loads, key=lambda load: load[0])
        for number, amount in enumerate((cost.cpu, cost.network, cost.disk)):
            least[number] += amount
    cpu, network, disk = max(loads)
    return cpu, network, disk


def page(costs: list[Cost], unknown: list[str], rates: Rates, sizes: dict[str, float]) -> str:
    """The rates, a line for each model, the total, and the number of machines needed."""
    rows = [
        f"| {cost.model}{' *' if cost.guessed else ''} | {cost.packing} | {cost.grid_points / 1e6:.2f} | {cost.runs} "
        f"| {cost.files:,} | {cost.messages:,} | {cost.tiles:,} | {cost.network:.1f} | {cost.download_cpu:.2f} "
        f"| {cost.decode_cpu:.2f} | {cost.tile_cpu:.2f} | {cost.queue_cpu:.2f} | {cost.cpu:.2f} | {cost.disk:.1f} |"
        for cost in costs
    ]

    def total(name: str) -> float:
        values: list[float] = [getattr(cost, name) for cost in costs]
        return sum(values)

    counts = " | ".join(f"{total(name):,}" for name in ("files", "messages", "tiles"))
    hours = " | ".join(f"{total(name):.1f}" for name in ("download_cpu", "decode_cpu", "tile_cpu", "queue_cpu"))
    disk = f"{total('disk'):,.0f}"
    machines = [
        f"| {number} | {cpu:.1f} | {cpu / 24:.2f} | {network * 8e3 / 86400:.0f} | {written:,.0f} |"
        for number, (cpu, network, written) in ((number, shared(costs, number)) for number in (1, 2, 4, 8))
    ]
    return PAGE.format(
        command=command("a_day"), rows="\n".join(rows), machines="\n".join(machines),
        examples="\n".join(_examples(rates)), rates="\n".join(_rates(rates, sizes)),
        unknown=", ".join(unknown) or "none",
        sums=f"| **all** | | | | {counts} | {total('network'):.0f} | {hours} | **{total('cpu'):.1f}** | {disk} |",
        jobs=(total("tiles") + 2 * total("files")) / 86400,
        compact=rates.smaller["compact"] * total("disk"), packed=rates.smaller["packed"] * total("disk"),
        built_in=len(load_regions()), largest=max(costs, key=lambda cost: cost.cpu).model, day=DAY,
    )  # fmt: skip


def _rates(rates: Rates, sizes: dict[str, float]) -> list[str]:
    found = [f"| decode a point, {packing} | {1e9 * spent:.2f} ns |" for packing, spent in rates.decode.items()]
    found += [
        f"| an array of a tile | {1e6 * rates.array_cpu.start:.0f} µs + {1e9 * rates.array_cpu.each:.1f} ns a point |",
        f"| a tile's job in the queue | {1e3 * rates.tile_cpu:.2f} ms |",
        f"| reading a file's headers | {1e3 * rates.file_cpu:.2f} ms |",
        f"| downloading a megabyte | {1e9 * rates.download_cpu:.1f} ms |",
    ]
    found += [
        f"| a point of a message of {name}, over the network | {size:.2f} bytes{_assumed(name)} |"
        for name, size in sizes.items()
    ]
    found += [
        f"| an array of a tile on disk, {kind} | {size.start:.0f} + {size.each:.2f} a point, bytes |"
        for kind, size in rates.array_bytes.items()
    ]
    return found


def _assumed(model_id: str) -> str:
    return "" if index_of(model_id).is_file() else " (assumed)"


def _examples(rates: Rates) -> list[str]:
    """Tiles of some regions: points, CPU and size with twelve variables."""
    found = []
    for model, kind in (("hrrr", "projected"), ("gfs", "lat-lon")):
        for name in EXAMPLES:
            points = points_of(grids()[model], load_regions()[name].box)
            if points:
                cpu = 12 * rates.array_cpu.at(points) + rates.tile_cpu
                size = 12 * rates.array_bytes[kind].at(points)
                found.append(f"| {model}, {name} | {points:,} | {1e3 * cpu:.1f} | {size / 1e3:,.0f} |")
    return found


PAGE = r"""# A day of all deterministic models × 50 regions, on paper

`{command}` wrote this page: runs, hours and variables of the model files on
{day:%Y-%m-%d}, times measured costs (decode.json, path.json, subset.json).

| what | costs |
|---|---|
{rates}

CPU is in hours: download, decode, build the tiles, queue, total.

| model | packing | M points | runs | files | messages | tiles | GB in | down | decode | cut | queue | CPU h | GB out |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
{rows}
{sums}

`compact` tiles take {compact:,.0f} GB a day, `packed` tiles {packed:,.0f} GB. The queue handles
{jobs:.1f} jobs a second on average.

**Assumptions.**

- The fifty regions are like the {built_in} built-in ones on average, from an island's size to the whole globe; a
  region outside a model's grid costs nothing, but counts as one of the fifty.
- Every file of a model has all its variables. \* Only the listing says which hours exist; the table counts every hour
  to 48 h, every third to 192 h and every sixth to 264 h.
- Bytes per point are from real indexes of HRRR (for all projected grids), GFS and AIFS (for all of ECMWF), including
  the gaps that are fetched with the messages; "assumed" means an earlier measurement. Decoding costs, by packing, are
  from generated files. Tile sizes are from real messages if available.
- Encoding `fast`, native grids, winds rotated to earth-relative. All regions of an hour are one batch.
- Not included: listings, index files, retries, reading.
- Left out because their grid is not known: {unknown}.

**By size of a region** (a tile of twelve variables):

| | points | CPU ms | kB |
|---|---|---|---|
{examples}

**Several machines.** Each has its own models and its own data root; they share only the mirrors. Models are assigned in
order of CPU time, the largest first, each to the machine with the least. The busiest machine, by CPU (others may
download or write more):

| machines | CPU hours a day | cores busy on average | Mbit/s on average | GB a day |
|---|---|---|---|---|
{machines}

{largest} limits this: with more machines, split its regions. Each machine then downloads and decodes the same messages
again, which costs little beside writing tiles. Disk space runs out first.
"""


if __name__ == "__main__":
    main()
