"""Times one program that fetches: `python WAY.py ROOT DATE HOURS FOLDER`. Runs in the peers' environment too."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

# Root of the mirror, hour, target folder; returns the downloaded file.
Fetch = Callable[[str, int, Path], Path]


def main(make: Callable[[str], Fetch]) -> None:
    """Hour after hour in one process; CPU, wall and the file of each, as JSON. The first pays for imports."""
    root, date, hours, folder = sys.argv[1], sys.argv[2], sys.argv[3], Path(sys.argv[4])
    fetch = make(date)
    found = []
    for hour in map(int, hours.split(",")):
        home = folder / str(hour)
        home.mkdir(parents=True, exist_ok=True)
        before, start = spent(), time.perf_counter()
        path = fetch(root, hour, home)
        cpu, wall = spent() - before, time.perf_counter() - start
        found.append({"cpu_s": cpu, "wall_s": wall, "path": str(path), "bytes": path.stat().st_size})
    sys.stdout.write(json.dumps(found) + "\n")


def spent() -> float:
    """User and system time of this process and of programs that it ran."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in both)
