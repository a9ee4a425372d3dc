"""The commands of every driver: fill, add, work. Standard library only, so that it runs in the peers' environments."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Protocol

WARM_UP_TURNS = 3


class Driver(Protocol):
    """One open queue."""

    def put(self, n: int) -> None:
        """Enqueue one job."""

    def put_many(self, count: int, batch: int) -> None:
        """Enqueue many, in the fastest way that the queue offers; `batch` of them belong together."""

    def work(self, batch: int, most: int | None = None) -> int:
        """Claim, do nothing, complete, until no job is left or at least `most` are done. Returns how many."""

    def claim(self) -> None:
        """Claim one job and leave it."""

    def finished_rows(self, count: int) -> bool:
        """Insert `count` finished jobs; False if the queue keeps none."""


def main(open_driver: Callable[[str, str], Driver]) -> None:
    """`DRIVER COMMAND PATH DURABILITY N [BATCH]`: prints one JSON object."""
    command, path, durability, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    batch = int(sys.argv[5]) if len(sys.argv) > 5 else 1
    driver = open_driver(path, durability)
    commands: dict[str, Callable[[], object]] = {
        "fill": lambda: _timed(lambda: driver.put_many(count, batch)),
        "many": lambda: _warm(driver, lambda: driver.put_many(count, batch)),
        "add": lambda: _warm(driver, lambda: _put_each(driver, count)),
        "work": lambda: _work(driver, batch),
        "claims": lambda: _claims(driver, count),
    }
    sys.stdout.write(json.dumps(commands[command]()) + "\n")


def _put_each(driver: Driver, count: int) -> None:
    for n in range(count):
        driver.put(n)


def _warm(driver: Driver, action: Callable[[], object]) -> dict[str, float]:
    """The first job of a process (imports, files, statements) is not timed, for any system."""
    driver.put(0)
    return _timed(action)


def _timed(action: Callable[[], object]) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    action()
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def _work(driver: Driver, batch: int) -> dict[str, float]:
    """Starts on a signal from the parent, so that several processes begin together. As in `_warm`, the first jobs are
    not counted."""
    driver.work(batch, WARM_UP_TURNS * batch)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    done = 0

    def drain() -> None:
        nonlocal done
        done = driver.work(batch)

    return {**_timed(drain), "count": done, "ended": time.time()}


def _claims(driver: Driver, finished: int) -> dict[str, object]:
    if not driver.finished_rows(finished):
        return {"latencies": None}
    driver.put_many(400, 1)
    latencies = []
    for _ in range(300):
        began = time.perf_counter()
        driver.claim()
        latencies.append(time.perf_counter() - began)
    return {"latencies": sorted(latencies), "pid": os.getpid()}
