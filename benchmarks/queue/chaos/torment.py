"""Kills workers, crashes the server, and counts the outcomes of the jobs."""

from __future__ import annotations

import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from benchmarks.environment import process_environment
from benchmarks.peers import peer_python
from benchmarks.queue.chaos.executions import JOB_SECONDS, TIMEOUT_SECONDS, Execution, read
from benchmarks.queue.postgres import PACKAGES, SYSTEMS, peer_versions
from benchmarks.queue.postgres_server import DurableServer, durable_server
from benchmarks.queue.row import OWN
from tests.servers.postgres import NoServer

JOBS = 800
PATIENCE_SECONDS = 100.0
WORKERS = 3
LOOK_SECONDS = 0.1
FINISHED = {
    OWN: "SELECT count(*) FROM jobs WHERE status = 'completed'",
    "procrastinate": "SELECT count(*) FROM procrastinate_jobs WHERE task_name = 'mark' AND status = 'succeeded'",
    "pgqueuer": "SELECT count(DISTINCT job_id) FROM pgqueuer_log WHERE status = 'successful'",
}
FINISHED_TWICE = {
    OWN: "SELECT job_id FROM job_attempts WHERE status = 'succeeded'",
    "procrastinate": "SELECT job_id FROM procrastinate_events WHERE type = 'succeeded'",
    "pgqueuer": "SELECT job_id FROM pgqueuer_log WHERE status = 'successful'",
}


@dataclass
class Crew:
    """The workers of one system; one that ends is started again, as a service manager would."""

    system: str
    url: str
    file: Path
    python: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    restarts: int = 0

    def add(self, jobs: int) -> None:
        subprocess.run(self._command("add", str(jobs)), check=True, env=_environment())

    def start(self) -> None:
        self.processes = [self._start() for _ in range(WORKERS)]

    def keep_running(self) -> None:
        for at, process in enumerate(self.processes):
            if process.poll() is not None:
                self.restarts += 1
                self.processes[at] = self._start()

    def kill_one(self) -> None:
        self.processes.append(self.processes.pop(0))
        self._kill(self.processes[-1])

    def kill_all(self) -> None:
        for process in self.processes:
            self._kill(process)

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        """The whole process group: a supervisor with its executors."""
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._command("work"),
            env=_environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _command(self, what: str, *more: str) -> list[str | Path]:
        module = f"benchmarks.queue.chaos.{self.system}_worker"
        return [self.python, "-m", module, what, self.url, str(self.file), *more]


@dataclass(frozen=True)
class Result:
    """The outcomes of one system's jobs."""

    finished: int
    finished_twice: int
    executions: list[Execution]
    restarts: int
    seconds: float

    def line(self, name: str, jobs: int, server_up: float) -> str:
        ends = Counter(one.job for one in self.executions if one.ended is not None)
        after = [one.ended - server_up for one in self.executions if one.ended is not None and one.ended > server_up]
        taken = sorted(self._recoveries())
        recovery = f"{statistics.median(taken):.1f} s, {taken[-1]:.1f} s" if taken else "–"
        return (
            f"| {name} | {jobs - self.finished} | {jobs - len(ends)} | {self.finished_twice} |"
            f" {sum(count > 1 for count in ends.values())} | {len(taken)} | {recovery} |"
            f" {f'{min(after):.1f} s' if after else 'never'} | {self.restarts} | {self.seconds:.0f} s |"
        )

    def _recoveries(self) -> list[float]:
        """For every run that was cut short: the time from its start to the end of the job."""
        ends: dict[int, list[float]] = {}
        for one in self.executions:
            if one.ended is not None:
                ends.setdefault(one.job, []).append(one.ended)
        return [
            min(later) - one.began
            for one in self.executions
            if one.ended is None and (later := [end for end in ends.get(one.job, ()) if end > one.began])
        ]


def run(server: DurableServer, folder: Path, jobs: int, patience: float) -> tuple[dict[str, Result], float]:
    peers = peer_python("queue-postgres", PACKAGES)
    crews = []
    for system in SYSTEMS:
        python = Path(sys.executable) if system == OWN else peers
        crews.append(Crew(system, server.new_database(system), folder / system, python))
        crews[-1].add(jobs)
    began = time.time()
    ended: dict[str, float] = {}
    try:
        for crew in crews:
            crew.start()
        up = _torment(server, crews)
        while len(ended) < len(crews) and time.time() < began + patience:
            for crew in crews:
                crew.keep_running()
                if crew.system not in ended and _count(crew, FINISHED[crew.system]) >= jobs:
                    ended[crew.system] = time.time()
            time.sleep(LOOK_SECONDS * 5)
    finally:
        for crew in crews:
            crew.kill_all()
    return {
        crew.system: Result(
            _count(crew, FINISHED[crew.system]),
            _count(
                crew,
                f"SELECT count(*) FROM (SELECT job_id FROM ({FINISHED_TWICE[crew.system]}) e"
                " GROUP BY job_id HAVING count(*) > 1) t",
            ),
            read(crew.file),
            crew.restarts,
            ended.get(crew.system, time.time()) - began,
        )
        for crew in crews
    }, up


def _torment(server: DurableServer, crews: list[Crew]) -> float:
    """Three kills of a worker of each, a crash of the server, and three more; returns when the server was up again."""
    up = 0.0
    for at in range(7):
        _let_work(crews, 3.0)
        if at == 3:
            server.server.stop("immediate")
            _let_work(crews, 2.0)
            server.server.start()
            up = time.time()
        else:
            for crew in crews:
                crew.kill_one()
    return up


def _let_work(crews: list[Crew], seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for crew in crews:
            crew.keep_running()
        time.sleep(LOOK_SECONDS)


def _count(crew: Crew, query: str) -> int:
    with psycopg.connect(crew.url) as connection:
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return int(row[0])


def _environment() -> dict[str, str]:
    return process_environment(PYTHONPATH=str(Path(__file__).parents[3]))


def chaos_lines(jobs: int, patience: float = PATIENCE_SECONDS) -> list[str]:
    """A section of the page."""
    lines = ["", "## Killed workers and a crashed server", ""]
    folder = Path(tempfile.mkdtemp(prefix="gribmill-bench-chaos-"))
    try:
        with durable_server() as server:
            results, up = run(server, folder, jobs, patience)
    except (NoServer, subprocess.CalledProcessError) as error:
        return [*lines, f"Not measured: {error}."]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    names = ", ".join(f"{name} {version}" for name, version in peer_versions().items())
    return [
        *lines,
        f"- {names}; each with {WORKERS} workers that run two jobs at a time, {jobs:,} jobs of"
        f" {JOB_SECONDS:g} s, all on one PostgreSQL server at the same time",
        "- every three seconds one worker of each is killed (SIGKILL, with its children); once, the server is stopped"
        " with `-m immediate` and started two seconds later; a worker that ends is restarted at once",
        f"- a job counts as abandoned after {TIMEOUT_SECONDS} s, for all. procrastinate uses the periodic task of its"
        " documentation, which retries stalled jobs every five seconds",
        f"- lost: not finished within {patience:.0f} s. If a worker is killed between doing a job and reporting it, all"
        " of them run the job again",
        "",
        "| | lost | never run to the end | finished twice | run to the end twice | runs cut short"
        " | until such a job is done, p50, longest | first end after the server is up | workers restarted"
        " | whole run |",
        "|---|---|---|---|---|---|---|---|---|---|",
        *(result.line(system, jobs, up) for system, result in results.items()),
    ]
