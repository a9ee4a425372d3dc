"""Kills and stops workers at random from a seed, and checks every job afterwards."""

from __future__ import annotations

import os
import random
import statistics
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGSTOP, Signals
from typing import Any

from gribmill.queue.model import Job, NewJob
from gribmill.queue.store import Store
from gribmill.queue.store.jobs.listing import JobFilter
from tests.queue.worker.worker_driver import Process, Workers, alive, is_stopped
from tests.waiting import wait_until

LEASE_SECONDS = 2.0
GROUP_SIZE = 12
OPTIONS: dict[str, Any] = {
    "lanes": {"fetch": 1, "build": 1},
    "lease_seconds": LEASE_SECONDS,
    "poll_seconds": 0.2,
    "synchronous": "normal",  # only processes are killed, so fsync is not needed
    "log_level": "warning",
}


@dataclass
class Storm:
    """Keeps workers running while killing, stopping and resuming them and their executors at work."""

    workers: Workers
    store: Store
    database: str
    seed: int
    marks: Path
    count: int = 2
    jobs_between: tuple[int, int] = (60, 200)
    hits: Counter[str] = field(default_factory=Counter)
    jobs: list[int] = field(default_factory=list)
    _team: list[Process] = field(default_factory=list)
    _asleep: dict[int, float] = field(default_factory=dict)

    def add_jobs(self, count: int) -> None:
        self.jobs += fill(self.store, count, self.marks)

    def rage(self, rounds: int) -> None:
        """Kill or stop in each of the four ways `rounds` times, each time after some more jobs have ended."""
        dice = random.Random(self.seed)
        strikes = ["supervisor", "executor", "stop", "stop executor"] * rounds
        dice.shuffle(strikes)
        self._fill_up()
        for kind in strikes:
            target = ended(self.store) + dice.randint(*self.jobs_between)
            wait_until(partial(self._reached, target), 300.0, "the workers to get on")
            wait_until(partial(self._strike, kind, dice), 300.0, "a process to strike")
            self._fill_up()

    def calm(self) -> None:
        """Resume all processes and stop interfering."""
        self._wake(float("inf"))
        self._fill_up()

    def _reached(self, target: int) -> bool:
        self._wake(time.monotonic())
        self._supply()
        return ended(self.store) >= target

    def _supply(self) -> None:
        """Enqueue more if the workers got far while this process was not scheduled: a strike must hit them at work."""
        if len(self.jobs) - ended(self.store) < self.jobs_between[1]:
            self.add_jobs(3 * self.jobs_between[1])

    def _fill_up(self) -> None:
        self._team = [worker for worker in self._team if worker.popen.poll() is None]
        while len(self._team) < self.count:
            self._team.append(self.workers.start(self.database, **OPTIONS))

    def _strike(self, kind: str, dice: random.Random) -> bool:
        """Hit a busy process; False if none is busy now."""
        self._wake(time.monotonic())
        self._supply()
        busy = [job for job in processing(self.store) if pid_of(job) not in self._asleep]
        if not busy:
            return False
        job = dice.choice(busy)
        victim = pid_of(job)
        if "executor" in kind:
            victim = self.store.jobs.history(job.id).attempts[-1].pid or victim
        if kind.startswith("stop"):
            self._asleep[victim] = time.monotonic() + dice.uniform(0.5, 2.0) * LEASE_SECONDS
            return self._hit(victim, SIGSTOP, kind)
        return self._hit(victim, SIGKILL, kind) if kind == "executor" else self._kill_with_jobs(victim, kind)

    def _kill_with_jobs(self, supervisor: int, kind: str) -> bool:
        """Stop it first, to see whether it still has jobs."""
        self._hit(supervisor, SIGSTOP, "stopped to look")
        wait_until(lambda: is_stopped(supervisor) or not alive(supervisor), what="the supervisor to stop")
        if any(pid_of(job) == supervisor for job in processing(self.store)):
            return self._hit(supervisor, SIGKILL, kind)
        self._hit(supervisor, SIGCONT, "woken")
        return False

    def _hit(self, pid: int, signum: Signals, kind: str) -> bool:
        try:
            os.kill(pid, signum)
        except ProcessLookupError:  # it ended before the signal
            return False
        self.hits[kind] += 1
        return True

    def _wake(self, now: float) -> None:
        for pid, wake_at in list(self._asleep.items()):
            if now >= wake_at:
                self._hit(pid, SIGCONT, "woken")
                del self._asleep[pid]


def processing(store: Store) -> tuple[Job, ...]:
    return store.jobs.list(JobFilter(status="processing"), limit=100).jobs


def pid_of(job: Job) -> int:
    """Worker ids are hostname-pid-nonce."""
    return int((job.worker_id or "").split("-")[-2])


def ended(store: Store) -> int:
    return sum(kind.counts.get("completed", 0) for kind in store.types.stats())


def fill(store: Store, count: int, marks: Path) -> list[int]:
    """Short jobs of three types; enough attempts for any storm."""
    path = str(marks)
    jobs = []
    for n in range(count):
        kind = ("sleep", "stunt", "group")[n % 3]
        args: dict[str, dict[str, Any]] = {
            "sleep": {},
            "stunt": {"do": "mark", "path": path},
            "group": {"do": "mark", "path": path, "group": str(n // (3 * GROUP_SIZE)), "n": n},
        }
        jobs.append(NewJob(kind, args[kind], priority=n % 5, max_attempts=1000))
    return [made.id for made in store.jobs.enqueue_many(jobs)]


def wait_for_all(store: Store, seconds: float) -> None:
    """Wait until every job has ended, however slow the machine is; fails if none ends for this long."""
    while left := number_left(store):
        wait_until(partial(_fewer_left, store, left), seconds, f"one of {left} jobs to end")


def _fewer_left(store: Store, than: int) -> bool:
    return number_left(store) < than


def any_left(store: Store) -> bool:
    """Whether some job has not ended."""
    return number_left(store) > 0


def number_left(store: Store) -> int:
    """How many jobs have not ended. One read for all states: a job that is retried passes from one to another."""
    return sum(kind.counts.get(status, 0) for kind in store.types.stats() for status in ("pending", "processing"))


def reckon(store: Store, ids: list[int], marks: Path) -> dict[str, object]:
    """Check every guarantee for every job; returns figures for a report."""
    assert store.verify() == []
    begun = Counter(marks.read_text().split("\n")) if marks.exists() else Counter()
    assert all(count == 1 for mark, count in begun.items() if mark), "an attempt was run twice"
    known = set()
    ends: Counter[str] = Counter()
    recovery = []
    for job_id in ids:
        history = store.jobs.history(job_id)
        assert history.job.status == "completed", history
        runs = [attempt.status for attempt in history.attempts]
        assert runs.count("succeeded") == 1 and runs[-1] == "succeeded", history
        assert set(runs) <= {"succeeded", "lost", "failed", "snoozed"}, history
        ends.update(runs)
        known |= {f"{job_id} {attempt.attempt_no}" for attempt in history.attempts}
        if history.job.type != "sleep":
            assert f"{job_id} {len(runs)}" in begun, "completed, but never run"
        for lost, again in zip(history.attempts, history.attempts[1:], strict=False):
            if lost.status == "lost" and lost.started_at and again.started_at:
                recovery.append((again.started_at - lost.started_at).total_seconds())
    assert {mark for mark in begun if mark} <= known, "something ran that was not claimed"
    return {
        "jobs": len(ids),
        "attempts": dict(ends),
        "recovered": len(recovery),
        "recovery_median_s": round(statistics.median(recovery), 2) if recovery else None,
        "recovery_max_s": round(max(recovery), 2) if recovery else None,
    }
