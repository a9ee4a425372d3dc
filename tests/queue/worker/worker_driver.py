"""Workers for tests: one driven step by step in this process, and real ones as processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gribmill.queue.model import Attempt, Job, NewJob
from gribmill.queue.store import Store
from gribmill.queue.worker.options import WorkerOptions
from gribmill.queue.worker.supervisor.supervisor import Supervisor
from tests.queue.worker.sample_types import TYPES_PATH
from tests.waiting import LOOK_AGAIN_SECONDS

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_SECONDS = 120.0
# Another process may make the condition true without waking the worker.
LONGEST_WAIT_SECONDS = 0.02


class SteppedWorker:
    """A supervisor in this process, which works only during `until`."""

    def __init__(self, store: Store, **options: Any) -> None:
        self.store = store
        settings = {"lanes": {"fetch": 1}, "kill_grace_seconds": 0.2, **options}
        self.supervisor = Supervisor(store, WorkerOptions(types_path=TYPES_PATH, **settings))
        self.supervisor.start()

    def until(self, condition: Callable[[], Any], what: str = "the worker", seconds: float = PATIENCE_SECONDS) -> Any:
        """Run the worker until the condition holds; returns the condition's value."""
        deadline = time.monotonic() + seconds
        while not (value := condition()):
            assert time.monotonic() < deadline, f"waited {seconds:g} s for {what}"
            self.supervisor.run_once(min(LONGEST_WAIT_SECONDS, self.supervisor._wait_seconds()))
        return value

    def finish(self, *job_ids: int) -> list[Job]:
        """Run the worker until these jobs have ended."""
        self.until(lambda: all(self.job(job_id).completed_at for job_id in job_ids), f"jobs {job_ids} to end")
        return [self.job(job_id) for job_id in job_ids]

    def run(self, do: str, kind: str = "stunt", **args: Any) -> tuple[Job, list[Attempt]]:
        """Run one job to its end; returns it and its attempts."""
        job_id = enqueue(self.store, do, kind, **args)
        (job,) = self.finish(job_id)
        return job, attempts(self.store, job_id)

    def job(self, job_id: int) -> Job:
        return self.store.jobs.get(job_id)

    @property
    def pids(self) -> list[int]:
        return [executor.process.pid for lane in self.supervisor.lanes for executor in lane.executors]

    def ready(self) -> None:
        """Wait for every executor to be up."""
        lanes = self.supervisor.lanes

        def all_up() -> bool:
            return all(sum(executor.ready for executor in lane.executors) == lane.count for lane in lanes)

        self.until(all_up, "executors to be ready")


class Workers:
    """Worker processes of a test, all ended after it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started: list[Process] = []

    def start(self, database: str | Path, **options: Any) -> Process:
        """A worker of the test types."""
        settings = {"lanes": {"fetch": 1}, "kill_grace_seconds": 0.2, **options}
        return self._add([sys.executable, "-m", "tests.queue.worker.start_worker", str(database), json.dumps(settings)])

    def gribmill(self, *args: str, **variables: str) -> Process:
        """The command as a user starts it, in its own folder."""
        return self._add([sys.executable, "-m", "gribmill.cli.main", *args], **variables)

    def end(self) -> None:
        for process in self._started:
            process.kill()

    def _add(self, command: list[str], **variables: str) -> Process:
        n = len(self._started)
        process = Process(command, self._folder, self._folder / f"worker-{n}.log", variables)
        self._started.append(process)
        return process


class Process:
    """A worker process and its log."""

    def __init__(self, command: list[str], folder: Path, log: Path, variables: dict[str, str]) -> None:
        self._log = log
        with log.open("wb") as errors:
            self.popen = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, **variables},
            )

    @property
    def pid(self) -> int:
        return self.popen.pid

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def signal(self, signum: signal.Signals) -> None:
        self.popen.send_signal(signum)

    def wait(self, seconds: float = PATIENCE_SECONDS) -> int:
        """Its exit code."""
        try:
            return self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the process did not end within {seconds:g} s:\n{self.log[-3000:]}") from None

    def output(self) -> str:
        self.wait()
        assert self.popen.stdout is not None
        return self.popen.stdout.read().decode()

    def kill(self) -> None:
        if self.popen.poll() is None:
            self.popen.kill()
            self.popen.wait()
        if self.popen.stdout is not None:
            self.popen.stdout.close()


def enqueue(store: Store, do: str, kind: str = "stunt", **args: Any) -> int:
    job = {name: args.pop(name) for name in ("priority", "max_attempts", "delay_seconds") if name in args}
    return store.jobs.enqueue(NewJob(kind, {"do": do, **args}, **job)).id


def attempts(store: Store, job_id: int) -> list[Attempt]:
    return list(store.jobs.history(job_id).attempts)


def statuses(store: Store, job_id: int) -> list[str]:
    return [attempt.status for attempt in attempts(store, job_id)]


def holding(path: Path) -> int | None:
    """Wait for the process that runs `hold` on this path."""
    for file in path.parent.glob(f"{path.name}.*"):
        return int(file.name.removeprefix(f"{path.name}."))
    return None


def at_rest(pid: int, looks: int = 10) -> bool:
    """Whether the process sleeps without being woken over many samples."""
    seen = set()
    pause = threading.Event()
    for _ in range(looks):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        seen.add(next(line for line in lines if line.startswith("voluntary_ctxt_switches")))
        pause.wait(LOOK_AGAIN_SECONDS * 2)
    return len(seen) == 1


def alive(pid: int) -> bool:
    """Whether the process runs; a zombie does not count."""
    try:
        return _state(pid) not in "ZX"
    except OSError:
        return False


def is_stopped(pid: int) -> bool:
    """Whether SIGSTOP has taken effect."""
    return _state(pid) == "T"


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
