"""Random failures of workers and their PostgreSQL server, all at the same time, from a seed."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGCONT, SIGSTOP
from typing import Any

import psycopg

from gribmill.queue.errors import StoreError
from gribmill.queue.store import Store
from tests.queue.worker.random_kills import OPTIONS, any_left, fill
from tests.queue.worker.worker_driver import Process, Workers, is_stopped
from tests.servers.postgres import PostgresServer
from tests.waiting import wait_until

OF_OTHERS = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND application_name <> 'reader'"""
LONG_LOOK = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM jobs"
STRIKES = {"kill worker": 3, "terminate backends": 5, "crash server": 2, "restart server": 1}


@dataclass
class Chaos:
    """Keeps workers running while killing them, cutting their connections and crashing their server."""

    server: PostgresServer
    store: Store
    workers: Workers
    seed: int
    marks: Path
    jobs: list[int] = field(default_factory=list)
    count: int = 3
    hits: Counter[str] = field(default_factory=Counter)
    outages: list[float] = field(default_factory=list)
    """How long it took from each crash of the server until it answered again."""
    _team: list[Process] = field(default_factory=list)
    _reader: psycopg.Connection[Any] | None = None

    def rage(self, rounds: int) -> None:
        """Run every listed strike `rounds` times, in random order."""
        dice = random.Random(self.seed)
        acts: dict[str, Callable[[random.Random], None]] = {
            "kill worker": self._kill_worker,
            "terminate backends": self._terminate,
            "crash server": lambda _: self._restart("immediate"),
            "restart server": lambda _: self._restart("fast"),
        }
        strikes = [kind for kind, share in STRIKES.items() for _ in range(share * rounds)]
        dice.shuffle(strikes)
        self._read_for_long()
        self.fill_up()
        wait_until(self._busy_or_supplied, what="a worker at work")
        pause = threading.Event()
        for kind in strikes:
            pause.wait(dice.uniform(0.1, 0.5))
            acts[kind](dice)
            self.hits[kind] += 1
            self.fill_up()

    def calm(self) -> None:
        """Stop all failures."""
        if self._reader is not None:
            self._reader.close()
        self.fill_up()

    def fill_up(self) -> None:
        self._team = [worker for worker in self._team if worker.popen.poll() is None]
        while len(self._team) < self.count:
            self._team.append(self.workers.start(self.server.url(), **OPTIONS))

    def _kill_worker(self, dice: random.Random) -> None:
        """Kill a worker that is running a job."""
        wait_until(lambda: self._kill_with_jobs(dice), what="a worker at work")

    def _kill_with_jobs(self, dice: random.Random) -> bool:
        """Stop a busy worker first, to see whether it still has jobs."""
        if not (busy := self._busy_or_supplied()):
            return False
        victim = dice.choice(busy)
        victim.signal(SIGSTOP)
        wait_until(lambda: is_stopped(victim.pid), what="the worker to stop")
        if victim not in self._busy():
            victim.signal(SIGCONT)
            return False
        victim.popen.kill()
        victim.popen.wait()
        return True

    def _busy_or_supplied(self) -> list[Process]:
        """The busy workers; if there are none, more jobs for them."""
        if not (busy := self._busy()):
            self._supply()
        return busy

    def _supply(self) -> None:
        """Enqueue more if the workers got far while this process was not scheduled."""
        with suppress(StoreError):  # the connection was cut; the next look opens another
            if not any_left(self.store):
                self.jobs += fill(self.store, 300, self.marks)

    def _busy(self) -> list[Process]:
        with psycopg.connect(self.server.url(), autocommit=True) as connection:
            rows = connection.execute("SELECT DISTINCT worker_id FROM jobs WHERE status = 'processing'").fetchall()
        pids = {int(row[0].split("-")[-2]) for row in rows}
        return [worker for worker in self._team if worker.pid in pids and worker.popen.poll() is None]

    def _terminate(self, dice: random.Random) -> None:
        with psycopg.connect(self.server.url(), autocommit=True) as connection:
            connection.execute(OF_OTHERS)

    def _restart(self, mode: str) -> None:
        began = time.monotonic()
        self.server.stop(mode)
        self.server.start()
        self.outages.append(time.monotonic() - began)
        self._read_for_long()

    def _read_for_long(self) -> None:
        """Hold an old transaction open, like a forgotten psql session: vacuum keeps every row that it may see."""
        if self._reader is not None:
            self._reader.close()
        self._reader = psycopg.connect(self.server.url(), autocommit=True, application_name="reader")
        for statement in LONG_LOOK.split("; "):
            self._reader.execute(statement)
