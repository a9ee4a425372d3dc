"""`python -m benchmarks.path`: encodings, growth, points, cold start; with results/tiles.json, the table of goals."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.machine import machine_lines
from benchmarks.path import encodings, growth, reading, shares
from gribmill.tiles.grib.kernel import state

RESULTS = Path(__file__).parents[1] / "results"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="one round: to see that it runs")
    options = parser.parse_args()
    rounds = 1 if options.quick else options.rounds
    lines = machine_lines()
    figures: dict[str, Any] = {"kernel": state(), "rounds": rounds}
    for name, work in (
        ("encodings", encodings.measure),
        ("growth", growth.measure),
        ("shares", shares.measure),
        ("point", reading.point_cpu),
        ("cold_start", reading.cold_start_cpu),
    ):
        sys.stderr.write(f"{name} …\n")
        figures[name] = work(rounds)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "path.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    draw(figures["growth"], RESULTS / "path.png")
    text = page(figures, lines)
    (RESULTS / "path.md").write_text(text, encoding="utf-8")
    sys.stdout.write(text)


def page(figures: dict[str, Any], lines: list[str]) -> str:
    """Method, the goals and what was reached, the growth."""
    rows = [
        f"| {what} | {goal} | {reached} | {'met' if met else '**missed**'} |"
        for what, goal, reached, met in goals(figures)
    ]
    grown = figures["growth"]
    return PAGE.format(
        machine="\n".join(lines),
        kernel=figures["kernel"],
        rounds=figures["rounds"],
        rows="\n".join(rows),
        regions=_counts(grown["regions"]),
        variables=_counts(grown["variables"]),
        shares=", ".join(f"{kind} {100 * share:.0f} %" for kind, share in figures["shares"].items()),
    )


def goals(figures: dict[str, Any]) -> list[tuple[str, str, str, bool]]:
    """Each row: what, the goal, the figure, whether it is met."""
    found = [*_tile_goals(), *_encoding_goals(figures["encodings"])]
    point, start = figures["point"], figures["cold_start"]
    spent = point["cpu_s"] * 1000
    what = f"`point`, {point['hours']:.0f} hours × {point['columns']:.0f} variables, warm"
    found.append((what, "≤ 50 ms of CPU", f"{spent:.0f} ms", spent <= 50))
    own = start["worker_cpu_s"]
    found.append(("cold start of a worker to first claim", "≤ 0.5 s of CPU", f"{own:.2f} s", own <= 0.5))
    return found


def _tile_goals() -> list[tuple[str, str, str, bool]]:
    path = RESULTS / "tiles.json"
    if not path.is_file():
        return []
    ways = json.loads(path.read_text())
    own = ways["gribmill_way"]["cpu_s"]
    found = []
    for script, title, goal in (
        ("cfgrib_per_region", "cfgrib + xarray + savez_compressed per region", 60),
        ("eccodes_by_hand", "ecCodes once + savez_compressed", 12),
        ("eccodes_fast_zip", "ecCodes once + ISA-L (gribmill's writer)", 2.5),
    ):
        ratio = ways[script]["cpu_s"] / own
        found.append((f"12 messages × 8 regions against {title}", f"≤ 1/{goal:g}", f"1/{ratio:.1f}", ratio >= goal))
    above = own / ways["floor"]["cpu_s"]
    found.append(("the same against the floor", "≤ 5 ×", f"{above:.1f} ×", above <= 5))
    peak = ways["gribmill_way"]["peak_mb"]
    found.append(("peak memory of that build", "≤ 150 MB", f"{peak:.0f} MB", peak <= 150))
    return found


def _encoding_goals(kinds: dict[str, Any]) -> list[tuple[str, str, str, bool]]:
    found = []
    for encoding, size, part in (("fast", 1.2, 15), ("compact", 1.0, 4), ("packed", 0.8, 10)):
        for kind, each in kinds.items():
            is_size, is_cpu = each[encoding]["size"], 1 / each[encoding]["cpu"]
            goal = f"≤ {size:.1f} × size at ≤ 1/{part} CPU"
            met = is_size <= size and is_cpu >= part
            found.append((f"`{encoding}`, {kind} fields", goal, f"{is_size:.2f} × at 1/{is_cpu:.1f}", met))
    return found


def draw(grown: dict[str, dict[int, float]], path: Path) -> None:
    """CPU over the number of regions and of variables."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(8, 3), layout="constrained")
    for axis, (what, points) in zip(axes, grown.items(), strict=True):
        axis.plot(list(points), [1000 * spent for spent in points.values()], "o-")
        axis.set(xlabel=what, ylabel="CPU, ms", xlim=(0, None), ylim=(0, None))
        axis.grid(alpha=0.3)
    figure.savefig(path, dpi=80)


def _counts(points: dict[int, float]) -> str:
    return ", ".join(f"{count}: {1000 * spent:.0f}" for count, spent in points.items())


PAGE = """# The path: encodings, growth, points, cold start

`make bench-path` wrote this page. Read the figures as ratios; decoding alone is in decode.md, the ways from GRIB
to tiles in tiles.md, of which the first rows here are taken.

{machine}
- decode kernel: {kernel}

**How.** CPU is user + system time of the process; {rounds} rounds, interleaved where ways are compared; medians,
and for growth the least. Encodings: twelve generated HRRR fields, and the real HRRR fields of ../shared/grib where
that folder is there, each cut for three regions, values as decoded (winds not turned), written to memory. Point:
49 tiles of `ne` that the system has in memory, modules loaded. Cold start: a fresh `gribmill work` beside a queue
with one job, its own process, read from /proc when the job is claimed.

| row | goal | here | |
|---|---|---|---|
{rows}

**Growth** (path.png). A build's CPU in ms, 12 messages, by regions of 4° × 2.5°: {regions}. Eight such regions, by
variables: {variables}.

**Where a build's time goes** (profiler, 12 messages × 8 regions, a further hour): {shares}.
"""


if __name__ == "__main__":
    main()
