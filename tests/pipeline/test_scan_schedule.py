"""Each model is scanned at its own pace, and never twice at the same time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gribmill.pipeline import scan_schedule as schedule_module
from gribmill.pipeline.context import Context
from gribmill.pipeline.open_queue import open_queue
from gribmill.pipeline.scan_schedule import ScanSchedule, ScanScheduleThread
from gribmill.queue.errors import StoreFull
from gribmill.queue.model import ClaimRequest, NewJob, Report, Snoozed
from tests.waiting import wait_until


class Clock:
    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


def test_scans_are_enqueued_at_once_and_then_when_due(context: Context) -> None:
    clock = Clock(datetime(2026, 11, 15, 6, 0, tzinfo=UTC))
    store = open_queue(context.settings)
    schedule = ScanSchedule(store, [context.models["hrrr"], context.models["gfs"]], clock)
    assert [job.args["model_id"] for job in schedule.run_once()] == ["hrrr", "gfs"]
    assert schedule.run_once() == []
    # The 06z run of HRRR begins to arrive some fifty minutes later.
    clock.now += timedelta(minutes=53)
    assert "hrrr" in [job.args.get("model_id") for job in schedule.run_once()]


def test_active_scan_is_not_duplicated(context: Context) -> None:
    clock = Clock(datetime(2026, 11, 15, 6, 55, tzinfo=UTC))
    store = open_queue(context.settings)
    for _ in range(5):
        ScanSchedule(store, [context.models["hrrr"]], clock).run_once()
        clock.now += timedelta(minutes=10)
    assert len(store.jobs.list().jobs) == 1


def test_old_runs_are_pruned_every_few_hours(context: Context) -> None:
    clock = Clock(datetime(2026, 11, 15, 6, 0, tzinfo=UTC))
    schedule = ScanSchedule(open_queue(context.settings), [], clock)
    assert schedule.run_once() == []
    clock.now += timedelta(hours=1)
    assert [job.type for job in schedule.run_once()] == ["prune"]
    assert schedule.run_once() == []


def test_a_scan_that_could_not_be_enqueued_stays_due(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(datetime(2026, 11, 15, 5, 0, tzinfo=UTC))
    store = open_queue(context.settings)
    schedule = ScanSchedule(store, [context.models["gfs"]], clock)
    clock.now += timedelta(hours=1)

    def full(jobs: list[NewJob]) -> None:
        raise StoreFull("no space is left")

    with monkeypatch.context() as patch:
        patch.setattr(store.jobs, "enqueue_many", full)
        with pytest.raises(StoreFull):
            schedule.run_once()
    assert [job.type for job in schedule.run_once()] == ["scan_source", "prune"]


def test_scans_continue_after_a_clock_a_year_ahead_is_corrected(context: Context) -> None:
    right = datetime(2026, 11, 15, 6, 0, tzinfo=UTC)
    clock = Clock(right.replace(year=2027))
    store = open_queue(context.settings)
    store.database.clock = lambda: clock.now.timestamp()  # type: ignore[attr-defined]
    schedule = ScanSchedule(store, [context.models["hrrr"]], clock)
    schedule.run_once()
    (scan,) = store.claim(ClaimRequest("worker", ("scan_source",), 60.0))
    store.exchange("worker", [Report(scan.ref, Snoozed(600.0, "it arrives"))])
    clock.now = right
    assert [job.args for job in schedule.run_once()] == [{"model_id": "hrrr"}]
    assert store.claim(ClaimRequest("worker", ("scan_source",), 60.0)), "the scan does not wait for the year 2027"


def test_a_scan_schedule_survives_any_error(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule_module, "RETRY_SECONDS", 0.01)
    store = open_queue(context.settings)
    schedule = ScanSchedule(store, [context.models["hrrr"]])
    really, failures = schedule.run_once, iter([RuntimeError("surprise"), StoreFull("no space is left")])

    def faulty() -> list[NewJob]:
        for failure in failures:
            raise failure
        return really()

    monkeypatch.setattr(schedule, "run_once", faulty)
    thread = ScanScheduleThread(schedule, store)
    thread.start()
    wait_until(lambda: store.jobs.list().jobs, what="a scan")
    thread.stop()
    assert [job.type for job in store.jobs.list().jobs] == ["scan_source"]


def test_scans_are_listed_paused_and_fired_manually(context: Context) -> None:
    clock = Clock(datetime(2026, 11, 15, 6, 0, tzinfo=UTC))
    store = open_queue(context.settings)
    schedule = ScanSchedule(store, [context.models["hrrr"], context.models["gfs"]], clock)
    schedule.run_once()
    hrrr, gfs, prune = store.triggers.list()
    assert [one.label for one in (hrrr, gfs, prune)] == ["scan hrrr", "scan gfs", "remove old runs"]
    assert {one.kind for one in (hrrr, gfs, prune)} == {"adaptive"}
    assert hrrr.next_fire_at is not None and hrrr.next_fire_at > clock.now
    assert prune.next_fire_at == clock.now + timedelta(minutes=10)
    assert (hrrr.last_fired_at is not None, prune.last_fired_at is not None) == (True, False)
    store.triggers.set_enabled(hrrr.id, enabled=False)
    clock.now += timedelta(hours=7)
    assert [job.args.get("model_id") for job in schedule.run_once()] == ["gfs", None]
    fired = store.triggers.fire_now(hrrr.id)
    assert fired.job is not None
    assert store.jobs.get(fired.job.id).args == {"model_id": "hrrr"}
    store.triggers.set_enabled(hrrr.id, enabled=True)
    clock.now += timedelta(hours=7)
    assert "hrrr" in [job.args.get("model_id") for job in schedule.run_once()]
    schedule.close()
    assert {one.next_fire_at for one in store.triggers.list()} == {None}
    assert [one.id for one in store.triggers.list()] == [hrrr.id, gfs.id, prune.id]
