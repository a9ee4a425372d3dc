"""`python -m benchmarks.tiles`: all contenders in turn, for several rounds; medians into results/tiles.md."""

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
    """One contender: its script, how many files a process cuts, and whether it runs in the peers' environment."""

    key: str
    title: str
    short: str
    passes: int = 2
    peer: bool = True
    # Runs per round: those that are compared most closely run more often, interleaved.
    turns: int = 1


ALL = (
    Way("cfgrib_per_region", "cfgrib + xarray per region, savez_compressed (common practice)", "cfgrib per region"),
    Way("cfgrib_once", "cfgrib once, then slices, savez_compressed", "cfgrib once"),
    Way("gribberish_way", "gribberish, slices, savez_compressed", "gribberish"),
    Way("eccodes_by_hand", "ecCodes once, slices, savez_compressed", "ecCodes once"),
    Way("wgrib2_way", "wgrib2 -small_grib per region (writes GRIB)", "wgrib2 (to GRIB)"),
    Way("eccodes_isal", "ecCodes once, slices, ISA-L level 2 (ZIP by hand)", "ecCodes + ISA-L", 5, False, 3),
    Way("gribmill_way", "**gribmill**", "gribmill", 6, False, 3),
    Way("floor", "the floor: read, copy, raw write of the tiles' arrays", "the floor", 6, False, 3),
)
# By contender, in order of execution; None for a failed one.
Reports = dict[str, list[dict[str, Any] | None]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="rounds; each contender runs in each")
    parser.add_argument("--quick", action="store_true", help="one round, into results/quick, to check that it runs")
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
    """All contenders over one file, in turn, under the same conditions. Reasons of failures are added to `reasons`."""
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
    """One new process: its report and the CPU time of the whole process, or why it failed."""
    interpreter = grib_python() if way.peer else Path(sys.executable)
    environment = process_environment(BENCH_MODEL=hour.model)
    environment["WGRIB2"] = str(wgrib2_program().path)
    # Scripts import their neighbours by plain names; gribmill's imports the checkout.
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
    """Medians by contender: of the first file of a process and of further ones, and ratios to gribmill.

    Leaves out a contender without a run beside one of gribmill.
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
    """Ratios of adjacent runs: the machine's load changes within a minute."""
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
    """The method, then a table for each file."""
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
    """Size of the `ne` tile and the mean temperature of its middle part, to check that the contenders agree."""
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
Compare ratios: all figures are from one interleaved run.

{machine}

**What.** Files of twelve messages on the models' real grids, made by `benchmarks/hours.py` (artificial weather), and
the real messages of ../shared/grib, set to one date, are cut for {regions}.

**How.** Each contender runs in a new process, in turn, {rounds} rounds. Each process does the work several times, into
one folder. The first time includes caches, tables and grid files; the median of the others, over all rounds, is the
cost of every further file of a worker. Ratios are medians of the ratios of adjacent runs: ISA-L, gribmill and the floor
run three times per round, interleaved. CPU is user + system time of the process and its children. The peers have a
separate environment. – : not available, or failed (see above).

**Not the same.** gribmill also rotates winds to earth-relative, writes metadata with statistics, and fsyncs every tile;
the others do not (the row with ISA-L does fsync). Its metadata include the file's SHA-256, which a worker knows from
the download: it is computed with the first file and passed to `build` with the others, as a worker does. gribmill and
ecCodes by hand compute latitudes and longitudes once and write them to a separate file; cfgrib and gribberish are used
as documented, with coordinates in every tile. cfgrib selects with `where(drop=True)` on projected grids, which blanks
points of the rectangle outside the box, and with `sel` on others; it leaves out fields that do not fit into one dataset
(see the number of arrays). ecCodes by hand and gribberish keep the file's row order. The floor neither decodes nor
deflates: it reads the file, copies as many bytes as the tiles' arrays have, and writes them with one fsync per tile.

{tables}
"""


if __name__ == "__main__":
    main()
