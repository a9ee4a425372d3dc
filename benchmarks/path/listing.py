"""Listing a file's messages: as calls in a warm process, and as commands from start to end."""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.compiled import grib2io_python, wgrib2_program
from benchmarks.environment import ROOT, process_environment
from benchmarks.hours import count, made, whole_file
from benchmarks.peers import grib_python
from benchmarks.report import report_of

LISTER = Path(__file__).parent / "lister.py"


def measure(rounds: int) -> dict[str, Any]:
    """By program: median CPU milliseconds for the whole file, a real one if available."""
    path = whole_file() or made("gfs")
    calls: dict[str, list[float]] = {}
    commands: dict[str, list[float]] = {}
    failed: dict[str, str] = {}
    for number in range(rounds + 1):
        for name, python in _pythons().items():
            if python is not None:
                report = _called(name, python, path)
                if isinstance(report, str):
                    failed[name] = report
                else:
                    calls.setdefault(name, []).extend(report["cpu_ms"])
        for name, command in _commands(path).items():
            spent = _ran(command)
            if isinstance(spent, str):
                failed[name] = spent
            elif number:  # the first one compiles modules and reads the file into memory
                commands.setdefault(name, []).append(spent)
    return {
        "file": path.name if whole_file() else "made GFS hour",
        "messages": count(path),
        "calls": {name: round(statistics.median(times), 1) for name, times in calls.items()},
        "commands": {name: round(statistics.median(times), 1) for name, times in commands.items()},
        "failed": failed,
    }


def _pythons() -> dict[str, Path | None]:
    peers = dict.fromkeys(("cfgrib", "earthkit", "pygrib", "eccodes"), grib_python())
    return {**peers, "grib2io": grib2io_python().path, "gribmill": Path(sys.executable)}


def _called(name: str, python: Path, path: Path) -> dict[str, Any] | str:
    environment = process_environment(PYTHONPATH=str(ROOT) if name == "gribmill" else "")
    report: dict[str, Any] | str = report_of([python, LISTER, name, path, "2"], environment)
    return report


def _commands(path: Path) -> dict[str, list[str | Path]]:
    found: dict[str, list[str | Path]] = {
        "gribmill grib ls": [sys.executable, "-m", "gribmill", "grib", "ls", path],
        "gribmill grib ls --json": [sys.executable, "-m", "gribmill", "grib", "ls", "--json", path],
        "grib_list (pygrib)": [grib_python().with_name("grib_list"), path, "-s"],
    }
    if wgrib2 := wgrib2_program().path:
        found["wgrib2 -s"] = [wgrib2, "-s", path]
    if grib_ls := shutil.which("grib_ls"):
        found["grib_ls (ecCodes)"] = [grib_ls, path]
    return found


def _ran(command: list[str | Path]) -> float | str:
    """CPU milliseconds of one command, output discarded; or why it failed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with Path(os.devnull).open("w") as nowhere:
        try:
            subprocess.run(command, stdout=nowhere, stderr=nowhere, env=process_environment(), cwd=ROOT, check=True)
        except subprocess.CalledProcessError as error:
            return f"ended with exit code {error.returncode}"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3
