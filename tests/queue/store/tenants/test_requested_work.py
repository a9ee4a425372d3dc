"""Shared work requested by a tenant belongs to `global`, takes that tenant's turns and counts towards its limits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gribmill.queue.errors import BadArguments, NotAllowed, TenantLimit, TenantNotFound
from gribmill.queue.job_type import JobType, Registry
from gribmill.queue.model import Enqueued, NewJob
from gribmill.queue.store import Store
from gribmill.queue.store.jobs.listing import JobFilter
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.sample_types import PlainArgs, TileArgs, hour_of
from tests.queue.store.store_driver import LEASE, claim, fail, succeed, take
from tests.queue.store.tested_backend import BackendUnderTest

SHARED = JobType("shared", "Once for all.", PlainArgs, "test", None, dedupe=True, shared=True)
CUT = JobType("cut", "Once for all.", TileArgs, "test", None, dedupe=True, shared=True, batch_max=9, group_by=hour_of)
OWN = JobType("own", "For one tenant.", PlainArgs, "test", None)
KINDS = ("shared", "own", "cut")


@pytest.fixture
def store(backend: BackendUnderTest) -> Iterator[Store]:
    store = backend.open(Registry(SHARED, CUT, OWN))
    yield store
    assert store.verify() == []


def ask(store: Store, tenant: str | None, n: int, **fields: object) -> Enqueued:
    return store.jobs.enqueue(NewJob("shared", {"n": n}, requested_by=tenant, **fields))  # type: ignore[arg-type]


def ask_for_many(store: Store, tenant: str, count: int, start: int = 0) -> list[Enqueued]:
    return store.jobs.enqueue_many(NewJob("shared", {"n": n}, requested_by=tenant) for n in range(start, start + count))


def served(store: Store, count: int) -> list[str]:
    names = []
    for _ in range(count):
        job = take(store, types=KINDS)
        assert job.tenant_id == "global"
        names.append(job.claimant)
        succeed(store, job)
    return names


def test_requests_of_tenants_take_turns_with_each_other_and_with_global(store: Store) -> None:
    ask_for_many(store, "a", 300)
    ask_for_many(store, "b", 2, start=1000)
    ask(store, None, 2000)
    assert served(store, 5) == ["a", "b", "global", "a", "b"]
    job = store.jobs.list(JobFilter(status="pending")).jobs[0]
    assert (job.tenant_id, job.requested_by, job.claimant) == ("global", "a", "a")


def test_second_request_for_the_same_work_shares_the_job(store: Store) -> None:
    store.tenants.edit("a", max_running=1)
    first = ask(store, "a", 1)
    assert ask(store, "a", 1) == Enqueued(first.id, created=False)
    assert store.jobs.get(first.id).requested_by == "a", "the same tenant asked again"
    ask(store, "a", 2)
    assert take(store, types=KINDS).id == first.id
    assert claim(store, types=KINDS) == (), "the tenant is at its limit"
    again = ask(store, "b", 2)
    assert not again.created
    assert store.jobs.get(again.id).requested_by is None
    assert take(store, types=KINDS).id == again.id, "the limit of one tenant does not hold back what another wants"


def test_work_of_a_disabled_tenant_waits_until_another_asks_for_it(store: Store) -> None:
    job = ask(store, "a", 1)
    store.tenants.set_enabled("a", enabled=False)
    assert claim(store, types=KINDS) == ()
    assert store.jobs.readiness().why_not(store.jobs.get(job.id)) == "tenant is disabled"
    ask(store, None, 1)
    assert take(store, types=KINDS).id == job.id


def test_every_limit_of_the_tenant_holds_and_is_named(
    store: Store, backend: BackendUnderTest, clock: FakeClock
) -> None:
    store.tenants.edit("a", max_pending=2)
    ask_for_many(store, "a", 2)
    with pytest.raises(TenantLimit, match=r"tenant a may have 2 pending jobs at most \(max_pending\)"):
        ask(store, "a", 9)
    with pytest.raises(TenantLimit, match=r"\(max_pending\)"):
        store.jobs.enqueue(NewJob("own", tenant_id="a"))
    ask(store, "b", 9)
    store.tenants.edit("a", max_pending=None, max_per_minute=2)
    with pytest.raises(TenantLimit, match=r"tenant a may enqueue 2 jobs a minute at most \(max_per_minute\)"):
        ask(store, "a", 10)
    clock.advance(61)
    ask(store, "a", 10)
    store.tenants.edit("a", max_per_minute=None, max_running=1)
    held = [take(store, types=KINDS), take(store, types=KINDS)]
    assert {job.claimant for job in held} == {"a", "b"}
    assert claim(store, types=KINDS) == ()
    waiting = store.jobs.list(JobFilter(status="pending")).jobs[0]
    assert store.jobs.readiness().why_not(waiting) == "tenant limit: 1 in flight at once"
    store.tenants.set_enabled("a", enabled=False)
    with pytest.raises(NotAllowed, match="tenant a is disabled"):
        ask(backend.open(Registry(SHARED, CUT, OWN)), "a", 11)
    with pytest.raises(TenantNotFound, match="there is no tenant 'nobody'"):
        ask(store, "nobody", 12)


def test_requests_in_a_tenants_group_keep_its_limits(store: Store) -> None:
    store.tenants.edit("a", max_pending=3)
    group = store.groups.open("backfill", tenant_id="a")
    store.groups.add(group.id, [NewJob("shared", {"n": n}, requested_by="a") for n in range(3)])
    with pytest.raises(TenantLimit, match="max_pending"):
        store.groups.add(group.id, [NewJob("shared", {"n": 9}, requested_by="a")])
    with pytest.raises(BadArguments, match="belongs to a, the job to b"):
        store.groups.add(group.id, [NewJob("shared", {"n": 9}, requested_by="b")])
    kept = ask(store, "b", 2)
    store.groups.cancel(group.id)
    assert [job.status for job in reversed(store.jobs.list().jobs)] == ["cancelled", "cancelled", "pending"]
    assert store.jobs.get(kept.id).status == "pending", "what another asked for too is not cancelled"


def test_follow_ups_and_retries_stay_requested(store: Store, clock: FakeClock) -> None:
    ask(store, "a", 1)
    succeed(store, take(store, types=KINDS), then=(NewJob("cut", {"hour": 1}),))
    (cut,) = claim(store, types=KINDS)
    assert (cut.type, cut.tenant_id, cut.claimant) == ("cut", "global", "a")
    fail(store, cut, permanent=True)
    again = store.jobs.retry(cut.id)
    assert store.jobs.get(again.id).requested_by == "a"
    store.jobs.enqueue(NewJob("own", tenant_id="b"))
    own = next(job for job in iter(lambda: take(store, types=KINDS), None) if job.type == "own")
    succeed(store, own, then=(NewJob("shared", {"n": 7}),))
    assert store.jobs.list(JobFilter(type="shared", status="pending")).jobs[0].requested_by == "b"


def test_batch_holds_the_requests_of_one_tenant(store: Store) -> None:
    store.tenants.edit("a", max_running=2)
    store.jobs.enqueue_many(NewJob("cut", {"region": f"r{n}"}, requested_by="a") for n in range(3))
    store.jobs.enqueue(NewJob("cut", {"region": "x"}, requested_by="b"))
    assert [job.claimant for job in claim(store, types=KINDS)] == ["a", "a"]


def test_global_counts_include_requested_work(store: Store) -> None:
    ask_for_many(store, "a", 3)
    ask(store, None, 100)
    ask(store, "b", 101, delay_seconds=LEASE)
    counts = {one.type: one.counts for one in store.types.stats()}
    assert counts["shared"] == {"pending": 5}
    assert {one.type: one.counts for one in store.types.stats("global")}["shared"] == {"pending": 5}
    assert {one.type: one.counts for one in store.types.stats("a")}.get("shared", {}) == {}


def test_only_shared_work_can_be_requested(store: Store) -> None:
    with pytest.raises(BadArguments, match="own is not shared work"):
        store.jobs.enqueue(NewJob("own", requested_by="a"))


def test_tenant_sees_shared_work_counted_in_its_group(store: Store) -> None:
    group = store.groups.open("mine", tenant_id="a")
    store.groups.add(group.id, [NewJob("shared", {"n": 1}, requested_by="a")])
    assert store.for_tenant("a").groups.progress(group.id).total == 1
