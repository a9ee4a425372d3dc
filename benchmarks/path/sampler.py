"""A sampling profiler of one process: its CPU or wall time by stage of the work.

Samples are taken between Python instructions, so a long native call gives one sample at its end. Each sample counts
for the time since the previous one.
"""

from __future__ import annotations

import signal
import time
from collections import defaultdict
from types import FrameType
from typing import Literal

INTERVAL_SECONDS = 0.0005
# The stage of gribmill's innermost frame, by module and function; the first match counts.
STAGES: tuple[tuple[str, str], ...] = (
    ("gribmill.queue.worker.executor.ipc", "between the processes"),
    ("gribmill.queue.worker", "the worker's loop"),
    ("gribmill.queue", "claim and complete (SQLite, FULL)"),
    ("gribmill.database", "claim and complete (SQLite, FULL)"),
    ("gribmill.logs", "logging"),
    ("gribmill.pipeline", "the handler around it, catalogue"),
    ("gribmill.tiles.build.build.build", "SHA-256 of the file"),
    ("gribmill.grib.decode.eccodes", "decode and cut"),
    ("gribmill.grib.decode.native", "decode and cut"),
    ("gribmill.grib.decode.field.Field.cut", "decode and cut"),
    ("gribmill.grib.decode.field.Field.values", "decode and cut"),
    ("gribmill.grib.decode.winds", "turn winds"),
    ("gribmill.tiles.build.region_cut.Wind", "turn winds"),
    ("gribmill.grib", "read: walk, headers"),
    ("gribmill.tiles.format.npz_writer", "encode: deflate, CRC-32"),
    ("gribmill.tiles.format.restart_points", "encode: deflate, CRC-32"),
    ("gribmill.tiles.format.requantize", "encode: deflate, CRC-32"),
    ("gribmill.storage.atomic", "write, fsync, rename"),
    ("gribmill.tiles", "names, statistics, meta"),
    ("gribmill.regions", "names, statistics, meta"),
)
WAITING = (
    "gribmill.queue.worker.executor.ipc.Channel.receive",
    "gribmill.queue.worker.supervisor.supervisor.Supervisor.run_once",
)
Clock = Literal["cpu", "wall"]


class Sampler:
    """Samples between `start` and `stop`; `clear` discards those taken so far."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._now = time.process_time if clock == "cpu" else time.perf_counter
        self._timer = signal.ITIMER_PROF if clock == "cpu" else signal.ITIMER_REAL
        self.clear()

    def clear(self) -> None:
        self.places: dict[str, float] = defaultdict(float)
        self._last = self._began = self._now()

    @property
    def seconds(self) -> float:
        return self._now() - self._began

    def start(self) -> None:
        signal.signal(signal.SIGPROF if self.clock == "cpu" else signal.SIGALRM, self._sample)
        signal.setitimer(self._timer, INTERVAL_SECONDS, INTERVAL_SECONDS)

    def stop(self) -> None:
        signal.setitimer(self._timer, 0)

    def _sample(self, signum: int, frame: FrameType | None) -> None:
        now = self._now()
        self.places[_place(frame)] += now - self._last
        self._last = now


def stages(places: dict[str, float]) -> dict[str, float]:
    """Seconds by stage, without waiting for the other process."""
    found: dict[str, float] = defaultdict(float)
    for place, seconds in places.items():
        if place not in WAITING:
            found[next((stage for start, stage in STAGES if place.startswith(start)), "Python itself")] += seconds
    return dict(found)


def _place(frame: FrameType | None) -> str:
    """Module and function of gribmill's innermost frame."""
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith("gribmill"):
            return f"{module}.{frame.f_code.co_qualname}"
        frame = frame.f_back
    return ""
