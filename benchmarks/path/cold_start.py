"""A worker's start up to its first claim."""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.environment import process_environment

POLL_SECONDS = 0.002
MOST_SECONDS = 60.0


def measure(rounds: int) -> dict[str, float]:
    """Median CPU of a new `gribmill work` at its first claim: of its own process, and including its executors."""
    found = [_first_claim() for _ in range(rounds + 1)][1:]  # the first one compiles the modules
    own, whole = (statistics.median(figures) for figures in zip(*found, strict=True))
    return {"worker_cpu_s": round(own, 3), "with_executors_cpu_s": round(whole, 3)}


def _first_claim() -> tuple[float, float]:
    from gribmill.pipeline.open_queue import open_queue
    from gribmill.queue.model import NewJob
    from gribmill.settings.schema import Settings

    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data=Path(folder))
        assert settings.data_root == Path(folder), "a benchmark must not use an existing queue"
        store = open_queue(settings)
        store.jobs.enqueue(NewJob("sleep", {"seconds": 0.2}))
        command = [sys.executable, "-m", "gribmill.cli.main", "--data", folder, "work", "--types", "sleep"]
        worker = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=process_environment()
        )
        try:
            end = time.monotonic() + MOST_SECONDS
            while not store.attempts.running():
                if time.monotonic() > end:
                    raise SystemExit("the worker did not claim its first job within a minute")
                time.sleep(POLL_SECONDS)
            own = _cpu_of(worker.pid)
            return own, own + sum(map(_cpu_of, _children(worker.pid)))
        finally:
            worker.send_signal(signal.SIGTERM)
            worker.wait(30)


def _cpu_of(pid: int) -> float:
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def _children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
