"""`python -m tests.queue.worker.die_in_transactions ADDRESS DEATHS SEED COUNT`: kills in and between statements.

Prints as JSON how many processes died at each statement. It forks, so that each death takes milliseconds.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gribmill.database.postgres.handle import Handle
from gribmill.database.postgres.session import PostgresSession
from gribmill.database.sqlite.host_lock import HostLock
from gribmill.database.sqlite.session import SqliteSession
from gribmill.queue.model import ClaimRequest, Failed, NewJob, Report, Snoozed, Succeeded
from gribmill.queue.store import Store
from gribmill.queue.store.workers import new_worker_id
from tests.queue.backends import is_postgres, open_address
from tests.queue.worker.random_kills import any_left
from tests.queue.worker.sample_types import TYPES

PROCESSES = 4
LEASE_SECONDS = 0.3
KINDS = ("stunt", "group")


class Fate:
    """Kills this process at the n-th statement from now, or right after the following commit."""

    def __init__(self, dice: random.Random, deaths: Path, most: int) -> None:
        self._left = dice.randrange(most // 30, most)
        self._behind_commit = dice.random() < 0.3
        self._deaths = deaths

    def hook(self, owner: type, name: str, where: str, *, after: bool = False) -> None:
        """Kill the process before or after a method."""
        real: Callable[..., Any] = getattr(owner, name)

        def call(*args: Any, **options: Any) -> Any:
            self._left -= 1
            due = self._left <= 0 and (where == "behind a commit") == self._behind_commit
            if due and not after:
                self.strike(where)
            result = real(*args, **options)
            if due:
                self.strike(where)
            return result

        setattr(owner, name, call)

    def strike(self, where: str) -> None:
        with self._deaths.open("a") as file:
            file.write(f"{where}\n")
        os.kill(os.getpid(), signal.SIGKILL)


def work(address: str, seed: int, deaths: Path) -> None:
    """Claim and finish jobs until none is left, or until the process is killed."""
    dice = random.Random(seed)
    store = Store(open_address(address, synchronous="normal"), TYPES)
    # On PostgreSQL most transactions are a single call.
    fate = Fate(dice, deaths, 120 if is_postgres(address) else 600)
    if is_postgres(address):
        fate.hook(PostgresSession, "together", "inside a transaction")
        fate.hook(Handle, "commit", "behind a commit", after=True)
        fate.hook(Handle, "commit_all", "behind a commit", after=True)
    else:
        fate.hook(SqliteSession, "rows", "inside a transaction")
        fate.hook(SqliteSession, "execute", "inside a transaction")
        fate.hook(HostLock, "release", "behind a commit")
    me = new_worker_id()
    pause = threading.Event()
    while True:
        request = ClaimRequest(me, KINDS, LEASE_SECONDS)
        batch = store.claim(request)
        if not batch:
            store.maintenance.recover()
            if not any_left(store):
                return
            pause.wait(0.02)
        if batch and dice.random() < 0.01:
            pause.wait(LEASE_SECONDS * 2)  # a zombie: its report must change nothing if it was replaced
        store.exchange(me, [Report(job.ref, _outcome(dice)) for job in batch])


def _outcome(dice: random.Random) -> Succeeded | Failed | Snoozed:
    roll = dice.random()
    if roll < 0.02:
        return Failed("bad luck")
    if roll < 0.04:
        return Snoozed(0.01)
    if roll < 0.07:
        return Succeeded(then=(NewJob("stunt", {"do": "nothing"}, max_attempts=1000),))
    return Succeeded()


def main() -> None:
    address, deaths, seed, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    store = Store(open_address(address, synchronous="normal"), TYPES)
    singles = [NewJob("stunt", {"do": "nothing"}, max_attempts=1000) for _ in range(count // 2)]
    groups = [NewJob("group", {"group": str(n // 12), "n": n}, max_attempts=1000) for n in range(count - count // 2)]
    store.jobs.enqueue_many(singles + groups)
    store.close()
    running: set[int] = set()
    killed = failed = done = 0
    while not done:
        while len(running) < PROCESSES:
            seed += 1
            pid = os.fork()
            if pid == 0:
                code = 1
                try:
                    work(address, seed, deaths)
                    code = 0
                except BaseException:  # noqa: BLE001 — os._exit would say nothing of it
                    traceback.print_exc()
                os._exit(code)
            running.add(pid)
        pid, status = os.wait()
        running.discard(pid)
        killed += os.WIFSIGNALED(status)
        failed += os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0
        done += os.WIFEXITED(status)
    for _ in running:
        os.wait()
    print(json.dumps({"killed": killed, "failed": failed, "deaths": Counter(deaths.read_text().splitlines())}))


if __name__ == "__main__":
    main()
