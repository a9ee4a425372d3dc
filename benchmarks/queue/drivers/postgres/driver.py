"""The protocol of every driver: it reads a JSON object per line and answers with one. Standard library only."""

from __future__ import annotations

import json
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, Protocol

# The first jobs of a process (imports, prepared statements) are not counted, for any system.
WARM_TURNS = 8
_forked = multiprocessing.get_context("fork")


class Stop(NamedTuple):
    """When a worker ends: after some seconds or jobs."""

    seconds: float
    jobs: int


class Driver(Protocol):
    """One queue in one database. Connections are opened by the process that uses them."""

    url: str

    def __init__(self, url: str) -> None: ...

    def create(self, finished: int) -> None:
        """Create the tables, and insert `finished` finished jobs."""

    def pending(self, count: int, batch: int) -> None:
        """Fill up the ready jobs, to be claimed singly (1) or in batches, and update the planner's statistics."""

    def add(self, count: int) -> None:
        """Enqueue jobs one by one, as a program would."""

    def work(self, batch: int) -> Iterator[int]:
        """Claim and complete until no job is left; yields the number of jobs each time."""

    def claim(self) -> Callable[[], None]:
        """A function that claims one job and leaves it."""


def main(kind: type[Driver]) -> None:
    while line := sys.stdin.readline():
        asked = json.loads(line)
        name, driver = asked.pop("command"), kind(asked.pop("url"))
        _say(_COMMANDS[name](driver, **asked))


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _work(driver: Driver, processes: int, batch: int, seconds: float, jobs: int) -> dict[str, Any]:
    """Several processes that start together, on a line of input."""
    stop = Stop(seconds, jobs // processes)
    pipes = [_forked.Pipe() for _ in range(processes)]
    workers = [
        _forked.Process(target=_one_worker, args=(type(driver), driver.url, batch, stop, end)) for _, end in pipes
    ]
    for worker in workers:
        worker.start()
    for pipe, _ in pipes:
        pipe.recv()
    _say({"ready": processes})
    sys.stdin.readline()
    began = time.monotonic()
    for pipe, _ in pipes:
        pipe.send("go")
    results = [pipe.recv() for pipe, _ in pipes]
    for worker in workers:
        worker.join()
    return {
        "done": sum(done for done, _, _ in results),
        "cpu": sum(cpu for _, cpu, _ in results),
        "wall": max(ended for _, _, ended in results) - began,
    }


def _one_worker(kind: type[Driver], url: str, batch: int, stop: Stop, pipe: Connection) -> None:
    # A separate driver: processes that share the parent's event loop would wake each other.
    turns = kind(url).work(batch)
    for _ in range(WARM_TURNS):
        next(turns)
    pipe.send("ready")
    pipe.recv()
    cpu, until, done = time.process_time(), time.monotonic() + stop.seconds, 0
    for jobs in turns:
        done += jobs
        if time.monotonic() > until or done >= stop.jobs:
            break
    pipe.send((done, time.process_time() - cpu, time.monotonic()))


def _add(driver: Driver, count: int) -> dict[str, Any]:
    driver.add(WARM_TURNS)
    wall, cpu = time.perf_counter(), time.process_time()
    driver.add(count)
    return {"done": count, "wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def _claims(driver: Driver, count: int) -> dict[str, Any]:
    claim = driver.claim()
    for _ in range(WARM_TURNS):
        claim()
    seconds = []
    for _ in range(count):
        began = time.perf_counter()
        claim()
        seconds.append(time.perf_counter() - began)
    return {"seconds": sorted(seconds)}


def _create(driver: Driver, finished: int) -> dict[str, Any]:
    driver.create(finished)
    return {}


def _pending(driver: Driver, count: int, batch: int) -> dict[str, Any]:
    driver.pending(count, batch)
    return {}


_COMMANDS: dict[str, Callable[..., dict[str, Any]]] = {
    "create": _create,
    "pending": _pending,
    "add": _add,
    "work": _work,
    "claims": _claims,
}
