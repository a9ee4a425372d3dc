"""Times one way of cutting tiles: `python WAY.py FILE REGIONS_JSON OUT`. Runs in the peers' environment too."""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

Boxes = dict[str, tuple[float, float, float, float]]
Work = Callable[[Path, Boxes, Path], None]
PASSES = 4  # the first file of a process, and further ones, of which the least counts


def main(work: Work, temperature: str) -> None:
    """Do the work again and again; print CPU and wall (first, further), peak memory and what was written, as JSON."""
    path, boxes, out = Path(sys.argv[1]), json.loads(sys.argv[2]), Path(sys.argv[3])
    cpu, wall = [], []
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    passes = int(os.environ.get("BENCH_PASSES", PASSES))
    for _ in range(passes):
        before, start = sum(os.times()[:4]), time.perf_counter()
        work(path, boxes, out)
        wall.append(time.perf_counter() - start)
        cpu.append(sum(os.times()[:4]) - before)
    report = {
        "cpu": [cpu[0], min(cpu[1:])],
        "wall": [wall[0], min(wall[1:])],
        "all_cpu": sum(cpu),
        "peak_mb": peak_mb(),
        **written(out, temperature),
    }
    sys.stdout.write(json.dumps(report) + "\n")


def peak_mb() -> float:
    """Most memory in use, of this process or of a child. Not ru_maxrss of itself: that starts with the parent's."""
    status = Path("/proc/self/status").read_text()
    own = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    return max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1024


def written(out: Path, temperature: str) -> dict[str, object]:
    """How much was written, and one value by which the ways can be held against each other."""
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
                field = loaded[temperature]
                rows, columns = field.shape
                probe = [rows, columns, round(float(field[rows // 2, columns // 2]), 2)]
    return {"bytes": sum(path.stat().st_size for path in tiles), "arrays": arrays, "probe": probe}
