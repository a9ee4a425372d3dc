"""Killed workers, server crashes, cut connections and an old transaction: no job is lost or completed twice."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from gribmill.queue.model import NewJob
from gribmill.queue.store import Store
from tests.queue.outages.chaos import STRIKES, Chaos
from tests.queue.worker.random_kills import fill, reckon, wait_for_all
from tests.queue.worker.worker_driver import Workers
from tests.servers.postgres import PostgresServer

pytestmark = [pytest.mark.process, pytest.mark.postgres, pytest.mark.timeout(900)]

SEED = 20230125


def test_chaos_loses_nothing_and_does_nothing_twice(
    server: PostgresServer, store: Store, workers: Workers, tmp_path: Path
) -> None:
    marks = tmp_path / "marks"
    ids = fill(store, 1800, marks)
    # The workers must be busy when the failures begin.
    slow = [NewJob("sleep", {"seconds": 0.3}, priority=10, max_attempts=1000)] * 40
    ids += [made.id for made in store.jobs.enqueue_many(slow)]
    chaos = Chaos(server, store, workers, SEED, marks, ids)
    chaos.rage(rounds=1)
    chaos.calm()
    wait_for_all(store, 180)
    figures = reckon(store, chaos.jobs, marks)
    assert figures["recovered"], "it did no harm"
    assert chaos.hits == STRIKES, "every failure happened"
    assert store.verify() == []
    print(figures, dict(chaos.hits), f"server away {[round(one, 2) for one in chaos.outages]} s")


@pytest.mark.soak
def test_chaos_for_minutes(
    server: PostgresServer, store: Store, workers: Workers, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    end = time.monotonic() + float(os.environ.get("GRIBMILL_SOAK_MINUTES", "10")) * 60
    seed, marks = SEED, tmp_path / "marks"
    ids: list[int] = []
    while time.monotonic() < end:
        seed += 1
        ids += fill(store, 20_000, marks)
        chaos = Chaos(server, store, workers, seed, marks, ids, count=4)
        chaos.rage(rounds=10)
        chaos.calm()
        wait_for_all(store, 600)
        figures = reckon(store, ids, marks)
        with capsys.disabled():
            print(f"seed {seed}: {figures} {dict(chaos.hits)}, server away {chaos.outages}", flush=True)
        workers.end()
        assert store.verify() == []
