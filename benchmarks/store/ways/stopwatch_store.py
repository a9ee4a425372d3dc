"""Times one function in this process and prints the result as JSON. Runs in the peers' environment too."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any


def measure(work: Callable[[], Any]) -> None:
    """CPU and wall time of the work, reported with its return value."""
    before, start = _cpu(), time.perf_counter()
    found = work()
    wall, cpu = time.perf_counter() - start, _cpu() - before
    sys.stdout.write(json.dumps({"cpu_s": cpu, "wall_s": wall, "found": found}) + "\n")


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
