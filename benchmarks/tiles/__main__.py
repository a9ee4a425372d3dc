"""`python -m benchmarks.tiles`: every way in turn, round after round, medians into results/tiles.md."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.machine import machine_lines
from benchmarks.peers import peer_python, versions
from benchmarks.tiles.hour import FIELDS, hrrr_file
from gribmill.regions.region import load_regions

ROOT = Path(__file__).parents[1]
WAYS = Path(__file__).parent / "ways"
REGIONS = ("ne", "nw", "sw", "se", "mw", "mid_atlantic", "great_lakes", "southern_plains")
PEERS = ["numpy", "eccodes", "eccodeslib", "cfgrib", "xarray", "gribberish"]


@dataclass(frozen=True, slots=True)
class Way:
    """One way of cutting: its script, and whether it runs among the peers or in gribmill's environment."""

    title: str
    script: str
    peer: bool = True


ALL = (
    Way("cfgrib + xarray `where(drop=True)` per region, savez_compressed (the usual way)", "cfgrib_per_region.py"),
    Way("cfgrib once, then slices, savez_compressed", "cfgrib_once.py"),
    Way("ecCodes by hand, slices, savez_compressed", "eccodes_by_hand.py"),
    Way("gribberish, slices, savez_compressed", "gribberish_way.py"),
    Way("wgrib2 -small_grib per region (writes GRIB)", "wgrib2_way.py"),
    Way("ecCodes by hand, slices, gribmill's NPZ writer", "eccodes_fast_zip.py", peer=False),
    Way("**gribmill**", "gribmill_way.py", peer=False),
    Way("the floor: read, copy, raw write of the tiles' arrays", "floor.py", peer=False),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds; each way runs once in each")
    parser.add_argument("--quick", action="store_true", help="one round, fewer passes: to see that it runs")
    options = parser.parse_args()
    rounds = 1 if options.quick else options.rounds
    if options.quick:
        os.environ["BENCH_PASSES"] = "2"
    lines = machine_lines()
    python = peer_python("tiles", PEERS)
    path = hrrr_file()
    known = load_regions()
    boxes = json.dumps({name: known[name].box.as_list() for name in REGIONS})
    ways = [way for way in ALL if way.script != "wgrib2_way.py" or shutil.which("wgrib2")]
    reports: dict[Way, list[dict[str, Any]]] = {way: [] for way in ways}
    with tempfile.TemporaryDirectory() as out:
        for number in range(rounds):
            for way in ways:
                sys.stderr.write(f"round {number + 1}/{rounds}: {way.script}\n")
                reports[way].append(run(way, python, path, boxes, Path(out)))
    text = report_text(reports, lines, versions(python, PEERS), path, rounds)
    target = ROOT / "results" / "tiles.md"
    target.parent.mkdir(exist_ok=True)
    target.write_text(text, encoding="utf-8")
    target.with_suffix(".json").write_text(json.dumps(figures(reports), indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(text)


def run(way: Way, python: Path, path: Path, boxes: str, out: Path) -> dict[str, Any]:
    """One fresh process; its own report and the CPU time of the whole process."""
    interpreter = python if way.peer else Path(sys.executable)
    # The ways import each other's neighbours by plain names, gribmill's from the checkout.
    environment = {**os.environ, "PYTHONPATH": str(WAYS) if way.peer else f"{WAYS}{os.pathsep}{ROOT.parent}"}
    before = os.times()
    done = subprocess.run(
        [interpreter, WAYS / way.script, path, boxes, out / Path(way.script).stem],
        check=True, capture_output=True, text=True, env=environment,
    )  # fmt: skip
    after = os.times()
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    whole = after.children_user + after.children_system - before.children_user - before.children_system
    return {**report, "start": whole - report["all_cpu"]}


def figures(reports: dict[Way, list[dict[str, Any]]]) -> dict[str, dict[str, float]]:
    """Medians by script, for the pages that quote them."""
    return {
        Path(way.script).stem: {
            "cpu_s": round(median(runs, "cpu", 1), 4),
            "first_cpu_s": round(median(runs, "cpu", 0), 4),
            "peak_mb": round(median(runs, "peak_mb"), 1),
            "written_mb": round(runs[-1]["bytes"] / 1e6, 2),
        }
        for way, runs in reports.items()
    }


def report_text(
    reports: dict[Way, list[dict[str, Any]]], lines: list[str], peers: dict[str, str], path: Path, rounds: int
) -> str:
    """The page: method, table, remarks that follow from the figures themselves."""
    usual = median(reports[ALL[0]], "cpu", 1)
    rows = []
    for way, runs in reports.items():
        first, further, wall = median(runs, "cpu", 0), median(runs, "cpu", 1), median(runs, "wall", 1)
        start, peak = median(runs, "start"), median(runs, "peak_mb")
        last = runs[-1]
        rows.append(
            f"| {way.title} | {further:.2f} | {usual / further:.1f} | {wall:.2f} | {first:.2f} | {start:.2f} "
            f"| {peak:.0f} | {last['bytes'] / 1e6:.1f} | {last['arrays']} | {probe(last)} |"
        )
    names = ", ".join(f"{name} {version}" for name, version in peers.items())
    missing = "" if shutil.which("wgrib2") else "\n- wgrib2 is not installed here: its row is left out"
    return PAGE.format(
        machine="\n".join(lines),
        names=names,
        missing=missing,
        rows="\n".join(rows),
        rounds=rounds,
        messages=len(FIELDS),
        size=path.stat().st_size / 1e6,
        regions=", ".join(REGIONS),
    )


def median(runs: list[dict[str, Any]], key: str, which: int | None = None) -> float:
    return statistics.median(run[key] if which is None else run[key][which] for run in runs)


def probe(report: dict[str, Any]) -> str:
    """Size of the `ne` tile and the temperature in its middle, by which one sees that the ways agree."""
    if not report["probe"]:
        return ""
    rows, columns, value = report["probe"]
    return f"{rows}×{columns}, {value} K"


PAGE = """# Tiles: one HRRR hour × 8 regions

`make bench-tiles` wrote this page. Read the figures as ratios: they were measured side by side, in one run.

{machine}
- peers: {names}{missing}

**What.** A file of {messages} messages on the true HRRR grid (1799×1059; {size:.1f} MB; complex packing with spatial
differencing, 10 m winds simple; made by `benchmarks/tiles/hour.py`, not real weather) is cut for {regions}.

**How.** Each way runs in a fresh process, in turn, {rounds} rounds; medians. In each process the work is done
several times into one folder: the first pays for caches, tables and grid files, the least of the others is what a
worker pays for every further file. CPU is user + system of the process and its children. The peers have an
environment of their own.

**Not the same.** gribmill also turns the winds to the earth's axes, writes metadata with statistics and the
source's SHA-256, and fsyncs every tile; the others do none of that (the row with gribmill's writer does fsync).
gribmill, and ecCodes by hand, work latitudes and longitudes out with the first file and keep them in a file of
their own; cfgrib and gribberish are used as their documentation shows, with coordinates in every tile. cfgrib's
`where` blanks points of the rectangle outside the box. ecCodes and gribberish by hand keep the file's row order,
which is right for HRRR but not for every model. The floor decodes and deflates nothing: it reads the file, copies
as many bytes as the tiles' arrays hold, and writes them raw with one fsync a tile.

| way | CPU s | × less CPU | wall s | CPU s, first file | CPU s, start | peak MB | MB written | arrays | `ne` |
|---|---|---|---|---|---|---|---|---|---|
{rows}
"""


if __name__ == "__main__":
    main()
