"""`gribmill work` and `gribmill tick` as users start them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from signal import SIGTERM

import pytest
from click.testing import CliRunner

from gribmill.cli.main import cli
from gribmill.database.sqlite import SqliteDatabase
from gribmill.pipeline.job_types import TYPES
from gribmill.queue.model import NewJob
from gribmill.queue.store import Store
from tests.queue.worker.worker_driver import Workers, statuses
from tests.waiting import wait_until


@pytest.fixture
def store(database: Path) -> Iterator[Store]:
    """A queue with gribmill's own job types."""
    store = Store(SqliteDatabase(database), TYPES)
    yield store
    assert store.verify() == []
    store.close()


def sleep(store: Store, **args: object) -> int:
    return store.jobs.enqueue(NewJob("sleep", args)).id


@pytest.mark.process
def test_work_drains_the_queue_and_ends(store: Store, workers: Workers, database: Path, tmp_path: Path) -> None:
    # Files in the working directory must not shadow Python's modules.
    for name in ("queue.py", "selectors.py", "socket.py", "json.py"):
        (tmp_path / name).write_text("raise SystemExit('the wrong module')\n")
    good = [sleep(store) for _ in range(20)]
    retried = sleep(store, fail="once")
    bad = sleep(store, fail="permanently", say="start")
    script = Path(sys.executable).with_name("gribmill")
    command = [str(script), "--data", str(database.parent), "--log-json", "work", "--lanes", "fetch=2", "--drain"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "finished 22 attempts" in done.stderr
    assert {store.jobs.get(one).status for one in good} == {"completed"}
    assert (store.jobs.get(retried).status, store.jobs.get(retried).retry_count) == ("pending", 1)
    assert (store.jobs.get(bad).status, store.jobs.history(bad).attempts[0].stdout_tail) == ("failed", "start\n")
    lines = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    of_job = [line for line in lines if line.get("job_id") == bad]
    assert of_job and all(
        line["type"] == "sleep" and line["attempt_no"] == 1 and line["tenant_id"] == "global" and line["worker_id"]
        for line in of_job
    )


@pytest.mark.process
def test_work_once_runs_one_job(store: Store, workers: Workers, database: Path) -> None:
    ids = [sleep(store) for _ in range(3)]
    worker = workers.gribmill("--data", str(database.parent), "work", "--lanes", "fetch=1", "--once")
    assert worker.wait() == 0, worker.log
    assert sorted(store.jobs.get(one).status for one in ids) == ["completed", "pending", "pending"]


def completed(store: Store, job_id: int) -> bool:
    return store.jobs.get(job_id).status == "completed"


@pytest.mark.process
def test_work_runs_until_it_is_stopped(store: Store, workers: Workers, database: Path) -> None:
    worker = workers.gribmill("--data", str(database.parent), "work", "--lanes", "fetch=1")
    for _ in range(2):
        job_id = sleep(store)
        wait_until(partial(completed, store, job_id), what="the job to be done")
    worker.signal(SIGTERM)
    assert worker.wait() == 0
    assert [row.state for row in store.workers.list()] == ["stopped"]
    left = [file.name for file in (database.parent / "jobs.db.wake").iterdir()]
    assert left == ["joined"], "it takes its socket along"


@pytest.mark.process
def test_work_runs_without_stderr(store: Store, database: Path, tmp_path: Path) -> None:
    job_id = sleep(store, say="start", fail="once")
    gribmill = f"'{sys.executable}' -m gribmill.cli.main --data '{database.parent}' work --lanes fetch=1 --once"
    done = subprocess.run(["sh", "-c", f"exec {gribmill} 2>&-"], cwd=tmp_path, timeout=120, check=False)
    assert done.returncode == 0
    assert statuses(store, job_id) == ["failed"]
    again = store.jobs.retry(sleep_done(store)).id
    read, write = os.pipe()
    os.close(read)  # the user closed the pager
    done = subprocess.run(["sh", "-c", f"exec {gribmill}"], cwd=tmp_path, stderr=write, timeout=120, check=False)
    os.close(write)
    assert store.jobs.get(again).status == "completed"


def sleep_done(store: Store) -> int:
    """A finished job, to retry."""
    job_id = store.jobs.enqueue(NewJob("sleep", priority=9)).id
    store.jobs.cancel(job_id)
    return job_id


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["work", "--drain", "--once"], "exclude each other"),
        (["work", "--types", "nope"], "there is no job type 'nope'"),
        (["work", "--lanes", "fetch"], "is not NAME=COUNT"),
        (["work", "--lanes", "fetch=0"], "1 to 256 executors"),
        (["work", "--lanes", "build=99999"], "1 to 256 executors"),
        (["work", "--lanes", "fetch=1,biuld=1"], "there is no lane biuld; the lanes are: fetch, build"),
        (["work", "--lanes", "build=1", "--types", "sleep"], "has a job type to run"),
        (["tick", "-n", "0"], "-n"),
    ],
)
def test_invalid_arguments_are_refused_with_a_sentence(database: Path, arguments: list[str], sentence: str) -> None:
    result = CliRunner().invoke(cli, ["--data", str(database.parent), *arguments])
    assert result.exit_code == 2
    assert sentence in result.output


@pytest.mark.process
def test_tick_runs_n_jobs_and_reports_them(store: Store, workers: Workers, database: Path) -> None:
    ids = [sleep(store) for _ in range(3)]
    first = workers.gribmill("--data", str(database.parent), "tick", "-n", "2", "--json")
    rows = json.loads(first.output())
    assert first.wait() == 0
    assert [(row["job_id"], row["outcome"], row["accepted"]) for row in rows] == [
        (ids[0], "succeeded", True),
        (ids[1], "succeeded", True),
    ]
    sleep(store, fail="permanently")
    second = workers.gribmill("--data", str(database.parent), "tick", "-n", "5", "--json")
    assert [row["outcome"] for row in json.loads(second.output())] == ["succeeded", "failed"]
    assert second.wait() == 1
