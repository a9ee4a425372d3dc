"""A host's clock jumps while its workers run: no attempt is lost, no slot fires twice, no retry is delayed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from gribmill.queue.model import NewTrigger
from gribmill.queue.store import Store
from tests.queue.worker.worker_driver import Process, Workers, enqueue, holding, statuses
from tests.servers.skewed_clock import SkewedClock
from tests.waiting import wait_until

pytestmark = pytest.mark.process

HOUR = 3600
DAY = 24 * HOUR


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SkewedClock:
    """The clock of the processes that a test starts."""
    clock = SkewedClock(tmp_path, "host")
    for name, value in clock.variables.items():
        monkeypatch.setenv(name, value)
    return clock


def jump(clock: SkewedClock, seconds: int, by: int, *workers: Process) -> None:
    """Set the clock, and wait until every worker has noticed."""
    before = [one.log.count("the clock jumped") for one in workers]
    clock.set(seconds)
    wait_until(lambda: all(map(has_noticed, workers, before)), what="the workers to notice it")
    assert all(f"the clock jumped by {by:+d} s" in one.log for one in workers)


def has_noticed(worker: Process, before: int) -> bool:
    return worker.log.count("the clock jumped") > before


def hold_through(jump: Callable[[], None], store: Store, paths: Sequence[Path]) -> list[list[str]]:
    """Run jobs while the clock jumps; returns their attempts."""
    jobs = [enqueue(store, "hold", path=str(path)) for path in paths]
    wait_until(lambda: all(map(holding, paths)), what="the jobs to run")
    jump()
    for path in paths:
        path.touch()
    wait_until(lambda: all(store.jobs.get(one).completed_at for one in jobs), what="the jobs to end")
    return [statuses(store, one) for one in jobs]


def of_trigger(store: Store, trigger: int) -> list[str | None]:
    return [job.source_ref for job in store.jobs.list().jobs if job.trigger_id == trigger]


def test_jobs_continue_and_slots_fire_once_when_the_clock_jumps(
    store: Store, workers: Workers, database: Path, tmp_path: Path, clock: SkewedClock
) -> None:
    hourly = store.triggers.add(NewTrigger("hourly", "sleep", {}, cron="0 * * * *", misfire="all")).id
    team = [workers.start(database, lease_seconds=3.0) for _ in range(2)]
    for number, (ahead, by) in enumerate(((HOUR, HOUR), (0, -HOUR), (-HOUR, -HOUR), (0, HOUR))):
        paths = [tmp_path / f"go-{number}-{one}" for one in range(2)]
        ended = hold_through(partial(jump, clock, ahead, by, *team), store, paths)
        assert ended == [["succeeded"], ["succeeded"]]
    slots = wait_until(lambda: of_trigger(store, hourly), what="the slot's job")
    assert len(slots) == len({*slots}) <= 2, "an hour ahead is one slot, or two at the turn of an hour"


def test_retry_timed_by_a_wrong_clock_runs_after_its_backoff(
    store: Store, workers: Workers, database: Path, clock: SkewedClock
) -> None:
    clock.set(DAY)
    worker = workers.start(database, lease_seconds=3.0)
    job_id = enqueue(store, "die", kind="slow_to_retry", max_attempts=2)
    wait_until(lambda: store.jobs.get(job_id).retry_count, what="the first attempt to fail")
    jump(clock, 0, -DAY, worker)

    def wait_left() -> float:
        job = store.jobs.get(job_id)
        assert job.next_run_at is not None
        return job.next_run_at.timestamp() - store.database.clock()  # type: ignore[attr-defined, no-any-return]

    assert wait_until(lambda: wait_left() < 2 * HOUR, what="its time to be right")
    assert wait_left() > HOUR / 2
