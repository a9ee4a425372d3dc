"""Traces one GRIB hour from its scan to a reader, and counts the files of gribmill whose functions run.

    .venv/bin/python -m scripts.trace_walk            a table of steps and packages
    .venv/bin/python -m scripts.trace_walk --files    every file: its lines, its functions that ran, in which steps

The publisher is the sandbox on loopback, the queue is SQLite, and each job is claimed, run and reported here.
What runs on import is not counted, nor is the upkeep of the queue: heartbeats, recovery, schedules. What an executor
does once, before its first job (read the settings, models and regions, open the database), is a step of its own.
"""

from __future__ import annotations

import argparse
import socket
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

import gribmill
from gribmill.pipeline.context import context_of
from gribmill.pipeline.job_types import scan_job
from gribmill.queue.model import Snoozed, Succeeded
from gribmill.queue.worker.in_process import Ticker
from gribmill.queue.worker.task import Task
from tests.chain.chain_driver import ChainDriver
from tests.chain.sample_forecasts import make_sample_forecasts

PACKAGE = Path(gribmill.__file__).parent
# The publisher runs in a thread of this process.
LEFT_OUT = "sandbox/"
START = "start"
JOBS = ("scan_source", "ingest_grib", "build_tile", "publish")


@dataclass
class Walk:
    """The functions that ran, by step and by file below gribmill/."""

    steps: dict[str, dict[str, set[str]]] = field(default_factory=dict)
    switches: Counter[str] = field(default_factory=Counter)
    _names: dict[CodeType, tuple[str, str] | None] = field(default_factory=dict)

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        found: dict[str, set[str]] = defaultdict(set)
        last = ""

        def seen(frame: FrameType, event: str, argument: object) -> None:
            nonlocal last
            if event == "call" and (name := self._name_of(frame.f_code)) and not _is_importing(frame):
                found[name[0]].add(name[1])
                self.switches[title] += name[0] != last
                last = name[0]

        threading.setprofile(seen)
        sys.setprofile(seen)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
            self.steps[title] = found

    def _name_of(self, code: CodeType) -> tuple[str, str] | None:
        if code not in self._names:
            self._names[code] = _file_and_function(code)
        return self._names[code]

    def files(self) -> dict[str, dict[str, set[str]]]:
        """By file: the functions of each step."""
        found: dict[str, dict[str, set[str]]] = defaultdict(dict)
        for title, files in self.steps.items():
            for name, functions in files.items():
                found[name][title] = functions
        return dict(sorted(found.items()))


def _file_and_function(code: CodeType) -> tuple[str, str] | None:
    path = Path(code.co_filename)
    # Optimized code (CO_OPTIMIZED, 1) is a function; bodies of modules and classes are not.
    if not code.co_flags & 1 or not path.is_relative_to(PACKAGE):
        return None
    name = path.relative_to(PACKAGE).as_posix()
    return None if name.startswith(LEFT_OUT) else (name, code.co_qualname)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals["__name__"] != "__main__":
            return True
        frame = frame.f_back
    return False


def trace(folder: Path) -> Walk:
    """One hour of HRRR for one region, from the scan to the values of a point."""
    walk = Walk()
    forecasts = make_sample_forecasts(folder / "forecasts")
    with ChainDriver(folder, forecasts, _free_port(), chain={"regions": ["ne"]}) as chain:
        chain.publish("hrrr", 1)
        store, settings = chain.store, chain.settings
        with walk.step("enqueue"):
            store.jobs.enqueue(scan_job("hrrr"))
        environment = settings.model_dump(mode="json")
        with walk.step(START):
            context_of(Task(0, JOBS[0], "{}", 1, "global", "walk", environment))
        ticker = Ticker(store, 60.0, environment)
        for kind in JOBS:
            with walk.step(kind):
                (ran,) = ticker.run(store.claim(ticker.request((kind,), 1)))
            assert isinstance(ran.outcome, Succeeded | Snoozed), (kind, ran.outcome)  # a scan looks again later
        (tile,) = chain.data.glob("tiles/**/001.npz")
        with walk.step("open_tile"):
            assert gribmill.open_tile(tile)["t2m"].size
        with walk.step("point"):
            assert gribmill.point(42.4, -71.1, data=chain.data).columns
    return walk


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _lines(name: str) -> int:
    return len((PACKAGE / name).read_text(encoding="utf-8").splitlines())


def _packages(names: list[str]) -> str:
    counts = Counter(name.split("/")[0] if "/" in name else "top level" for name in names)
    return ", ".join(f"{package} {count}" for package, count in counts.most_common())


def table(walk: Walk) -> list[str]:
    lines = ["| step | files | functions | file switches | by package |", "|---|---|---|---|---|"]
    for title, files in walk.steps.items():
        functions = sum(map(len, files.values()))
        lines.append(f"| {title} | {len(files)} | {functions} | {walk.switches[title]:,} | {_packages(list(files))} |")
    of_all = walk.files()
    of_an_hour = {name: steps for name, steps in of_all.items() if {*steps} != {START}}
    return [*lines, _sum("without start", of_an_hour), _sum("all", of_all)]


def _sum(title: str, files: dict[str, dict[str, set[str]]]) -> str:
    total = sum(map(_lines, files))
    functions = sum(len(set().union(*steps.values())) for steps in files.values())
    return f"| **{title}** | **{len(files)}** ({total:,} lines) | {functions} | | {_packages(list(files))} |"


def file_lines(walk: Walk) -> list[str]:
    found = []
    for name, steps in walk.files().items():
        functions = sorted(set().union(*steps.values()))
        found.append(
            f"{name:55} {_lines(name):4} lines, {len(functions):2} functions: {', '.join(functions[:6])}"
            f"{' …' if len(functions) > 6 else ''}  [{', '.join(steps)}]"
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", action="store_true", help="list every file instead")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        walk = trace(Path(folder))
    sys.stdout.write("\n".join(file_lines(walk) if options.files else table(walk)) + "\n")


if __name__ == "__main__":
    main()
