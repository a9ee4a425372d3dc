"""Times one cutting program: `python WAY.py FILE REGIONS_JSON OUT PASSES`. Runs in the peers' environment too."""

from __future__ import annotations

import json
import resource
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Boxes = dict[str, tuple[float, float, float, float]]
Work = Callable[[Path, Boxes, Path], None]


def main(work: Work, temperature: str) -> None:
    """Do the work several times; print CPU and wall time of each pass, peak memory and the output size as JSON."""
    path, boxes, out, passes = Path(sys.argv[1]), json.loads(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
    cpu, wall = [], []
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for _ in range(passes):
        before, start = spent(), time.perf_counter()
        work(path, boxes, out)
        wall.append(time.perf_counter() - start)
        cpu.append(spent() - before)
    report = {
        "cpu": cpu,
        "wall": wall,
        "peak_mb": peak_mb(),
        **written(out, temperature),
    }
    sys.stdout.write(json.dumps(report) + "\n")


def spent() -> float:
    """User and system time of this process and of programs that it ran."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in both)


def peak_mb() -> float:
    """Peak memory of this process or of a child. Its own ru_maxrss would start with the parent's."""
    status = Path("/proc/self/status").read_text()
    own = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    return max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1024


def written(out: Path, temperature: str) -> dict[str, object]:
    """The output size, and one value by which contenders can be compared."""
    import numpy as np

    tiles = [path for path in out.rglob("*") if path.is_file()]
    arrays = 0
    probe: object = None
    for path in tiles:
        if path.suffix != ".npz" or path.name.startswith("grid"):
            continue
        with np.load(path) as loaded:
            fields = [name for name in loaded.files if loaded[name].ndim == 2 and name not in ("lat", "lon")]
            arrays += len(fields)
            if "ne" in (path.stem, path.parent.name):
                probe = middle(loaded[temperature]) if temperature in loaded.files else None
    return {"bytes": sum(path.stat().st_size for path in tiles), "arrays": arrays, "probe": probe}


def middle(field: Any) -> list[float]:
    """Rows, columns and the mean of the middle part, which does not depend on the order of rows."""
    rows, columns = field.shape
    part = field[rows // 4 : rows - rows // 4, columns // 4 : columns - columns // 4]
    return [rows, columns, round(float(part.mean(dtype="f8")), 3)]
