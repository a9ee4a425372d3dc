"""`python -m benchmarks.decode`: every decoder over every file, each in its own process, into results/decode.md."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.decode.files import all_files
from benchmarks.machine import machine_lines
from benchmarks.peers import peer_python, versions

ROOT = Path(__file__).parents[1]
CONTENDER = Path(__file__).parent / "contender.py"
PEERS = ["numpy", "eccodes", "eccodeslib", "cfgrib", "xarray", "gribberish", "pygrib", "rasterio"]


@dataclass(frozen=True, slots=True)
class Row:
    """One decoder; `peer` names the environment it lives in, None is gribmill's own."""

    title: str
    name: str
    peer: str | None = "decode"


ROWS = (
    Row("cfgrib", "cfgrib"),
    Row("rasterio (GDAL)", "rasterio"),
    Row("gribberish", "gribberish"),
    Row("wgrib2", "wgrib2"),
    Row("pygrib", "pygrib"),
    Row("grib2io (g2c)", "grib2io", "grib2io"),
    Row("ecCodes, float64 cast to float32", "eccodes"),
    Row("gribmill, kernel off", "gribmill-off", None),
    Row("**gribmill**", "gribmill", None),
    Row("**gribmill**, into an array that is kept", "gribmill-reusing", None),
    Row("**gribmill**, eight windows of 1 % each", "gribmill-windows", None),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="decodes per process; the least counts")
    parser.add_argument("--passes", type=int, default=3, help="processes of each decoder for each file, in turn")
    parser.add_argument("--only", nargs="*", help="names of rows to run")
    options = parser.parse_args()
    lines = machine_lines()
    pythons = {"decode": peer_python("decode", PEERS), "grib2io": _optional("grib2io", ["grib2io"])}
    files = all_files()
    results: dict[str, dict[str, Any]] = {}
    rows = [row for row in ROWS if not options.only or row.name in options.only]
    # File after file and turn by turn, so that the decoders of one file see the same machine.
    for title, path in files.items():
        for number in range(options.passes):
            for row in rows:
                sys.stderr.write(f"{title}: {row.name} {number + 1}/{options.passes}\n")
                python = Path(sys.executable) if row.peer is None else pythons[row.peer]
                cells = results.setdefault(row.title, {})
                cells[title] = _better(cells.get(title), _run(python, row, path, options.rounds))
    effort = f"the least of {options.rounds} in each of {options.passes} processes"
    text = _text(results, list(files), lines, versions(pythons["decode"] or Path(), PEERS), effort)
    if not options.only:
        (ROOT / "results").mkdir(exist_ok=True)
        (ROOT / "results" / "decode.md").write_text(text, encoding="utf-8")
    sys.stdout.write(text)


def _optional(name: str, packages: list[str]) -> Path | None:
    try:
        return peer_python(name, packages)
    except subprocess.CalledProcessError:
        return None  # it has no wheel for this machine and cannot be built here


def _better(before: dict[str, float] | None, now: dict[str, float] | None) -> dict[str, float] | None:
    if before is None or now is None:
        return now or before
    return {"cpu_ms": min(before["cpu_ms"], now["cpu_ms"]), "peak_mb": max(before["peak_mb"], now["peak_mb"])}


def _run(python: Path | None, row: Row, path: Path, rounds: int) -> dict[str, float] | None:
    """The report of one process; None where that decoder is not here or cannot read the file."""
    if python is None:
        return None
    environment = dict(os.environ) | {"GRIBMILL_KERNEL": "off" if row.name == "gribmill-off" else ""}
    if row.peer is None:
        environment["PYTHONPATH"] = str(ROOT.parent)
    command = [python, CONTENDER, row.name, path, str(rounds)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        return None
    report: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return report


def _text(
    results: dict[str, dict[str, Any]], files: list[str], machine: list[str], peers: dict[str, str], effort: str
) -> str:
    base = results.get("ecCodes, float64 cast to float32", {})
    lines = [
        "# Decoding alone",
        "",
        "CPU milliseconds for all messages of a file to float32 (in brackets: ecCodes = 1).",
        "",
    ]
    lines += ["| | " + " | ".join(files) + " | peak MB |", "|---" * (len(files) + 2) + "|"]
    for title, cells in results.items():
        peak = max((cell["peak_mb"] for cell in cells.values() if cell), default=None)
        shown = " | ".join(_cell(cells.get(file), base.get(file)) for file in files)
        lines.append(f"| {title} | {shown} | {'–' if peak is None else f'{peak:.0f}'} |")
    lines += [
        "",
        f"Each decoder in a process of its own: one decode unmeasured, then {effort}, the decoders in turn.",
        "Arrays are taken one at a time and dropped. – : not installed, or it cannot read the file.",
        "",
    ]
    lines += [*machine, "- " + ", ".join(f"{name} {version}" for name, version in peers.items()), ""]
    return "\n".join(lines)


def _cell(cell: dict[str, float] | None, base: dict[str, float] | None) -> str:
    if not cell:
        return "–"
    ratio = f" ({cell['cpu_ms'] / base['cpu_ms']:.2f})" if base else ""
    return f"{cell['cpu_ms']:.0f}{ratio}"


if __name__ == "__main__":
    main()
