"""Queries: lists with cursors and filters, statistics, counters."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gribmill.queue.errors import JobNotFound
from gribmill.queue.model import NewJob
from gribmill.queue.store import Store
from gribmill.queue.store.jobs.listing import JobFilter
from gribmill.queue.store.types.types import Throughput, TypeStats
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.store_driver import add, claim, fail, snooze, stop, succeed, take
from tests.queue.store.tested_backend import ONLY_SQLITE, BackendUnderTest


def stats_of(store: Store, kind: str) -> TypeStats:
    return next(stats for stats in store.types.stats() if stats.type == kind)


def test_pages_have_no_gaps_or_duplicates(store: Store) -> None:
    ids = [made.id for made in store.jobs.enqueue_many(NewJob("plain") for _ in range(7))]
    seen: list[int] = []
    before = None
    while True:
        page = store.jobs.list(limit=3, before=before)
        seen += [job.id for job in page.jobs]
        add(store)
        before = page.next_before
        if before is None:
            break
    assert seen == ids[::-1], "newest first; what comes meanwhile shifts nothing"


def test_filters_narrow_by_every_column_they_name(store: Store, clock: FakeClock) -> None:
    plain = add(store, tenant_id="t")
    clock.advance(100)
    tile = add(store, "tile", {"hour": 2})
    middle = datetime.fromtimestamp(clock() - 50, UTC)
    take(store, "w9", ("tile",))

    def found(**wanted: object) -> list[int]:
        return [job.id for job in store.jobs.list(JobFilter(**wanted)).jobs]  # type: ignore[arg-type]

    assert found(status="pending") == found(type="plain") == found(tenant_id="t") == [plain]
    assert found(status="processing") == found(group_key="hour/002") == found(worker_id="w9") == [tile]
    assert found(created_after=middle) == [tile]
    assert found(created_before=middle) == [plain]
    assert found(type="tile", tenant_id="t") == []


def test_statistics_cover_the_last_hour(store: Store, clock: FakeClock) -> None:
    for wait, run in ((1, 10), (3, 30), (2, 20)):
        add(store)
        clock.advance(wait)
        job = take(store)
        clock.advance(run)
        succeed(store, job) if run < 30 else fail(store, job, permanent=True)
    stats = stats_of(store, "plain")
    assert (stats.finished, stats.failed) == (3, 1)
    assert stats.failure_rate == pytest.approx(1 / 3)
    waits, runs = (stats.wait_p50, stats.wait_p95), (stats.run_p50, stats.run_p95)
    assert waits == pytest.approx((2, 3), abs=0.01)
    assert runs == pytest.approx((20, 30), abs=0.01)
    clock.advance(4000)
    assert stats_of(store, "plain").finished == 0
    assert stats_of(store, "plain").failure_rate is None


def test_wait_ends_with_the_first_attempt(store: Store, clock: FakeClock) -> None:
    add(store)
    clock.advance(2)
    fail(store, take(store))
    clock.advance(500)
    succeed(store, take(store))
    assert stats_of(store, "plain").wait_p50 == pytest.approx(2, abs=0.01)


def test_oldest_ready_job_is_the_one_that_waits_longest(store: Store, clock: FakeClock) -> None:
    assert stats_of(store, "plain").oldest_ready_seconds is None
    add(store, priority=-5)
    clock.advance(40)
    add(store, priority=5)
    clock.advance(2)
    assert stats_of(store, "plain").oldest_ready_seconds == 42


def test_counters_follow_every_change(store: Store, clock: FakeClock) -> None:
    for _ in range(6):
        add(store)
    add(store, "tile")
    jobs = [take(store, types=("plain",)) for _ in range(5)]
    succeed(store, jobs[0])
    fail(store, jobs[1])
    fail(store, jobs[2], permanent=True)
    stop(store, jobs[3])
    snooze(store, jobs[4], 5)
    assert stats_of(store, "plain").counts == {"pending": 3, "completed": 1, "failed": 1, "cancelled": 1}
    assert stats_of(store, "tile").counts == {"pending": 1}
    clock.advance(10)
    store.maintenance.prune(0, 0)
    assert stats_of(store, "plain").counts == {"pending": 3}


def test_a_missing_job_is_an_error_with_its_id(store: Store) -> None:
    for look in (store.jobs.get, store.jobs.history):
        with pytest.raises(JobNotFound, match="there is no job 5; it may have been pruned"):
            look(5)


@ONLY_SQLITE
def test_change_by_another_connection_is_noticed(store: Store, backend: BackendUnderTest) -> None:
    other = backend.open()
    store.database.may_have_work()
    assert not store.database.may_have_work()
    add(other)
    assert store.database.may_have_work()
    assert not store.database.may_have_work()


def test_job_enqueued_by_another_connection_is_noticed(store: Store, backend: BackendUnderTest) -> None:
    other = backend.open()
    store.database.may_have_work()
    assert not store.database.may_have_work()
    add(other)
    assert store.database.may_have_work()


def test_work_is_claimed_by_type(store: Store, clock: FakeClock) -> None:
    add(store)
    assert claim(store, types=("tile",)) == ()
    assert claim(store, types=()) == ()
    add(store, "tile", delay_seconds=5)
    assert claim(store, types=("tile",)) == ()
    clock.advance(5)
    assert [job.type for job in claim(store, types=("tile",))] == ["tile"]


def test_wait_begins_when_a_job_could_run(store: Store, clock: FakeClock) -> None:
    add(store, delay_seconds=60)
    clock.advance(63)
    succeed(store, take(store))
    assert stats_of(store, "plain").wait_p50 == pytest.approx(3, abs=0.01)


def test_wait_of_a_dependent_begins_with_the_end_of_its_parent(store: Store, clock: FakeClock) -> None:
    parent = add(store, "fragile")
    add(store, after=(parent,))
    clock.advance(50)
    succeed(store, take(store))
    clock.advance(4)
    succeed(store, take(store))
    assert stats_of(store, "plain").wait_p50 == pytest.approx(4, abs=0.01)


def test_every_reason_why_a_job_does_not_start_is_named(
    backend: BackendUnderTest, store: Store, clock: FakeClock
) -> None:
    def why(job_id: int) -> str | None:
        return store.jobs.readiness().why_not(store.jobs.get(job_id))

    ready = add(store)
    assert why(ready) is None
    assert why(add(store, after=(ready,))) == "after 1 other job"
    assert (why(add(store, delay_seconds=60)) or "").startswith("not before ")
    limited = [add(store, "limited", {"hour": hour}) for hour in range(3)]
    for _ in range(2):
        take(store, types=("limited",))
    assert why(limited[2]) == "limit: 2 of this type at once"
    store.types.pause("plain")
    assert why(ready) == "type is paused"
    backend.by_hand("UPDATE job_definitions SET is_active = 0 WHERE key = 'plain'")
    assert why(ready) == "type is inactive"
    store.reservations.reserve("ann", 30, "plain")
    assert (why(ready) or "").startswith("reserved by ann until ")
    backend.by_hand("INSERT INTO jobs (type) VALUES ('strange')")
    assert why(limited[2] + 1) == "the type is not declared"


def test_end_of_a_reservation_counts_as_the_next_due_time(store: Store, clock: FakeClock) -> None:
    store.reservations.reserve("ann", 30)
    assert store.jobs.seconds_to_next_due() == pytest.approx(30)
    clock.advance(31)
    assert store.jobs.seconds_to_next_due() is None


def test_rates_count_what_happened_within_a_minute_and_an_hour(store: Store, clock: FakeClock) -> None:
    for _ in range(5):
        add(store, max_attempts=2)
    succeed(store, take(store))
    fail(store, take(store))
    fail(store, take(store), permanent=True)
    stop(store, take(store))
    early = store.types.rates()
    assert early["minute"] == early["hour"] == Throughput(5, 1, 1, 1, 0, 1)
    clock.advance(90)
    while jobs := claim(store):
        fail(store, jobs[0]) if jobs[0].retry_count else succeed(store, jobs[0])
    late = store.types.rates()
    assert late["minute"] == Throughput(0, 1, 1, 0, 1, 0)
    assert late["hour"] == Throughput(5, 2, 2, 1, 1, 1)
    clock.advance(4000)
    assert store.types.rates()["hour"] == Throughput(0, 0, 0, 0, 0, 0)


def test_last_hour_is_reported_by_minute(store: Store, clock: FakeClock) -> None:
    for wait, run in ((1, 10), (3, 30)):
        add(store)
        clock.advance(wait)
        job = take(store)
        clock.advance(run)
        succeed(store, job)
    add(store, max_attempts=1)
    fail(store, take(store))
    clock.advance(7200)
    add(store, tenant_id="t", max_attempts=1)
    fail(store, take(store))
    minutes = store.activity.last_hour()
    assert len(minutes) == 60
    assert [(one.succeeded, one.failed) for one in minutes if one.succeeded or one.failed] == [(0, 1)], "only the hour"
    assert minutes[-1].begins.timestamp() <= clock() < minutes[-1].begins.timestamp() + 60
    clock.advance(-7200)
    ended = [one for one in store.activity.last_hour() if one.succeeded or one.failed]
    assert sum(one.succeeded for one in ended) == 2
    assert sum(one.failed for one in ended) == 1
    waits = [one.wait_seconds for one in ended if one.wait_seconds is not None]
    assert waits and all(0 <= wait <= 3.01 for wait in waits)
    assert all(one.wait_seconds is None for one in store.activity.last_hour() if not one.succeeded and not one.failed)


def test_counts_and_dead_letters_of_one_tenant(store: Store) -> None:
    add(store)
    for tenant in ("global", "t", "t"):
        add(store, tenant_id=tenant, max_attempts=1, priority=5)
        fail(store, take(store))
    mine = store.for_tenant("t").activity
    assert store.activity.counts() == {("plain", "pending"): 1, ("plain", "failed"): 3}
    assert mine.counts() == {("plain", "failed"): 2}
    assert (store.activity.dead_letters(), mine.dead_letters(), store.activity.dead_letters(most=2)) == (3, 2, 2)


def test_last_hour_rereads_only_minutes_that_may_still_change(store: Store, clock: FakeClock) -> None:
    def ended() -> list[int]:
        return [minute.succeeded for minute in store.activity.last_hour() if minute.succeeded]

    for _ in range(5):
        add(store)
        succeed(store, take(store))
        clock.advance(60)
        fresh = [one.succeeded for one in store.for_tenant("global").activity.last_hour() if one.succeeded]
        assert ended() == fresh
    assert ended() == [1, 1, 1, 1, 1]
    clock.advance(57 * 60)
    assert len(ended()) < 5


def test_oldest_ready_job_is_found_across_types(store: Store, clock: FakeClock) -> None:
    assert store.types.oldest_ready() is None
    add(store)
    clock.advance(30)
    add(store)
    assert store.types.oldest_ready() == 30.0
    assert store.types.oldest_ready("global") == 30.0
