"""`python -m benchmarks.path`: the whole job, encodings, growth, reading, cold start; and the table of all goals."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.machine import machine_lines
from benchmarks.path import cold_start, encodings, growth, job, listing, reading
from benchmarks.path.goals import goals
from benchmarks.path.plot import draw, line
from benchmarks.report import missing_lines
from benchmarks.results_folder import command, results_folder
from gribmill.kernel.native import state

PARTS = {
    "job": job.measure,
    "encodings": encodings.measure,
    "growth": growth.measure,
    "reading": reading.measure,
    "listing": listing.measure,
    "cold_start": cold_start.measure,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="one round, into results/quick, to check that it runs")
    parser.add_argument("--only", nargs="*", choices=list(PARTS), help="only these parts; keep the others")
    parser.add_argument("--page", action="store_true", help="measure nothing; rewrite the page from path.json")
    options = parser.parse_args()
    rounds = 1 if options.quick else options.rounds
    folder = results_folder(quick=options.quick)
    kept = folder / "path.json"
    figures: dict[str, Any] = json.loads(kept.read_text()) if (options.only or options.page) else {}
    chosen = [] if options.page else options.only or list(PARTS)
    if chosen:
        figures |= {"kernel": state(), "machine": machine_lines()}
    for name in chosen:
        sys.stderr.write(f"{name} …\n")
        figures[name] = PARTS[name](rounds)
        figures.setdefault("commands", {})[name] = f"`{command('path')}` ({rounds} round{'s' if rounds > 1 else ''})"
    kept.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    figures = json.loads(kept.read_text())
    draw(figures, folder / "path.png")
    text = page(figures, folder)
    (folder / "path.md").write_text(text, encoding="utf-8")
    sys.stdout.write(text)


def page(figures: dict[str, Any], folder: Path) -> str:
    """The method, goals and results, then each part."""
    read, listed = figures["reading"], figures["listing"]
    return PAGE.format(
        commands=_commands(figures.get("commands", {})),
        machine="\n".join(figures["machine"]),
        kernel=figures["kernel"],
        goals="\n".join(map(str, goals(figures, folder))),
        regions=_counts(figures["growth"]["regions"]),
        variables=_counts(figures["growth"]["variables"]),
        job=_job(figures["job"]),
        reading="\n".join(f"| {name} | {spent:.1f} |" for name, spent in read["cpu_ms"].items()),
        file=listed["file"],
        messages=listed["messages"],
        listing="\n".join(
            f"| {name} | {spent:.0f} | {kind} |"
            for kind in ("calls", "commands")
            for name, spent in sorted(listed[kind].items(), key=lambda item: item[1])
        ),
        failed="".join(f"\n{line}\n" for line in missing_lines(listed.get("failed", {}))),
        start=figures["cold_start"]["worker_cpu_s"],
        whole=figures["cold_start"]["with_executors_cpu_s"],
    )


def _commands(by_part: dict[str, str]) -> str:
    """The commands that measured the parts, if recorded."""
    found: dict[str, list[str]] = {}
    for part in PARTS:
        found.setdefault(by_part.get(part, "an earlier run"), []).append(part.replace("_", " "))
    return "; ".join(f"{words}: {', '.join(parts)}" for words, parts in found.items())


def _job(models: dict[str, Any]) -> str:
    """A column for each model and clock."""
    columns = [(model, clock) for model in models.values() for clock in ("cpu", "wall")]
    rows = [
        "| stage | " + " | ".join(f"{model['title']}, {clock} ms" for model, clock in columns) + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    stages = dict.fromkeys(stage for model, clock in columns for stage in model[clock]["stages"])
    for stage in stages:
        cells = []
        for model, clock in columns:
            spent, whole = model[clock]["stages"].get(stage, 0.0), model[clock]["seconds"]
            cells.append(f"{1000 * spent:.2f} ({100 * spent / whole:.1f} %)")
        rows.append(f"| {stage} | {' | '.join(cells)} |")
    whole = " | ".join(f"**{1000 * model[clock]['seconds']:.1f}**" for model, clock in columns)
    return "\n".join([*rows, f"| **all** | {whole} |"])


def _counts(points: dict[str, float]) -> str:
    start, slope = line({int(count): spent for count, spent in points.items()})
    shown = ", ".join(f"{count}: {1000 * spent:.1f}" for count, spent in points.items())
    return f"{shown} (best line: {1000 * start:.1f} + {1000 * slope:.2f} each)"


PAGE = """# The path: goals, the whole job, encodings, growth, reading, cold start

Read the figures as ratios; path.png shows growth and shares. Decoding alone is in decode.md, the ways from GRIB to
tiles in tiles.md: the rows here are from their latest runs.

- measured by {commands}
{machine}
- decode kernel: {kernel}

**How.** CPU is user + system time; at least as many rounds as above, interleaved if programs are compared; medians.
For encodings: medians of each round's ratios.

## Goals

| row | goal | here | |
|---|---|---|---|
{goals}

Encodings: each file's fields, cut for three regions and not rotated, are written to memory and compared with
savez_compressed. Arrays of 0.25° models have some 2,000 points; there, headers and tables take more than the values.

## The whole job

A batch of eight regions of one hour of twelve messages, from claim to complete, once the worker is warm: a real
supervisor with its SQLite queue (synchronous=FULL), a real executor process, the handler of `build_tile`, then
`publish`. Both processes sample themselves every half millisecond, by CPU clock in one run and by wall clock in
another; waiting for each other is not counted. The innermost function of gribmill decides the stage of a sample.
Decoding and cutting are one native call, as are encoding and the statistics of float32 values.

{job}

## Growth

A build's CPU in ms, 12 messages, by regions of 4° × 2.5°: {regions}. Eight such regions, by variables: {variables}.

## Reading

49 tiles of `ne` with 12 variables, in the page cache, in a process that did the same just before. CPU ms:

| | CPU ms |
|---|---|
{reading}

## Listing

{messages} messages ({file}), name, level, step and time of each.
Calls: in a warm process; commands: from start to end, output discarded, modules compiled. CPU ms:

| | CPU ms | |
|---|---|---|
{listing}
{failed}
## Cold start

A new `gribmill work` on a queue with one job, modules compiled as after installation by pip; CPU time read from /proc
when the job is claimed: {start:.2f} s of CPU in its own process, {whole:.2f} s with its executors.
"""


if __name__ == "__main__":
    main()
