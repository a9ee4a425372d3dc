"""`python -m benchmarks.decode`: every decoder over every file, each in its own process, into results/decode.md."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.bars import draw_bars
from benchmarks.compiled import grib2io_python, version_of_wgrib2, wgrib2_program
from benchmarks.environment import process_environment
from benchmarks.hours import Hour, decode_hours
from benchmarks.machine import machine_lines
from benchmarks.peers import GRIB, grib_python, versions
from benchmarks.report import missing_lines, report_of
from benchmarks.results_folder import command, results_folder

ROOT = Path(__file__).parents[1]
CONTENDER = Path(__file__).parent / "contender.py"
BASE, OWN = "eccodes", "gribmill"


@dataclass(frozen=True, slots=True)
class Row:
    """One decoder; `home` is its environment."""

    name: str
    title: str
    home: str = "peers"


ROWS = (
    Row("cfgrib", "cfgrib + xarray"),
    Row("rasterio", "rasterio (GDAL)"),
    Row("gribberish", "gribberish"),
    Row("earthkit", "earthkit-data"),
    Row("pygrib", "pygrib"),
    Row("wgrib2", "wgrib2 -bin"),
    Row("eccodes", "ecCodes, float64 cast to float32"),
    Row("grib2io", "grib2io (g2c)", "grib2io"),
    Row("gribmill-off", "gribmill, kernel off", "gribmill"),
    Row("gribmill", "**gribmill**", "gribmill"),
    Row("gribmill-reusing", "**gribmill**, into an array that is kept", "gribmill"),
    Row("gribmill-windows", "**gribmill**, eight windows of 1 % each", "gribmill"),
)
Cells = dict[str, dict[str, dict[str, Any]]]  # row, file, figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="measured decodes per process")
    parser.add_argument("--passes", type=int, default=3, help="processes of each decoder for each file, interleaved")
    parser.add_argument("--quick", action="store_true", help="one process with one round each, into results/quick")
    parser.add_argument("--only", nargs="*", help="names of rows to run; no page is written")
    options = parser.parse_args()
    rounds, passes = (1, 1) if options.quick else (options.rounds, options.passes)
    lines = machine_lines()
    hours = decode_hours()
    rows = [row for row in ROWS if not options.only or row.name in options.only]
    cells, reasons = measured(rows, hours, rounds, passes)
    text = page(cells, reasons, rows, hours, [*lines, *peer_lines()], f"{passes} × {rounds}")
    if not options.only:
        folder = results_folder(quick=options.quick)
        (folder / "decode.md").write_text(text, encoding="utf-8")
        (folder / "decode.json").write_text(json.dumps(cells, indent=1) + "\n", encoding="utf-8")
        draw(cells, rows, hours, folder)
    sys.stdout.write(text)


def measured(rows: list[Row], hours: list[Hour], rounds: int, passes: int) -> tuple[Cells, dict[str, str]]:
    """The decoders of one file run in turn, under the same conditions. Also returns why some failed."""
    found = {"peers": grib_python(), "grib2io": grib2io_python().path, "gribmill": Path(sys.executable)}
    pythons = {home: path for home, path in found.items() if path is not None}
    there = [row for row in rows if row.home in pythons and (row.name != "wgrib2" or wgrib2_program().path)]
    own = next(row for row in ROWS if row.name == OWN)
    reports: dict[tuple[str, str], list[dict[str, Any]]] = {}
    reasons: dict[str, str] = {}
    for hour in hours:
        for number in range(passes):
            for row in there:
                sys.stderr.write(f"{hour.title}: {row.name} {number + 1}/{passes}\n")
                # The machine's load changes within a minute: each is compared with the gribmill run right after it.
                report, beside = (run(pythons[one.home], one, hour.path, rounds) for one in (row, own))
                if isinstance(report, str):
                    reasons[f"{row.name}, {hour.title}"] = report
                elif isinstance(beside, str):
                    reasons[f"{own.name}, {hour.title}"] = beside
                else:
                    report["times_gribmill"] = statistics.median(report["cpu_ms"]) / statistics.median(beside["cpu_ms"])
                    reports.setdefault((row.name, hour.key), []).append(report)
    cells: Cells = {}
    for (name, key), runs in reports.items():
        cells.setdefault(name, {})[key] = figures(runs)
    return cells, reasons


def figures(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Of one decoder and one file."""
    return {
        "cpu_ms": round(statistics.median(spent for report in found for spent in report["cpu_ms"]), 2),
        "times_gribmill": round(statistics.median(report["times_gribmill"] for report in found), 3),
        "peak_mb": round(max(report["peak_mb"] for report in found)),
    }


def run(python: Path, row: Row, path: Path, rounds: int) -> dict[str, Any] | str:
    """The report of one process, or why it failed, such as a file that the decoder cannot read."""
    # One thread each: CPU time is compared, and waiting threads would add to it.
    environment = process_environment(WGRIB2=str(wgrib2_program().path))
    environment["GRIBMILL_KERNEL"] = "off" if row.name == "gribmill-off" else ""
    if row.home == "gribmill":
        environment["PYTHONPATH"] = str(ROOT.parent)
    report: dict[str, Any] | str = report_of([python, CONTENDER, row.name, path, str(rounds)], environment)
    return report


def peer_lines() -> list[str]:
    """The peers' versions, and where compiled ones came from."""
    wgrib2, grib2io = wgrib2_program(), grib2io_python()
    named = ", ".join(f"{name} {version}" for name, version in versions(grib_python(), GRIB).items())
    shown = f" ({version_of_wgrib2(wgrib2.path)})" if wgrib2.path else ""
    return [f"- {named}", f"- {grib2io.how}", f"- {wgrib2.how}{shown}"]


def page(
    cells: Cells, reasons: dict[str, str], rows: list[Row], hours: list[Hour], lines: list[str], effort: str
) -> str:
    """The table: CPU, and in brackets its ratio to ecCodes' on the same file."""
    table = ["| | " + " | ".join(hour.title for hour in hours) + " | peak MB |", "|---" * (len(hours) + 2) + "|"]
    for row in rows:
        own = cells.get(row.name, {})
        peak = max((cell["peak_mb"] for cell in own.values()), default=None)
        shown = [_cell(own.get(hour.key), cells.get(BASE, {}).get(hour.key)) for hour in hours]
        table.append(f"| {row.title} | {' | '.join(shown)} | {'–' if peak is None else peak} |")
    return PAGE.format(
        command=command("decode"), table="\n".join(table), effort=effort,
        machine="\n".join([*lines, *missing_lines(reasons)]),
    )  # fmt: skip


def _cell(cell: dict[str, float] | None, base: dict[str, float] | None) -> str:
    if not cell:
        return "–"
    ratio = f" ({cell['cpu_ms'] / base['cpu_ms']:.2f})" if base else ""
    return f"{cell['cpu_ms']:.1f}{ratio}"


def draw(cells: Cells, rows: list[Row], hours: list[Hour], folder: Path) -> None:
    titles = {row.name: row.title.replace("*", "") for row in rows}
    groups = {
        hour.title: {titles[name]: own[hour.key]["cpu_ms"] for name, own in cells.items() if hour.key in own}
        for hour in hours
    }
    draw_bars(groups, "CPU, ms, all messages of the file", folder / "decode.png")


PAGE = """# Decoding alone

`{command}` wrote this page; decode.png shows it.
CPU milliseconds to decode all messages of a file to float32 (in brackets: ecCodes = 1). If a decoder returns float64,
the cast is included.

{table}

**How.** Each decoder runs in its own process, the decoders in turn, file by file: one warm-up decode, then
{effort} (processes × rounds); medians of user + system time. wgrib2's time includes its start and its output (to a
file in memory). Goals on path.md use the median of the ratios to the gribmill run right after each. One thread
each; arrays are dropped one by one. – : not available, or failed (see below). Generated files ("made") are on the
models' real grids, with artificial weather (`benchmarks/hours.py`); real ones are the messages of ../shared/grib,
set to one date.

{machine}
"""


if __name__ == "__main__":
    main()
