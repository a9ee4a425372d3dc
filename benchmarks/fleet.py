"""What a fleet of workers costs its PostgreSQL server: `python -m benchmarks.fleet --workers 10,100`.

Real worker processes, each with one executor, on one machine. Figures are CPU times, which other load hardly changes.
The fleet is first idle, then gets single jobs at a steady pace, then many at once.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from multiprocessing.context import ForkProcess
from pathlib import Path

import psycopg

from benchmarks.machine import machine_lines
from benchmarks.queue.postgres_server import DurableServer, durable_server
from gribmill.database.postgres import PostgresDatabase
from gribmill.queue.model import NewJob
from gribmill.queue.store import Store
from gribmill.queue.store.jobs.listing import JobFilter
from gribmill.queue.worker.options import WorkerOptions
from gribmill.queue.worker.supervisor.supervisor import Supervisor
from tests.queue.worker.sample_types import TYPES, TYPES_PATH

IDLE_SECONDS = 30.0
STEADY_SECONDS = 20.0
STEADY_PER_SECOND = 5
MANY = 2000
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Cost:
    """CPU seconds of the server and of the fleet over an interval."""

    seconds: float
    server: float
    fleet: float

    def of_a_core(self) -> str:
        return f"{100 * self.server / self.seconds:.1f} % of a core (workers {100 * self.fleet / self.seconds:.0f} %)"

    def per_job(self, jobs: int) -> str:
        return f"{1000 * self.server / jobs:.2f} ms (workers {1000 * self.fleet / jobs:.1f} ms)"


@dataclass
class Fleet:
    server: DurableServer
    workers: list[ForkProcess]

    def cpu_seconds(self) -> float:
        pids = [worker.pid or 0 for worker in self.workers]
        return sum(_cpu(pid) for one in pids for pid in (one, *_children(one)))

    @contextmanager
    def measured(self) -> Iterator[Cost]:
        cost = Cost(0.0, 0.0, 0.0)
        began, server, fleet = time.monotonic(), self.server.cpu_seconds(), self.cpu_seconds()
        yield cost
        cost.server = self.server.cpu_seconds() - server
        cost.fleet = self.cpu_seconds() - fleet
        cost.seconds = time.monotonic() - began


def work(url: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    store = Store(PostgresDatabase(url), TYPES)
    options = WorkerOptions(types_path=TYPES_PATH, lanes={"fetch": 1}, log={"format": "json", "level": "error"})
    Supervisor(store, options).run()


def measure(server: DurableServer, count: int) -> None:
    # Executors import the job types from the checkout.
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[1])
    url = server.new_database(f"fleet_{count}")
    PostgresDatabase(url).close()
    fork = multiprocessing.get_context("fork")
    fleet = Fleet(server, [fork.Process(target=work, args=(url,), daemon=False) for _ in range(count)])
    for worker in fleet.workers:
        worker.start()
    try:
        with closing(Store(PostgresDatabase(url), TYPES)) as store:
            _wait(lambda: len(store.workers.list()) == count and all(_children(one.pid or 0) for one in fleet.workers))
            _use_every_worker(store, count)
            _report(fleet, store, count)
    finally:
        for worker in fleet.workers:
            worker.terminate()
        for worker in fleet.workers:
            worker.join()


def _report(fleet: Fleet, store: Store, count: int) -> None:
    time.sleep(5)
    with fleet.measured() as idle:
        time.sleep(IDLE_SECONDS)
    connections, private = _connections(fleet.server)
    with fleet.measured() as steady:
        for _ in range(int(STEADY_SECONDS * STEADY_PER_SECOND)):
            store.jobs.enqueue(NewJob("sleep", {}))
            time.sleep(1 / STEADY_PER_SECOND)
        _wait(lambda: not _left(store))
    with fleet.measured() as burst:
        store.jobs.enqueue_many([NewJob("sleep", {})] * MANY)
        _wait(lambda: not _left(store))
    jobs = int(STEADY_SECONDS * STEADY_PER_SECOND)
    print(f"| {count} | {connections}, {private:.0f} MB private | {idle.of_a_core()} "
          f"| {steady.of_a_core()}; {steady.per_job(jobs)} a job | {burst.per_job(MANY)} |", flush=True)  # fmt: skip


def _use_every_worker(store: Store, count: int) -> None:
    """Warm up every worker, so that one-time costs such as plans and imports do not count."""
    store.jobs.enqueue_many([NewJob("sleep", {"seconds": 0.2})] * 5 * count)
    _wait(lambda: not _left(store))


def _left(store: Store) -> bool:
    return any(store.jobs.list(JobFilter(status=status), limit=1).jobs for status in ("pending", "processing"))


def _connections(server: DurableServer) -> tuple[int, float]:
    with closing(psycopg.connect(server.server.url())) as connection:
        rows = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND datname LIKE 'fleet%'"
        ).fetchall()
    kilobytes = sum(_private(pid) for (pid,) in rows)
    return len(rows), kilobytes / 1000


def _private(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))


def _cpu(pid: int) -> float:
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(words[11]) + int(words[12])) / TICKS


def _children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _wait(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", default="10,100", help="how many, one figure for each row")
    counts = [int(word) for word in parser.parse_args().workers.split(",")]
    print("\n".join(machine_lines()))
    print("| workers | connections | idle | a job every 0.2 s | a job of 2,000 at once |\n|---|---|---|---|---|")
    with durable_server(max_connections="500") as server:
        for count in counts:
            measure(server, count)


if __name__ == "__main__":
    main()
