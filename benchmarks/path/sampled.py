"""A real worker that samples itself: `python -m benchmarks.path.sampled DATA CLOCK WARM_UP_JOBS`.

The supervisor, its executor and the handlers are gribmill's own; the executor loads its job types from here, so that
it samples itself too. Both write their samples to the data root.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from benchmarks.path.sampler import Clock, Sampler
from gribmill.pipeline import job_types as types
from gribmill.pipeline.open_queue import open_queue, worker_options
from gribmill.queue.job_type import JobType, Registry
from gribmill.settings.schema import Settings

CLOCK, WARM_UP = "BENCH_CLOCK", "BENCH_WARM_UP"
LOOP_SECONDS = 0.5
_state: dict[str, Any] = {"jobs": 0}


def _sampled(kind: JobType) -> JobType:
    return dataclasses.replace(kind, handler=f"{__name__}:{kind.key}")


def build_tile(batch: Any) -> None:
    """The handler, followed by a sample."""
    sampler = _sampler()
    jobs = len(batch.tasks)
    importlib.import_module("gribmill.pipeline.handlers.build_tile").run(batch)
    _note(sampler, jobs)


def publish(task: Any) -> Any:
    return importlib.import_module("gribmill.pipeline.handlers.publish").run(task)


TYPES = Registry(*(_sampled(types.TYPES[key]) for key in ("build_tile", "publish")))


def _sampler() -> Sampler:
    if "sampler" not in _state:
        _state["sampler"] = Sampler(_clock(os.environ[CLOCK]))
        _state["sampler"].start()
    sampler: Sampler = _state["sampler"]
    return sampler


def _note(sampler: Sampler, jobs: int) -> None:
    _state["jobs"] += jobs
    if not _state.get("warm") and _state["jobs"] >= int(os.environ[WARM_UP]):
        _state["warm"], _state["jobs"] = True, 0
        sampler.clear()
        return
    peak = next(
        line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")
    )
    _write(Path(os.environ["BENCH_DATA"]) / "executor.json", sampler, _state["jobs"], int(peak) / 1024)


def _write(path: Path, sampler: Sampler, jobs: int, peak_mb: float = 0.0) -> None:
    found = {"jobs": jobs, "seconds": sampler.seconds, "places": dict(sampler.places), "peak_mb": peak_mb}
    path.write_text(json.dumps(found))


def _clock(text: str) -> Clock:
    return "cpu" if text == "cpu" else "wall"


def main() -> None:
    from gribmill.queue.worker.supervisor.supervisor import Supervisor

    data, clock, warm_up = Path(sys.argv[1]), _clock(sys.argv[2]), int(sys.argv[3])
    os.environ |= {CLOCK: clock, WARM_UP: str(warm_up), "BENCH_DATA": str(data)}
    settings = Settings(data=data)
    options = dataclasses.replace(
        worker_options(settings),
        types_path=f"{__spec__.name}:TYPES",
        lanes={"build": 1, "fetch": 1},
        only_types=("build_tile", "publish"),
        until="drained",
    )
    supervisor = Supervisor(open_queue(settings), options)
    sampler = Sampler(clock)
    warm = False
    supervisor.start()
    sampler.start()
    try:
        while not supervisor.finished:
            supervisor.run_once(LOOP_SECONDS)
            if not warm and supervisor.finished_jobs >= warm_up:
                warm = True
                counted = supervisor.finished_jobs
                sampler.clear()
        sampler.stop()
        _write(data / "supervisor.json", sampler, supervisor.finished_jobs - counted)
    finally:
        supervisor.close()


if __name__ == "__main__":
    main()
