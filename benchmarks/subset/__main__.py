"""`python -m benchmarks.subset`: twelve messages of an HRRR hour over HTTP, into results/subset.md."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.environment import ROOT, SCRATCH, process_environment
from benchmarks.machine import machine_lines
from benchmarks.peers import grib_python, versions
from benchmarks.report import missing_lines, report_of
from benchmarks.results_folder import command, results_folder
from gribmill.grib.messages import walk
from gribmill.ingest.models.registry import load_models
from gribmill.sandbox.forecast.forecast import Forecaster
from gribmill.sandbox.publication import plan, publish
from gribmill.sandbox.publisher.server import Server

WAYS = Path(__file__).parent / "ways"
RUN, HOURS = "20260901_12", (1, 2, 3)
# The same twelve messages, in the syntax of each program.
VARIABLES = "t2m,d2m,u10,v10,gust,sp,tp,refc,vis,cape,tcc,csnow"
SEARCH = (
    r":(?:TMP:2 m above|DPT:2 m above|[UV]GRD:10 m above|GUST:surface|PRES:surface|APCP:surface:0-|REFC:|VIS:surface"
    r"|CAPE:surface|TCDC:entire atmosphere|CSNOW:surface)"
)
KEPT = ("cpu_s", "wall_s", "requests", "sent", "bytes", "messages")
TITLES = {
    "herbie_way": "Herbie, `download(search)`",
    "gribmill_way": "**gribmill**, the download of `ingest_grib`",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="processes of each; each fetches three hours")
    parser.add_argument("--quick", action="store_true", help="one round, into results/quick, to check that it runs")
    options = parser.parse_args()
    rounds = 1 if options.quick else options.rounds
    lines = machine_lines()
    folder = stock()
    found: dict[str, list[dict[str, Any]]] = {way: [] for way in TITLES}
    reasons: dict[str, str] = {}
    for number in range(rounds + 1):
        for way in TITLES:
            sys.stderr.write(f"round {number}/{rounds}: {way}\n")
            hours = run(way, folder)
            if isinstance(hours, str):
                reasons[way.removesuffix("_way")] = hours
            elif number:
                # The first hour of a process includes imports; the first process compiles them.
                found[way] += hours[1:]
    if not found["gribmill_way"]:
        raise SystemExit(f"gribmill failed: {reasons['gribmill']}")
    whole = sum((folder / key).stat().st_size for key in keys(folder)) / len(HOURS)
    text = page(found, [*lines, *missing_lines(reasons)], rounds, whole)
    pages = results_folder(quick=options.quick)
    (pages / "subset.md").write_text(text, encoding="utf-8")
    kept = {way: [{key: one[key] for key in KEPT} for one in hours] for way, hours in found.items()}
    (pages / "subset.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(text)


def stock() -> Path:
    """The mirror's folder: three hours of HRRR on its real grid, made once."""
    folder = SCRATCH / f"subset-{RUN}"
    if not (folder / "ready").is_file():
        sys.stderr.write("making three hours of HRRR …\n")
        now = datetime(2026, 9, 2, tzinfo=UTC)
        chosen = plan([load_models()["hrrr"]], "1-3", now, run=RUN)
        for _ in publish(chosen, folder, Forecaster(seed=0)):
            pass
        (folder / "ready").touch()
    return folder


def keys(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.grib2"))


def run(way: str, folder: Path) -> list[dict[str, Any]] | str:
    """One process against a new mirror: CPU, wall, requests, bytes and a checksum of the messages, by hour; or why it
    failed.
    """
    python = grib_python() if way == "herbie_way" else Path(sys.executable)
    path = str(WAYS) if way == "herbie_way" else f"{WAYS}{os.pathsep}{ROOT}"
    # Like the clouds, which send no checksums with ranges.
    with tempfile.TemporaryDirectory() as home, Server(folder, digests=False) as server:
        environment = process_environment(
            PYTHONPATH=path, BENCH_SEARCH=SEARCH, BENCH_VARIABLES=VARIABLES, NO_PROXY="127.0.0.1", HOME=home,
            HERBIE_CONFIG_PATH=home,
        )  # fmt: skip
        words: list[str | Path] = [
            python,
            WAYS / f"{way}.py",
            f"{server.url}aws-hrrr/",
            RUN,
            ",".join(map(str, HOURS)),
            home,
        ]
        hours: list[dict[str, Any]] | str = report_of(words, environment)
        if isinstance(hours, str):
            return hours
        seen = list(server.seen)
        for hour, one in zip(HOURS, hours, strict=True):
            own = [request for request in seen if f"wrfsfcf{hour:02d}" in request.key]
            content = Path(one["path"]).read_bytes()
            messages = [content[m.offset : m.offset + m.length] for m in walk(content, one["path"])]
            one |= {"requests": len(own), "sent": sum(request.sent for request in own), "messages": len(messages)}
            one["digest"] = hashlib.sha256(b"".join(sorted(messages))).hexdigest()
    return hours


def page(found: dict[str, list[dict[str, Any]]], lines: list[str], rounds: int, whole: float) -> str:
    def median(way: str, key: str) -> float:
        return float(statistics.median(one[key] for one in found[way]))

    rows = [
        f"| {title} | {median(way, 'cpu_s') * 1000:.0f} | {median(way, 'wall_s') * 1000:.0f} "
        f"| {median(way, 'requests'):.0f} | {median(way, 'sent') / 1e6:.2f} | {median(way, 'bytes') / 1e6:.2f} "
        f"| {median(way, 'messages'):.0f} |"
        if found[way]
        else f"| {title} |{' – |' * 6}"
        for way, title in TITLES.items()
    ]
    same = len({frozenset(one["digest"] for one in hours) for hours in found.values()}) == 1
    ratio = f"1/{median('herbie_way', 'cpu_s') / median('gribmill_way', 'cpu_s'):.1f}" if found["herbie_way"] else "–"
    return PAGE.format(
        command=command("subset"), machine="\n".join(lines), rounds=rounds,
        herbie=versions(grib_python(), ["herbie-data"])["herbie-data"], rows="\n".join(rows), ratio=ratio,
        same="the same, byte for byte" if same else "**not the same**", whole=whole / 1e6,
    )  # fmt: skip


PAGE = """# The subset step: twelve messages of an HRRR hour

`{command}` wrote this page.

{machine}
- Herbie {herbie}

**What.** Three hours of HRRR on its real grid (57 messages, {whole:.0f} MB each, made by `gribmill sandbox --make`) are
served by `gribmill.sandbox` on loopback, without checksums, as the clouds do. Each program fetches the same twelve
messages of each, found in the index. The downloaded messages are {same}.

**How.** A new process for every round, {rounds} rounds, interleaved; medians of the second and third hour of each. CPU
is user + system time of the process and of programs that it runs, without the mirror. The mirror counts requests and
bytes, including HEAD and the index.

**Not the same.** gribmill checks every message (length, header, time) against the index and the request, keeps a
journal so that an interrupted download can resume, and checksums and fsyncs the file. Herbie checks nothing.

| way | CPU ms | wall ms | requests | MB sent | MB kept | messages |
|---|---|---|---|---|---|---|
{rows}

gribmill takes {ratio} of Herbie's CPU.
"""


if __name__ == "__main__":
    main()
