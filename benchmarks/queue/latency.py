"""How soon an idle worker starts a job that another process enqueues, and its CPU use while idle."""

from __future__ import annotations

import os
import random
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.queue.drivers.gribmill_worker import TYPES
from gribmill.database.sqlite import SqliteDatabase
from gribmill.queue.model import NewJob
from gribmill.queue.store import Store

JOBS = 60
IDLE_SECONDS = 10.0


def gribmill_latency(folder: Path) -> tuple[list[float], float]:
    """Seconds from the committed enqueue to the handler's first line; CPU share of all its processes while idle."""
    path = folder / "jobs.db"
    store = Store(SqliteDatabase(path), TYPES)
    worker = _start([sys.executable, "-m", "benchmarks.queue.drivers.gribmill_worker", str(path)])

    def add(file: str) -> float:
        store.jobs.enqueue(NewJob("stamp", {"file": file}))
        return time.time()

    return _measure(worker, folder, add)


def huey_latency(folder: Path, python: Path) -> tuple[list[float], float]:
    path = str(folder / "huey.db")
    command = [str(python), "-m", "benchmarks.queue.drivers.huey_worker"]
    worker = _start([*command, "consume", path])
    sender = subprocess.Popen(
        [*command, "add", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    assert sender.stdin is not None
    assert sender.stdout is not None
    to, back = sender.stdin, sender.stdout

    def add(file: str) -> float:
        to.write(file + "\n")
        to.flush()
        return float(back.readline())

    try:
        return _measure(worker, folder, add)
    finally:
        to.close()
        sender.wait()


def _measure(worker: subprocess.Popen[bytes], folder: Path, add: Callable[[str], float]) -> tuple[list[float], float]:
    try:
        _one(folder, add, "warm")
        latencies = []
        for n in range(JOBS):
            time.sleep(random.uniform(0.05, 0.25))
            latencies.append(_one(folder, add, str(n)))
        before, began = _cpu_seconds(worker.pid), time.monotonic()
        time.sleep(IDLE_SECONDS)
        idle = (_cpu_seconds(worker.pid) - before) / (time.monotonic() - began)
        return sorted(latencies), idle
    finally:
        worker.send_signal(signal.SIGTERM)
        try:
            worker.wait(20)
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()


def _one(folder: Path, add: Callable[[str], float], name: str) -> float:
    file = folder / f"stamp-{name}"
    enqueued = add(str(file))
    deadline = time.monotonic() + 60
    while not file.exists():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{name} was not picked up within a minute")
        time.sleep(0.0005)
    return float(file.read_text()) - enqueued


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    # The worker's executors import their job types from here.
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment)


def _cpu_seconds(pid: int) -> float:
    """User and system time of a process and of its living children."""
    total = 0.0
    for task in [pid, *_children(pid)]:
        fields = Path(f"/proc/{task}/stat").read_text().rsplit(")", 1)[1].split()
        total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def _children(pid: int) -> list[int]:
    found = []
    for listing in Path(f"/proc/{pid}/task").glob("*/children"):
        found += [int(word) for word in listing.read_text().split()]
    return found


def percentile(ascending: list[float], share: float) -> float:
    return ascending[min(len(ascending) - 1, int(share * len(ascending)))]


def median(values: list[float]) -> float:
    return statistics.median(values)
