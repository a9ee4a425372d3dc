"""Maintenance by workers: recovery, even after clock jumps, and pruning once for all workers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from gribmill.database.sqlite import SqliteDatabase
from gribmill.queue.errors import JobNotFound, StoreBusy
from gribmill.queue.model import ClaimRequest
from gribmill.queue.store import Store
from gribmill.queue.store import maintenance as store_maintenance
from gribmill.queue.store.maintenance import CHUNK, Pruned
from gribmill.queue.worker.options import WorkerOptions
from gribmill.queue.worker.supervisor import maintenance
from gribmill.queue.worker.supervisor.maintenance import Maintenance
from tests.queue.worker.sample_types import TYPES, TYPES_PATH
from tests.queue.worker.worker_driver import enqueue

LEASE = 60.0


class Clocks:
    """A wall clock and a monotonic one, both set by the test."""

    def __init__(self) -> None:
        self.wall = 1_800_000_000.0
        self.steady = 1000.0

    def time(self) -> float:
        return self.wall

    def monotonic(self) -> float:
        return self.steady

    def pass_by(self, seconds: float) -> None:
        self.wall += seconds
        self.steady += seconds


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    clocks = Clocks()
    monkeypatch.setattr(maintenance, "time", clocks)
    return clocks


@pytest.fixture
def store(tmp_path: Path, clocks: Clocks) -> Iterator[Store]:
    store = Store(SqliteDatabase(tmp_path / "jobs.db", clock=clocks.time), TYPES)
    yield store
    assert store.verify() == []
    store.close()


def sweeper(store: Store, worker_id: str = "sweeper") -> Maintenance:
    return Maintenance(store, WorkerOptions(types_path=TYPES_PATH, lanes={}, lease_seconds=LEASE), worker_id)


def finish_pruning(one: Maintenance) -> None:
    while one.is_pruning:
        one.prune_some()


def test_a_lost_job_comes_back_at_the_first_sweep_after_its_lease(store: Store, clocks: Clocks) -> None:
    job_id = enqueue(store, "nothing")
    store.claim(ClaimRequest("gone", ("stunt",), LEASE))
    one = sweeper(store)
    clocks.pass_by(LEASE - 1)
    assert one.run_once() == 0
    clocks.pass_by(2)
    assert one.run_once() == 1
    assert store.jobs.get(job_id).status == "pending"


@pytest.mark.parametrize("jump", [+3600.0, -3600.0])
def test_after_a_jump_of_the_clock_owners_get_one_lease_to_renew(store: Store, clocks: Clocks, jump: float) -> None:
    job_id = enqueue(store, "nothing")
    store.claim(ClaimRequest("alive", ("stunt",), LEASE))
    one = sweeper(store)
    clocks.wall += jump
    assert one.run_once() == 0
    clocks.pass_by(20)
    store.workers.heartbeat("alive", LEASE)
    clocks.pass_by(LEASE - 1)
    assert one.run_once() == 0, "the owner has renewed"
    assert store.jobs.get(job_id).status == "processing"


def test_a_job_whose_owner_died_in_the_jump_comes_back_after_that_lease(store: Store, clocks: Clocks) -> None:
    job_id = enqueue(store, "nothing")
    store.claim(ClaimRequest("gone", ("stunt",), LEASE))
    one = sweeper(store)
    clocks.wall += 86_400
    assert one.run_once() == 0
    clocks.pass_by(LEASE + 1)
    assert one.run_once() == 1
    assert store.jobs.get(job_id).status == "pending"


def test_workers_together_prune_once_an_hour(store: Store, clocks: Clocks, monkeypatch: pytest.MonkeyPatch) -> None:
    pruned: list[float] = []

    def pruning(*_: float) -> Iterator[Pruned]:
        pruned.append(clocks.steady)
        yield Pruned(0, 0)

    monkeypatch.setattr(store.maintenance, "pruning", pruning)
    team = [sweeper(store, f"worker-{n}") for n in range(3)]
    for _ in range(3 * 60 + 5):
        clocks.pass_by(60.0)
        for one in team:
            one.run_once()
            finish_pruning(one)
    gaps = [later - earlier for earlier, later in itertools.pairwise(pruned)]
    assert len(pruned) == 4
    assert all(gap >= 3600.0 for gap in gaps)


def test_expired_reservation_makes_workers_look_for_work(store: Store, clocks: Clocks) -> None:
    one = sweeper(store)
    store.reservations.reserve("me", 10.0)
    assert one.run_once() == 0
    clocks.pass_by(11.0)
    assert one.run_once() == 1


def test_a_long_prune_leaves_time_for_heartbeats(store: Store, clocks: Clocks, monkeypatch: pytest.MonkeyPatch) -> None:
    removed: list[str] = []

    def remove_some(statement: str, *_: object) -> int:
        removed.append(statement)
        clocks.pass_by(LEASE / 4)
        return CHUNK if len(removed) < 20 else 0

    monkeypatch.setattr(store.maintenance, "_remove_some", remove_some)
    one = sweeper(store)
    clocks.pass_by(61.0)
    one.run_once()
    while one.is_pruning:
        begun = clocks.steady
        one.prune_some()
        assert clocks.steady - begun <= LEASE / 4, "each step is one transaction"
    assert removed[:20] == ["jobs/prune"] * 20


def test_jobs_are_pruned_even_if_the_search_for_orphans_fails(
    store: Store, clocks: Clocks, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def too_slow() -> int:
        raise StoreBusy("a statement took too long")

    monkeypatch.setattr(store.maintenance, "sweep_orphans", too_slow)
    job_id = enqueue(store, "nothing")
    store.jobs.cancel(job_id)
    one = sweeper(store)
    clocks.pass_by(4 * 86_400)
    one.run_once()
    finish_pruning(one)
    assert "pruning is postponed: a statement took too long" in caplog.text
    with pytest.raises(JobNotFound):
        store.jobs.get(job_id)


def test_waits_that_cannot_be_shortened_do_not_stop_the_worker(
    store: Store, clocks: Clocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A time that was written manually is not in the usual form."""
    monkeypatch.setattr(store_maintenance, "CHUNK", 1)
    enqueue(store, "nothing")
    with store.database.write() as tx:
        sql = "UPDATE jobs SET next_run_at = '2099-01-01', changed_at = '2098-01-01', attempt_no = 0, retry_of = 1"
        tx._cursor.execute(sql)  # type: ignore[attr-defined]
    assert store.maintenance.shorten_waits() == 0
