"""kill -9 of any process at any time: every job ends once and no attempt succeeds twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gribmill.database.sqlite import SqliteDatabase
from gribmill.queue.model import Job
from gribmill.queue.store import Store
from tests.queue.backends import BOTH
from tests.queue.worker.random_kills import Storm, reckon, wait_for_all
from tests.queue.worker.sample_types import TYPES
from tests.queue.worker.worker_driver import Workers

pytestmark = [pytest.mark.process, pytest.mark.timeout(900)]

SEED = 20230125


@pytest.mark.parametrize("address", BOTH, indirect=True)
def test_workers_killed_at_random_lose_nothing_and_do_nothing_twice(
    store: Store, workers: Workers, address: str, tmp_path: Path
) -> None:
    marks = tmp_path / "marks"
    storm = Storm(workers, store, address, SEED, marks)
    storm.add_jobs(2400)
    storm.rage(rounds=2)
    storm.calm()
    wait_for_all(store, 120.0)
    figures = reckon(store, storm.jobs, marks)
    assert storm.hits["supervisor"] and storm.hits["executor"], storm.hits
    assert figures["recovered"], "the storm did no harm"
    print(figures, dict(storm.hits))


def kill_in_transactions(address: str, deaths: Path, seed: int, count: int) -> dict[str, object]:
    module = "tests.queue.worker.die_in_transactions"
    command = [sys.executable, "-m", module, address, str(deaths), str(seed), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, object] = json.loads(done.stdout)
    assert result["failed"] == 0, done.stderr
    return result


def check_after_kills(store: Store, count: int) -> None:
    page: list[Job] = []
    before = None
    while True:
        found = store.jobs.list(limit=1000, before=before)
        page += found.jobs
        before = found.next_before
        if before is None:
            break
    assert len(page) >= count
    assert {job.status for job in page} == {"completed"}
    assert store.verify() == []


@pytest.mark.parametrize("address", BOTH, indirect=True)
def test_processes_that_die_inside_transactions_leave_the_queue_sound(
    store: Store, address: str, tmp_path: Path
) -> None:
    result = kill_in_transactions(address, tmp_path / "deaths", SEED, 1500)
    check_after_kills(store, 1500)
    deaths = result["deaths"]
    assert isinstance(deaths, dict)
    assert deaths.keys() == {"inside a transaction", "behind a commit"}, deaths
    print(result)


@pytest.mark.soak
@pytest.mark.parametrize("address", BOTH, indirect=True)
def test_workers_killed_at_random_for_minutes(
    store: Store, workers: Workers, address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    minutes = float(os.environ.get("GRIBMILL_SOAK_MINUTES", "10"))
    end = time.monotonic() + minutes * 60
    seed = SEED
    ids: list[int] = []
    marks = tmp_path / "marks"
    while time.monotonic() < end:
        seed += 1
        storm = Storm(workers, store, address, seed, marks, count=4, jobs=ids)
        storm.add_jobs(10_000)
        storm.rage(rounds=10)
        storm.calm()
        wait_for_all(store, 600.0)
        figures = reckon(store, ids, marks)
        with capsys.disabled():
            print(f"seed {seed}: {figures} {dict(storm.hits)}", flush=True)
        workers.end()
        assert store.verify() == []


@pytest.mark.soak
def test_processes_killed_inside_transactions_for_minutes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    minutes = float(os.environ.get("GRIBMILL_SOAK_MINUTES", "10"))
    end = time.monotonic() + minutes * 60
    seed = SEED
    while time.monotonic() < end:
        seed += 10_000
        database = tmp_path / f"{seed}" / "jobs.db"
        result = kill_in_transactions(str(database), tmp_path / f"{seed}.deaths", seed, 20_000)
        store = Store(SqliteDatabase(database), TYPES)
        check_after_kills(store, 20_000)
        store.close()
        with capsys.disabled():
            print(f"seed {seed}: {result}", flush=True)
