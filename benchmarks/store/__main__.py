"""`python -m benchmarks.store`: tiles on an S3 server and on disk, beside zarr with s3fs, into results/store.md."""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shutil
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.environment import ROOT, process_environment
from benchmarks.machine import machine_lines
from benchmarks.peers import peer_python, versions
from benchmarks.report import missing_lines, report_of
from benchmarks.results_folder import command, results_folder
from benchmarks.store.stock import HOURS, LAT, LON, Stock, stock
from tests.servers.seaweed import BUCKET, KEY, SECRET, ObjectServer, is_ready, start_weed
from tests.servers.shared import end_guardian, guard
from tests.waiting import wait_until

WAYS = Path(__file__).parent / "ways"
PEERS = ["xarray", "zarr", "s3fs", "numpy"]
COUNTED = re.compile(r'SeaweedFS_s3_request_total\{bucket="tiles",[^}]*\} (\d+)')
SENT = re.compile(r'SeaweedFS_s3_bucket_traffic_sent_bytes_total\{bucket="tiles"\} ([\d.e+]+)')
# The server updates its metrics after it has sent a response.
SETTLE_SECONDS = 0.5


@dataclass(frozen=True)
class Way:
    """One row: its title, and the arguments of its process."""

    title: str
    script: str
    what: str
    place: str
    source: str = "-"
    at: tuple[str, str] = ("0", "0")


@dataclass
class Bench:
    """A server, and the processes that are measured with it."""

    server: ObjectServer
    metrics: str
    python: Path

    def run(self, way: Way) -> dict[str, Any] | str:
        """One process: CPU, wall, requests, bytes sent by the server, and the values that it read."""
        ours = way.script == "gribmill_way.py"
        python = Path(sys.executable) if ours else self.python
        environment = process_environment(
            PYTHONPATH=f"{WAYS}{os.pathsep}{ROOT}" if ours else str(WAYS),
            AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET, BENCH_ENDPOINT=self.server.endpoint,
            GRIBMILL_STORE_ENDPOINT=self.server.endpoint, NO_PROXY="127.0.0.1", AWS_EC2_METADATA_DISABLED="true",
        )  # fmt: skip
        before = self.counts()
        words: list[str | Path] = [python, WAYS / way.script, way.what, way.place, way.source, *way.at]
        found = report_of(words, environment)
        if isinstance(found, str):
            return found
        requests, sent = (now - then for now, then in zip(self.counts(), before, strict=True))
        return {**found, "requests": requests, "sent": sent}

    def counts(self) -> tuple[float, float]:
        time.sleep(SETTLE_SECONDS)
        with urllib.request.urlopen(f"{self.metrics}/metrics") as answer:
            text = answer.read().decode()
        return sum(map(float, COUNTED.findall(text))), sum(map(float, SENT.findall(text)))


@contextmanager
def running(python: Path) -> Iterator[Bench]:
    home = Path(tempfile.mkdtemp(prefix="gribmill-bench-store-"))
    how = start_weed(home)
    os.environ.update(AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET)
    number = guard(home, how)
    try:
        server = ObjectServer(how.facts["endpoint"], home)
        wait_until(lambda: is_ready(server), 90, "the S3 server")
        yield Bench(server, how.facts["metrics"], python)
    finally:
        end_guardian(number)
        shutil.rmtree(home, ignore_errors=True)


def ways(made: Stock, scratch: Path) -> tuple[dict[str, Way], dict[str, Way]]:
    """What is written, and then read."""
    url, at = f"s3://{BUCKET}/bench", (str(LAT), str(LON))
    cell = (str(made.row), str(made.column))
    writing = {
        "local": Way("gribmill, local disk (fsync)", "gribmill_way.py", "write", str(scratch), str(made.tiles), at),
        "gribmill": Way("**gribmill**, S3", "gribmill_way.py", "write", f"{url}/tiles", str(made.tiles), at),
        "zarr": Way("xarray + zarr + s3fs, hour by hour", "zarr_way.py", "write", f"{url}/zarr", str(made.zarr), cell),
        "rechunked": Way(
            "xarray + zarr + s3fs, all hours at once, chunked by place", "zarr_way.py", "rechunk", f"{url}/rechunked",
            str(made.zarr), cell,
        ),
    }  # fmt: skip
    reading = {
        "local": Way("gribmill, local disk", "gribmill_way.py", "point", str(scratch), "-", at),
        "gribmill": Way("**gribmill**, S3", "gribmill_way.py", "point", f"{url}/tiles", "-", at),
        "zarr": Way("xarray + zarr + s3fs, hour by hour", "zarr_way.py", "point", f"{url}/zarr", "-", cell),
        "rechunked": Way("the same, chunked by place", "zarr_way.py", "point", f"{url}/rechunked", "-", cell),
    }
    return writing, reading


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="processes of each way")
    parser.add_argument("--quick", action="store_true", help="one round, into results/quick, to check that it runs")
    options = parser.parse_args()
    rounds = 1 if options.quick else options.rounds
    lines = machine_lines()
    python = peer_python("store", PEERS)
    made = stock(python)
    results: dict[str, dict[str, list[dict[str, Any]]]] = {"write": {}, "point": {}}
    reasons: dict[str, str] = {}
    with running(python) as bench, tempfile.TemporaryDirectory() as scratch:
        writing, reading = ways(made, Path(scratch))
        for number in range(rounds + 2):
            part, chosen = ("point", reading) if number else ("write", writing)
            for name, way in chosen.items():
                sys.stderr.write(f"{part}, round {number}/{rounds + 1}: {name}\n")
                found = bench.run(way)
                if isinstance(found, str):
                    reasons[f"{part} {name}"] = found
                elif number != 1:  # the first process that reads compiles modules
                    results[part].setdefault(name, []).append(found)
    text = page(results, [*lines, *missing_lines(reasons)], rounds, made, (writing, reading), python)
    pages = results_folder(quick=options.quick)
    (pages / "store.md").write_text(text, encoding="utf-8")
    kept = {
        part: {name: [{key: one[key] for key in one if key != "found"} for one in runs] for name, runs in each.items()}
        for part, each in results.items()
    }
    (pages / "store.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(text)


def median(runs: list[dict[str, Any]], key: str) -> float:
    return float(statistics.median(one[key] for one in runs))


def rows(results: dict[str, list[dict[str, Any]]], chosen: dict[str, Way]) -> str:
    return "\n".join(
        f"| {way.title} | {median(runs, 'requests'):.0f} | {median(runs, 'wall_s') * 1000:.0f} "
        f"| {median(runs, 'cpu_s') * 1000:.0f} | {median(runs, 'sent') / 1e6:.1f} |"
        if (runs := results.get(name))
        else f"| {way.title} |{' – |' * 4}"
        for name, way in chosen.items()
    )


def same_values(one: dict[str, list[float]], other: dict[str, list[float]]) -> bool:
    shared = one.keys() & other.keys()
    return len(shared) > 5 and all(
        all(math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-5) for a, b in zip(one[name], other[name], strict=True))
        for name in shared
    )


def page(
    results: dict[str, dict[str, list[dict[str, Any]]]],
    lines: list[str],
    rounds: int,
    made: Stock,
    chosen: tuple[dict[str, Way], dict[str, Way]],
    python: Path,
) -> str:
    point = results["point"]
    ours, usual = point.get("gribmill"), point.get("zarr")
    verdict = "A row is missing: nothing is compared."
    if ours and usual:
        requests = median(usual, "requests") / median(ours, "requests")
        wall = median(usual, "wall_s") / median(ours, "wall_s")
        same = "The values are the same." if same_values(ours[0]["found"], usual[0]["found"]) else "**Values differ.**"
        verdict = (
            f"gribmill takes 1/{requests:.1f} of the requests and 1/{wall:.1f} of the time of zarr appended hour by"
            f" hour (goal: 1/5 of both). {same}"
        )
    found = versions(python, PEERS)
    return PAGE.format(
        command=command("store"), machine="\n".join(lines), hours=HOURS, size=made.bytes_of_tile / 1e6, rounds=rounds,
        peers=", ".join(f"{name} {found[name]}" for name in PEERS), verdict=verdict,
        writing=rows(results["write"], chosen[0]), reading=rows(point, chosen[1]),
    )  # fmt: skip


PAGE = """# Tiles in an object store

`{command}` wrote this page.

{machine}
- {peers}
- the machine also did other work: compare rows, not dates

**What.** A run of {hours} hours of HRRR over New England with twelve variables ({size:.1f} MB a tile), in SeaweedFS on
loopback. The common alternative is a zarr store to which each hour is appended as it arrives, with consolidated
metadata, read with xarray and s3fs. A zarr store that is rewritten when the run is complete, with all hours of a place
in one chunk, needs few requests for a point; but it cannot be appended to, and a map of one hour reads every chunk.

**How.** A new process for every round, {rounds} rounds, interleaved; medians. Times include the connection, the
choice of the run and all metadata, but not imports. CPU is the process's. The server counts requests and bytes.

## Point over a run: {hours} hours, twelve variables

| way | requests | wall ms | CPU ms | MB read |
|---|---|---|---|---|
{reading}

{verdict}

## Writing the {hours} tiles of a run

Measured once, into an empty bucket. A tile is one conditional request, which fails if the object exists. Then
gribmill reads its generation, so that a late worker never replaces a newer tile, and writes on condition that the
object has not changed since.

| way | requests | wall ms | CPU ms | MB read |
|---|---|---|---|---|
{writing}

## What is not measured here

A real network. There a request takes 10 to 100 ms, and the number of requests decides; gribmill sends up to 16 at
once.
"""


if __name__ == "__main__":
    main()
