"""The base specification's statements, unchanged, in a plain SQL shell beside running workers."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from gribmill.queue.model import NewJob
from gribmill.queue.store import Store
from tests.queue.worker.worker_driver import Workers, attempts, enqueue, holding, statuses
from tests.waiting import wait_until

pytestmark = pytest.mark.process

CLAIM = """UPDATE jobs SET status = 'processing', worker_id = 'hand-1', started_at = CURRENT_TIMESTAMP WHERE id =
(SELECT id FROM jobs WHERE status = 'pending' ORDER BY priority DESC, created_at ASC LIMIT 1) RETURNING id"""
COMPLETE = "UPDATE jobs SET status = 'completed', completed_at = CURRENT_TIMESTAMP WHERE id = ?"
FAIL = "UPDATE jobs SET status = 'failed', completed_at = CURRENT_TIMESTAMP, error_message = 'Traceback' WHERE id = ?"
RESET = "UPDATE jobs SET status = 'pending', retry_count = retry_count + 1 WHERE id = ? AND retry_count < 3"
DELETE = "DELETE FROM jobs WHERE id = ?"
JOBS = 80


@pytest.fixture
def shell(store: Store, database: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(database, timeout=30, isolation_level=None)) as connection:
        yield connection


def test_manual_worker_and_processes_share_a_queue_and_no_attempt_runs_twice(
    store: Store, workers: Workers, database: Path, shell: sqlite3.Connection, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    by_hand: Counter[int] = Counter()
    store.jobs.enqueue_many(NewJob("stunt", {"do": "mark", "path": str(ran)}) for _ in range(JOBS))
    team = [workers.start(database) for _ in range(2)]
    wait_until(ran.exists, what="a process to begin")
    while row := shell.execute(CLAIM).fetchone():
        (job_id,) = row
        by_hand[job_id] += 1
        if by_hand[job_id] == 1 and job_id % 5 == 0:
            shell.execute(FAIL, (job_id,))
            shell.execute(RESET, (job_id,))
        else:
            shell.execute(COMPLETE, (job_id,))
    wait_until(lambda: _statuses(shell) == {"completed": JOBS}, what="every job to end")
    lines = ran.read_text().splitlines()
    assert len(lines) == len({*lines}), "no attempt was run by two"
    successes = Counter(
        one.worker_id for n in range(1, JOBS + 1) for one in attempts(store, n) if one.status == "succeeded"
    )
    assert sum(successes.values()) == JOBS
    assert len(lines) == JOBS - successes["hand-1"]
    assert all(process.popen.poll() is None for process in team)


@pytest.mark.parametrize(
    ("statement", "ended", "child", "tolerant"),
    [
        (COMPLETE, ["succeeded"], "completed", "completed"),
        (FAIL, ["failed"], "cancelled", "completed"),
        (DELETE, [], "cancelled", "completed"),
    ],
)
def test_running_job_is_ended_manually_and_its_children_follow(
    store: Store, workers: Workers, database: Path, shell: sqlite3.Connection, tmp_path: Path,
    statement: str, ended: list[str], child: str, tolerant: str,
) -> None:  # fmt: skip
    path = tmp_path / "go"
    parent = enqueue(store, "hold", path=str(path))
    quiet = {"do": "nothing"}
    waits = store.jobs.enqueue(NewJob("stunt", quiet, after=(parent,))).id
    ignores = store.jobs.enqueue(NewJob("stunt", quiet, after=(parent,), on_parent_failure="ignore")).id
    worker = workers.start(database)
    wait_until(lambda: holding(path), what="the job to run")
    shell.execute(statement, (parent,))
    path.touch()
    wait_until(lambda: store.jobs.get(waits).completed_at and store.jobs.get(ignores).completed_at, what="the children")
    wait_until(lambda: "no longer ours" in worker.log or "taken from us" in worker.log, what="the worker to notice")
    assert (store.jobs.get(waits).status, store.jobs.get(ignores).status) == (child, tolerant)
    if ended:
        assert statuses(store, parent) == ended


def test_manually_reset_dead_letter_and_held_job_run_again(
    store: Store, workers: Workers, database: Path, shell: sqlite3.Connection, tmp_path: Path
) -> None:
    first, second = tmp_path / "go-1", tmp_path / "go-2"
    dead = enqueue(store, "die", max_attempts=1)
    worker = workers.start(database, lanes={"fetch": 2})
    wait_until(lambda: store.jobs.get(dead).dead_lettered_at, what="the dead letter")
    shell.execute(RESET, (dead,))
    wait_until(lambda: statuses(store, dead) == ["failed", "failed"], what="it to run again")
    held = enqueue(store, "hold_attempt", path=str(tmp_path / "go"))
    wait_until(lambda: holding(first), what="the job to run")
    shell.execute(RESET, (held,))
    wait_until(lambda: holding(second), what="it to run again")
    first.touch()
    wait_until(lambda: "no longer ours" in worker.log or "taken from us" in worker.log, what="the worker to notice")
    assert store.jobs.get(held).status == "processing"
    second.touch()
    wait_until(lambda: store.jobs.get(held).completed_at, what="the second attempt to end")
    assert statuses(store, held) == ["lost", "succeeded"]


def _statuses(shell: sqlite3.Connection) -> dict[str, int]:
    return dict(shell.execute("SELECT status, count(*) FROM jobs GROUP BY status"))
