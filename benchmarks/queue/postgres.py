"""The rows of PostgreSQL: gribmill beside procrastinate and pgqueuer on one server, whose commits wait for the disk."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

from benchmarks.environment import process_environment
from benchmarks.peers import peer_python, versions
from benchmarks.queue.latency import percentile
from benchmarks.queue.postgres_server import DurableServer
from benchmarks.queue.row import OWN, Row, shown
from benchmarks.queue.tenants import postgres_fair_claims, postgres_looks

PACKAGES = ["procrastinate", "pgqueuer", "asyncpg", "psycopg[binary]"]
SYSTEMS = [OWN, "procrastinate", "pgqueuer"]
TWELVE = 12
# (processes, batch): the ratio to the best peer.
GOALS = {(1, 1): 1.5, (8, 1): 2.5, (1, TWELVE): 1.2, (8, TWELVE): 2.0}
CPU_GOALS_MS = {1: 1.3, TWELVE: 0.2}
LISTS_GOAL_MS = 5.0
FLAT = 1.5
# Jobs of each system whose dead rows an old transaction keeps.
JOBS_BEHIND_TRANSACTION = 3000
ALL_JOBS = 10**9


class Crew(NamedTuple):
    processes: int
    batch: int


class Worked(NamedTuple):
    jobs_per_second: float
    cpu_ms: float
    """Per job, of the workers and the server together."""


class DriverFailed(Exception):
    """The last output of a peer that failed."""


class System:
    """One queue: its driver process, and how many jobs are ready in each database."""

    def __init__(self, name: str, python: Path) -> None:
        self.name = name
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self._process = subprocess.Popen(
            [python, "-m", f"benchmarks.queue.drivers.postgres.{name}_driver"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env=process_environment(),
        )
        self._ready: dict[tuple[str, int], int] = {}

    def ask(self, command: str, url: str, **more: object) -> dict[str, Any]:
        return self._send(json.dumps({"command": command, "url": url, **more}), command)

    def _send(self, text: str, command: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(text + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            self._errors.seek(0)
            said = self._errors.read().strip().splitlines()
            raise DriverFailed(f"{self.name}, {command}: {said[-1][:300] if said else 'no error message'}")
        found: dict[str, Any] = json.loads(line)
        return found

    def have_ready(self, url: str, batch: int, jobs: int) -> None:
        """Enough for a row; if it must add jobs, it adds more than that."""
        if self._ready.get((url, batch), 0) < jobs:
            self.ask("pending", url, count=3 * jobs, batch=batch)
            self._ready[url, batch] = 3 * jobs

    def work(self, server: DurableServer, url: str, crew: Crew, seconds: float, jobs: int = ALL_JOBS) -> Worked:
        processes, batch = crew
        self.ask("work", url, processes=processes, batch=batch, seconds=seconds, jobs=jobs)
        before = server.cpu_seconds()
        done = self._send("go", "work")
        cpu = server.cpu_seconds() - before + done["cpu"]
        # Including those of the warm-up, and those claimed when the time is up.
        self._ready[url, batch] = self._ready.get((url, batch), 0) - done["done"] - 9 * batch * processes
        return Worked(done["done"] / done["wall"], 1000 * cpu / max(1, done["done"]))

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._errors.close()


@dataclass
class PostgresBench:
    """Measures every system once per round, interleaved."""

    server: DurableServer
    rounds: int
    scale: float
    seconds: float
    systems: list[System]
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def measure(self) -> None:
        levels = [int(rows * self.scale) for rows in (0, 100_000, 1_000_000)]
        claims: list[float] = []
        for level, finished in enumerate(levels):
            with self._databases(finished) as urls:
                condition = f"{finished:,} finished rows"
                if level == 0:
                    self._adding(urls)
                self._throughput(urls, condition, (1, 2, 4, 8, 16) if level == 0 else (1, 8))
                claims.append(self._claim_latency(urls, condition))
                if finished == levels[-1]:
                    self._lists(urls[OWN], finished)
        self.notes.append(
            f"claim latency with {levels[-1]:,} finished rows is {claims[-1] / claims[0]:.2f} times that"
            f" with none (goal: at most {FLAT})"
        )
        with self._databases(0) as urls, self._old_transactions(urls):
            for system in self.systems:
                system.have_ready(urls[system.name], 1, JOBS_BEHIND_TRANSACTION)
                system.work(self.server, urls[system.name], Crew(8, 1), 60, JOBS_BEHIND_TRANSACTION)
            self._throughput(urls, "an old transaction held open", (1, 8))
        self._fair_claims(levels[-1] // 5)

    def _throughput(self, urls: dict[str, str], condition: str, crews: Sequence[int]) -> None:
        for batch in (1, TWELVE):
            for processes in crews:
                self._claim_and_complete(urls, condition, Crew(processes, batch))

    def _claim_and_complete(self, urls: dict[str, str], condition: str, crew: Crew) -> None:
        processes, batch = crew
        found: dict[str, list[Worked]] = {system.name: [] for system in self.systems}
        enough = int((3000 if batch == 1 else 20_000) * self.seconds) + 9 * batch * processes
        for _ in range(self.rounds):
            for system in self.systems:
                url = urls[system.name]
                system.have_ready(url, batch, enough)
                found[system.name].append(system.work(self.server, url, crew, self.seconds))
        how = "singly" if batch == 1 else "in twelves"
        title = f"claim + complete {how}, {processes} process{'es' if processes > 1 else ''}, {condition}"
        self._keep(
            Row(
                title,
                "jobs/s",
                {name: [one.jobs_per_second for one in rounds] for name, rounds in found.items()},
                cpu_ms={name: [one.cpu_ms for one in rounds] for name, rounds in found.items()},
                goal=GOALS.get(crew, 1.0),
                cpu_goal_ms=CPU_GOALS_MS[batch],
            )
        )

    def _claim_latency(self, urls: dict[str, str], condition: str) -> float:
        found: dict[str, list[float]] = {system.name: [] for system in self.systems}
        for _ in range(self.rounds):
            for system in self.systems:
                system.have_ready(urls[system.name], 1, 400)
                seconds = system.ask("claims", urls[system.name], count=150)["seconds"]
                system._ready[urls[system.name], 1] -= 160
                found[system.name].append(percentile(seconds, 0.5) * 1000)
        row = Row(f"claim latency, {condition}, p50", "ms", found, goal=1.0)
        self._keep(row)
        return row.median(OWN) or 0.0

    def _adding(self, urls: dict[str, str]) -> None:
        found: dict[str, list[float]] = {system.name: [] for system in self.systems}
        count = max(100, int(1000 * self.seconds))
        for _ in range(self.rounds):
            for system in self.systems:
                found[system.name].append(count / system.ask("add", urls[system.name], count=count)["wall"])
        self._keep(Row("enqueue one by one", "jobs/s", found, goal=1.0))

    def _lists(self, url: str, finished: int) -> None:
        title = f"slowest list or count of a tenant or group, {finished:,} finished rows, p50"
        self._keep(Row(title, "ms", {OWN: [postgres_looks(url)]}, goal=LISTS_GOAL_MS))

    def _fair_claims(self, pending: int) -> None:
        name = "fair"
        value = postgres_fair_claims(self.server.new_database(name), pending)
        self.server.drop_database(name)
        title = f"claim + complete in turn, 100 tenants, {pending:,} jobs pending, p50"
        self._keep(Row(title, "ms", {OWN: [value]}))

    @contextmanager
    def _databases(self, finished: int) -> Iterator[dict[str, str]]:
        """One for each system, with `finished` finished jobs."""
        names = {system.name: f"{system.name}_{finished}" for system in self.systems}
        urls = {}
        for system in self.systems:
            urls[system.name] = self.server.new_database(names[system.name])
            system.ask("create", urls[system.name], finished=finished)
        self.server.checkpoint()
        try:
            yield urls
        finally:
            for system in self.systems:
                self.server.drop_database(names[system.name])
                system._ready.clear()

    @contextmanager
    def _old_transactions(self, urls: dict[str, str]) -> Iterator[None]:
        """A transaction that stays open, like that of a forgotten session or a long report."""
        with ExitStack() as opened:
            for url in urls.values():
                connection = opened.enter_context(closing(psycopg.connect(url)))
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                connection.execute("SELECT pg_current_xact_id()")
            yield

    def _keep(self, row: Row) -> None:
        self.rows.append(row)
        said = ", ".join(f"{system} {shown(row.median(system))}" for system in row.values)
        spent = ", ".join(f"{shown(row.cpu(system))}" for system in row.cpu_ms)
        sys.stderr.write(f"{row.title}: {said} {row.unit}{f' (CPU {spent} ms)' if spent else ''}\n")


def peer_versions() -> dict[str, str]:
    names = [package.split("[")[0] for package in PACKAGES]
    return versions(peer_python("queue-postgres", PACKAGES), names)


@contextmanager
def postgres_systems() -> Iterator[list[System]]:
    """The drivers, each in its own environment."""
    peers = peer_python("queue-postgres", PACKAGES)
    systems = [System(name, Path(sys.executable) if name == OWN else peers) for name in SYSTEMS]
    try:
        yield systems
    finally:
        for system in systems:
            system.close()
