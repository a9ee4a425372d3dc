"""`python -m benchmarks.tiles`: every way in turn, round after round, medians into results/tiles.md."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.bars import draw_bars
from benchmarks.compiled import version_of_wgrib2, wgrib2_program
from benchmarks.environment import process_environment
from benchmarks.hours import Hour, tile_hours
from benchmarks.machine import machine_lines
from benchmarks.peers import GRIB, grib_python, versions
from benchmarks.regions import EIGHT
from benchmarks.report import missing_lines, report_of
from benchmarks.results_folder import command, results_folder
from gribmill.regions.region import load_regions

ROOT = Path(__file__).parents[1]
WAYS = Path(__file__).parent / "ways"


@dataclass(frozen=True, slots=True)
class Way:
    """One way of cutting: its script, how many files a process cuts, and whether it runs among the peers."""

    key: str
    title: str
    short: str
    passes: int = 2
    peer: bool = True
    # How often in a round: what is compared most closely is run most often, and in turn.
    turns: int = 1


ALL = (
    Way("cfgrib_per_region", "cfgrib + xarray per region, savez_compressed (the usual way)", "cfgrib per region"),
    Way("cfgrib_once", "cfgrib once, then slices, savez_compressed", "cfgrib once"),
    Way("gribberish_way", "gribberish, slices, savez_compressed", "gribberish"),
    Way("eccodes_by_hand", "ecCodes once, slices, savez_compressed", "ecCodes once"),
    Way("wgrib2_way", "wgrib2 -small_grib per region (writes GRIB)", "wgrib2 (to GRIB)"),
    Way("eccodes_isal", "ecCodes once, slices, ISA-L level 2 (ZIP by hand)", "ecCodes + ISA-L", 5, False, 3),
    Way("gribmill_way", "**gribmill**", "gribmill", 6, False, 3),
    Way("floor", "the floor: read, copy, raw write of the tiles' arrays", "the floor", 6, False, 3),
)
# By way, in the order in which they ran; None for one that failed.
Reports = dict[str, list[dict[str, Any] | None]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="rounds; each way runs once in each")
    parser.add_argument("--quick", action="store_true", help="one round, into results/quick: to see that it runs")
    parser.add_argument("--hours", nargs="*", help="keys of hours to cut (hrrr, gfs, ifs, hrrr-real …); all")
    options = parser.parse_args()
    rounds = 1 if options.quick else options.rounds
    lines = [*machine_lines(), *peer_lines()]
    hours = [hour for hour in tile_hours() if not options.hours or hour.key in options.hours]
    reasons: dict[str, str] = {}
    found = {hour.key: figures(measured(hour, rounds, reasons)) for hour in hours}
    text = page(hours, found, [*lines, *missing_lines(reasons)], rounds)
    folder = results_folder(quick=options.quick)
    (folder / "tiles.md").write_text(text, encoding="utf-8")
    (folder / "tiles.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    draw(hours, found, folder)
    sys.stdout.write(text)


def measured(hour: Hour, rounds: int, reasons: dict[str, str]) -> Reports:
    """All ways over one file, in turn, so that they see the same machine. Why one failed is added to `reasons`."""
    known = load_regions()
    boxes = json.dumps({name: known[name].box.as_list() for name in EIGHT})
    wgrib2 = wgrib2_program().path
    ways = [way for way in ALL if wgrib2 or way.key != "wgrib2_way"]
    reports: Reports = {way.key: [] for way in ways}
    with tempfile.TemporaryDirectory() as out:
        for number in range(rounds):
            for turn in range(max(way.turns for way in ways)):
                for way in ways:
                    if turn < way.turns:
                        sys.stderr.write(f"{hour.title}, round {number + 1}/{rounds}: {way.key}\n")
                        report = run(way, hour, boxes, Path(out))
                        if isinstance(report, str):
                            reasons[f"{way.short}, {hour.title}"] = report
                        reports[way.key].append(None if isinstance(report, str) else report)
    return reports


def run(way: Way, hour: Hour, boxes: str, out: Path) -> dict[str, Any] | str:
    """One fresh process; its own report and the CPU time of the whole process, or why there is none."""
    interpreter = grib_python() if way.peer else Path(sys.executable)
    environment = process_environment(BENCH_MODEL=hour.model)
    environment["WGRIB2"] = str(wgrib2_program().path)
    # The ways import each other's neighbours by plain names, gribmill's from the checkout.
    environment["PYTHONPATH"] = str(WAYS) if way.peer else f"{WAYS}{os.pathsep}{ROOT.parent}"
    before = os.times()
    words: list[str | Path] = [interpreter, WAYS / f"{way.key}.py", hour.path, boxes, out / way.key, str(way.passes)]
    report = report_of(words, environment)
    after = os.times()
    if isinstance(report, str):
        return report
    whole = after.children_user + after.children_system - before.children_user - before.children_system
    return {**report, "start": whole - sum(report["cpu"])}


def figures(reports: Reports) -> dict[str, dict[str, Any]]:
    """Medians by way: of the first file of a process, and of further ones; and of how many times gribmill's that is.

    Nothing of a way that has no run beside one of gribmill's.
    """
    found = {}
    for key, all_runs in reports.items():
        runs, ratios = [run for run in all_runs if run], times(all_runs, reports["gribmill_way"])
        if not ratios:
            continue
        found[key] = {
            "times_gribmill": round(statistics.median(ratios), 4),
            "cpu_s": round(further(runs), 4),
            "wall_s": round(statistics.median(spent for run in runs for spent in run["wall"][1:]), 4),
            "first_cpu_s": round(statistics.median(run["cpu"][0] for run in runs), 4),
            "start_cpu_s": round(statistics.median(run["start"] for run in runs), 4),
            "peak_mb": round(max(run["peak_mb"] for run in runs), 1),
            "written_mb": round(runs[-1]["bytes"] / 1e6, 2),
            "arrays": runs[-1]["arrays"],
            "probe": runs[-1]["probe"],
        }
    return found


def times(runs: list[dict[str, Any] | None], own: list[dict[str, Any] | None]) -> list[float]:
    """Ratios, each of runs that lie next to each other: what the machine does changes within a minute."""
    turns = len(own) // len(runs)
    ratios = []
    for number, run in enumerate(runs):
        near = [other for other in own[turns * number : turns * (number + 1)] if other]
        if run and near:
            ratios.append(further([run]) / further(near))
    return ratios


def further(runs: list[dict[str, Any]]) -> float:
    return float(statistics.median(spent for run in runs for spent in run["cpu"][1:]))


def peer_lines() -> list[str]:
    wgrib2 = wgrib2_program()
    named = ", ".join(f"{name} {version}" for name, version in versions(grib_python(), GRIB).items())
    return [f"- {named}", f"- {wgrib2.how}" + (f" ({version_of_wgrib2(wgrib2.path)})" if wgrib2.path else "")]


def page(hours: list[Hour], found: dict[str, dict[str, dict[str, Any]]], lines: list[str], rounds: int) -> str:
    """Method, then a table for each file."""
    tables = [
        f"## {hour.title}: {hour.path.stat().st_size / 1e6:.1f} MB × {len(EIGHT)} regions\n\n{table(found[hour.key])}"
        for hour in hours
    ]
    return PAGE.format(
        command=command("tiles"), machine="\n".join(lines), rounds=rounds, regions=", ".join(EIGHT),
        tables="\n\n".join(tables),
    )  # fmt: skip


def table(ways: dict[str, dict[str, Any]]) -> str:
    rows = [TABLE]
    for way in ALL:
        own = ways.get(way.key)
        if own is None:
            rows.append(f"| {way.title} |{' – |' * 9}")
            continue
        rows.append(
            f"| {way.title} | {own['cpu_s']:.3f} | {own['times_gribmill']:.3g} | {own['wall_s']:.3f} "
            f"| {own['first_cpu_s']:.2f} | {own['start_cpu_s']:.2f} | {own['peak_mb']:.0f} "
            f"| {own['written_mb']:.1f} | {own['arrays'] or ''} | {probe(own)} |"
        )
    return "\n".join(rows)


def probe(report: dict[str, Any]) -> str:
    """Size of the `ne` tile and the mean temperature of its middle part, by which one sees that the ways agree."""
    if not report["probe"]:
        return ""
    rows, columns, value = report["probe"]
    return f"{rows}×{columns}, {value:.2f} K"


def draw(hours: list[Hour], found: dict[str, dict[str, dict[str, Any]]], folder: Path) -> None:
    short = {way.key: way.short for way in ALL}
    groups = {hour.title: {short[key]: own["cpu_s"] * 1000 for key, own in found[hour.key].items()} for hour in hours}
    draw_bars(groups, "CPU, ms, one file × 8 regions to tiles on disk (log)", folder / "tiles.png", log=True)


TABLE = """| way | CPU s | × gribmill | wall s | CPU s, first file | start | peak MB | MB written | arrays | `ne` |
|---|---|---|---|---|---|---|---|---|---|"""

PAGE = """# From one file to the tiles of eight regions

`{command}` wrote this page; tiles.png shows it.
Read the figures as ratios: they were measured side by side, in one run.

{machine}

**What.** Files of twelve messages on the models' true grids, made by `benchmarks/hours.py` (no real weather), and
the real messages of ../shared/grib under one date, are cut for {regions}.

**How.** Each way runs in a fresh process, in turn, {rounds} rounds. In each process the work is done several times
into one folder: the first pays for caches, tables and grid files, the median of the others, over all rounds, is what
a worker pays for every further file. Ratios are medians of those of runs that lie next to each other: ISA-L, gribmill
and the floor run three times in a round, in turn. CPU is user + system of the process and its children. The peers
have an environment of their own. – : not to be had, or it failed (see above).

**Not the same.** gribmill also turns the winds to the earth's axes, writes metadata with statistics, and fsyncs every
tile; the others do none of that (the row with ISA-L does fsync). Its metadata have the file's SHA-256, too: a worker
knows it from the download, so it is worked out with the first file and handed to `build` with the others, as the
worker hands it; without that a further file takes as much more as hashing it takes. gribmill, and ecCodes by hand,
work latitudes and longitudes out with the first file and keep them in a file of their own; cfgrib and gribberish are
used as their documentation shows, with coordinates in every tile. cfgrib is asked by `where(drop=True)` on projected
grids, which blanks points of the rectangle outside the box, and by `sel` on others; it leaves out what it cannot
bring under one dataset (see the number of arrays). ecCodes and gribberish by hand keep the file's row order. The
floor decodes and deflates nothing: it reads the file, copies as many bytes as the tiles' arrays hold, and writes them
raw with one fsync a tile.

{tables}
"""


if __name__ == "__main__":
    main()
