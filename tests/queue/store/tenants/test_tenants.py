"""Tenants: their rows and limits, turns between them, and handles that see only one tenant."""

from __future__ import annotations

import pytest

from gribmill.queue.errors import (
    BadArguments,
    BadTenant,
    EventNotFound,
    JobNotFound,
    NotAllowed,
    TenantLimit,
    TenantNotFound,
    TriggerNotFound,
)
from gribmill.queue.job_type import JobType, Registry
from gribmill.queue.model import ClaimRequest, NewJob, NewTenant, NewTrigger
from gribmill.queue.store import Store
from gribmill.queue.store.jobs.listing import JobFilter
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.sample_types import ALL, PlainArgs
from tests.queue.store.store_driver import LEASE, add, claim, fail, stop, succeed, take
from tests.queue.store.tested_backend import BackendUnderTest


def limit(store: Store, name: str, **limits: int) -> None:
    store.tenants.edit(name, **limits)


def served(store: Store, count: int, types: tuple[str, ...] = ALL) -> list[str]:
    """The tenants of the next jobs, completing each job at once."""
    names = []
    for _ in range(count):
        job = take(store, types=types)
        names.append(job.tenant_id)
        succeed(store, job)
    return names


# Rows


def test_tenant_is_added_changed_and_listed(store: Store) -> None:
    made = store.tenants.add(NewTenant("north", "Northern office", "Europe/Oslo", ("ne",), max_running=3))
    assert (made.timezone, made.regions, made.max_running, made.is_enabled) == ("Europe/Oslo", ("ne",), 3, True)
    changed = store.tenants.edit("north", title="North", max_running=None, max_pending=7)
    assert (changed.title, changed.max_running, changed.max_pending) == ("North", None, 7)
    assert (changed.timezone, changed.regions) == ("Europe/Oslo", ("ne",)), "what is not named stays"
    assert "global" in {one.name for one in store.tenants.list()}
    with pytest.raises(BadTenant, match="there is a tenant north already"):
        store.tenants.add(NewTenant("north"))
    with pytest.raises(TenantNotFound, match="there is no tenant 'south'"):
        store.tenants.edit("south", title="x")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"name": "Acme"}, "is not a tenant's name"),
        ({"name": "../x"}, "is not a tenant's name"),
        ({"name": ""}, "is not a tenant's name"),
        ({"name": "x", "timezone": "Mars"}, "no time zone 'Mars'"),
        ({"name": "x", "max_running": 0}, "max_running 0 is not a limit"),
        ({"name": "x", "max_disk_bytes": -1}, "max_disk_bytes -1 is not a limit"),
        ({"name": "x", "keep_days": 1e10}, "keep_days 10000000000.0 is not a limit: the most is 36500"),
        ({"name": "x", "title": "a\nb"}, "printable"),
        ({"name": "x", "regions": ("../etc",)}, "regions are"),
    ],
)
def test_an_invalid_tenant_is_refused_with_the_reason(store: Store, fields: dict[str, object], reason: str) -> None:
    with pytest.raises(BadTenant, match=reason):
        store.tenants.add(NewTenant(**fields))  # type: ignore[arg-type]


def test_global_always_exists_without_limits(store: Store) -> None:
    with pytest.raises(NotAllowed, match="cannot be disabled"):
        store.tenants.set_enabled("global", enabled=False)
    with pytest.raises(BadTenant, match="has no limits"):
        store.tenants.edit("global", max_running=1)
    assert store.tenants.edit("global", timezone="Europe/Paris").timezone == "Europe/Paris"


def test_job_of_an_unknown_tenant_is_refused(store: Store) -> None:
    for attempt in (lambda: add(store, tenant_id="nobody"), lambda: store.triggers.add(trigger(tenant_id="nobody"))):
        with pytest.raises(TenantNotFound, match="there is no tenant 'nobody'"):
            attempt()
    store.tenants.add(NewTenant("nobody"))
    assert add(store, tenant_id="nobody"), "at once, without waiting for a cache"


def test_jobs_of_a_disabled_tenant_are_neither_accepted_nor_started(store: Store, backend: BackendUnderTest) -> None:
    waiting = add(store, tenant_id="acme")
    ended = add(store, tenant_id="acme", priority=9)
    fail(store, take(store), permanent=True)
    store.tenants.set_enabled("acme", enabled=False)
    with pytest.raises(NotAllowed, match="tenant acme is disabled"):
        add(backend.open(), tenant_id="acme")
    with pytest.raises(NotAllowed, match="tenant acme is disabled"):
        store.jobs.retry(ended)
    assert store.jobs.readiness().why_not(store.jobs.get(waiting)) == "tenant is disabled"
    ours = add(store)
    assert take(store).id == ours
    assert claim(store) == ()
    store.tenants.set_enabled("acme", enabled=True)
    assert take(store).id == waiting


def test_manually_inserted_row_of_an_unknown_tenant_still_runs(store: Store, backend: BackendUnderTest) -> None:
    backend.by_hand("INSERT INTO jobs (type, tenant_id) VALUES ('plain', 'stranger')")
    assert take(store).tenant_id == "stranger"


def trigger(**fields: object) -> NewTrigger:
    return NewTrigger("noon", "plain", cron="0 12 * * *", **fields)  # type: ignore[arg-type]


def test_schedule_defaults_to_the_time_zone_of_its_tenant(store: Store) -> None:
    store.tenants.edit("acme", timezone="Asia/Tokyo")
    assert store.triggers.add(trigger(tenant_id="acme")).timezone == "Asia/Tokyo"
    assert store.triggers.add(trigger(tenant_id="acme", timezone="UTC")).timezone == "UTC"
    assert store.triggers.add(trigger()).timezone == "UTC"


def test_trigger_of_a_disabled_or_full_tenant_creates_no_job(store: Store) -> None:
    store.triggers.add(NewTrigger("e", "plain", event="x", tenant_id="acme"))
    limit(store, "acme", max_pending=1)
    assert store.events.emit("x", {"n": 1}, tenant_id="acme")[0].job
    (full,) = store.events.emit("x", {"n": 2}, tenant_id="acme")
    assert full.job is None
    assert "max_pending" in (full.error or "")
    store.tenants.set_enabled("acme", enabled=False)
    (off,) = store.events.emit("x", {"n": 3}, tenant_id="acme")
    assert "tenant acme is disabled" in (off.error or "")


# Shared work


def test_shared_work_is_done_once_for_all_tenants(backend: BackendUnderTest) -> None:
    shared = JobType("shared", "Once for all.", PlainArgs, "test", None, dedupe=True, shared=True)
    own = JobType("own", "For one tenant.", PlainArgs, "test", None)
    store = backend.open(Registry(shared, own))
    for name in ("a", "b"):
        store.jobs.enqueue(NewJob("own", tenant_id=name, created_by=name))
        succeed(store, take(store, types=("own",)), then=(NewJob("shared", {"n": 1}),))
    (job,) = store.jobs.list(JobFilter(type="shared")).jobs
    assert (job.tenant_id, job.created_by) == ("global", "a")
    with pytest.raises(BadArguments, match="shared is done once for all tenants"):
        store.jobs.enqueue(NewJob("shared", tenant_id="a"))


# Limits


def test_tenant_at_its_running_limit_is_skipped(store: Store) -> None:
    limit(store, "acme", max_running=2)
    jobs = [add(store, tenant_id="acme", priority=5) for _ in range(3)]
    ours, theirs = add(store), add(store, tenant_id="b")
    first, _ = take(store), take(store)
    assert {take(store).id, take(store).id} == {ours, theirs}
    assert claim(store) == ()
    assert store.jobs.readiness().why_not(store.jobs.get(jobs[2])) == "tenant limit: 2 in flight at once"
    succeed(store, first)
    assert take(store).id == jobs[2]


def test_batch_keeps_to_the_running_limit_of_its_tenant(store: Store) -> None:
    limit(store, "acme", max_running=3)
    store.jobs.enqueue_many([NewJob("tile", {"region": f"r{n}"}, tenant_id="acme") for n in range(4)])
    store.jobs.enqueue(NewJob("tile", {"region": "x"}, tenant_id="b"))
    batch = claim(store, limit=2)
    assert [job.tenant_id for job in batch] == ["acme", "acme"]
    more = store.claim_siblings(ClaimRequest("w1", ("tile",), LEASE), batch[0], 4)
    assert [job.tenant_id for job in more] == ["acme"], "one place is left; and no job of another tenant joins"
    assert store.claim_siblings(ClaimRequest("w1", ("tile",), LEASE), batch[0], 4) == ()


def test_pending_limit_refuses_the_next_job_and_names_itself(store: Store) -> None:
    limit(store, "acme", max_pending=3)
    store.jobs.enqueue_many(NewJob("plain", {"n": n}, tenant_id="acme") for n in range(3))
    with pytest.raises(TenantLimit, match=r"tenant acme may have 3 pending jobs at most \(max_pending\)"):
        add(store, tenant_id="acme")
    with pytest.raises(TenantLimit):
        store.jobs.enqueue_many(NewJob("plain", tenant_id=name) for name in ("global", "acme"))
    assert len(store.jobs.list().jobs) == 3, "all or nothing"
    add(store, tenant_id="b")
    take(store)
    assert add(store, tenant_id="acme")


def test_active_equal_job_is_returned_even_at_the_limit(store: Store) -> None:
    limit(store, "acme", max_pending=1)
    first = add(store, "unique", {"n": 1}, tenant_id="acme")
    assert add(store, "unique", {"n": 1}, tenant_id="acme") == first


def test_enqueues_per_minute_are_limited(store: Store, clock: FakeClock) -> None:
    limit(store, "acme", max_per_minute=2)
    add(store, tenant_id="acme")
    clock.advance(30)
    add(store, tenant_id="acme")
    with pytest.raises(TenantLimit, match=r"may enqueue 2 jobs a minute at most \(max_per_minute\)"):
        add(store, tenant_id="acme")
    add(store, tenant_id="b")
    clock.advance(31)
    add(store, tenant_id="acme")
    with pytest.raises(TenantLimit):
        add(store, tenant_id="acme")


# Turns


def test_backlog_of_one_tenant_delays_another_by_one_job(store: Store) -> None:
    store.jobs.enqueue_many(NewJob("plain", {"n": n}, tenant_id="acme") for n in range(200))
    served(store, 3)
    add(store, tenant_id="b")
    add(store)
    assert sorted(served(store, 3)) == ["acme", "b", "global"]


def test_tenants_take_turns_across_types(store: Store) -> None:
    store.jobs.enqueue_many(NewJob("plain", {"n": n}, tenant_id="acme") for n in range(9))
    store.jobs.enqueue_many(NewJob("unique", {"n": n}, tenant_id="b") for n in range(3))
    store.jobs.enqueue_many(NewJob("fragile", {"n": n}) for n in range(3))
    assert served(store, 9) == ["acme", "b", "global"] * 3


def test_higher_priority_runs_first_and_costs_no_turn(store: Store) -> None:
    for name in ("acme", "b"):
        store.jobs.enqueue_many(NewJob("plain", {"n": n}, tenant_id=name) for n in range(3))
    order = []
    for _ in range(4):
        add(store, priority=9)
        order += served(store, 2)
    assert order == ["global", "acme", "global", "b", "global", "acme", "global", "b"]


def test_workers_of_other_types_cost_no_turn(store: Store) -> None:
    """A worker that runs acme's jobs of other types must not cost acme its turn here."""
    store.jobs.enqueue_many(NewJob("plain", {"n": n}, tenant_id=name) for n in range(4) for name in ("acme", "b"))
    store.jobs.enqueue_many(NewJob("fragile", {"n": n}, tenant_id="acme") for n in range(4))
    order = []
    for _ in range(4):
        order += served(store, 1, ("plain",))
        served(store, 1, ("fragile",))
    assert order == ["acme", "b", "acme", "b"]


def test_turns_continue_while_a_tenant_is_at_its_limit(store: Store) -> None:
    limit(store, "acme", max_running=1)
    store.jobs.enqueue_many(NewJob("plain", {"n": n}, tenant_id=name) for n in range(3) for name in ("acme", "b", "t"))
    assert take(store).tenant_id == "acme"
    assert served(store, 4) == ["b", "t", "b", "t"]


def test_order_within_a_tenant_is_the_total_order(store: Store) -> None:
    late = [add(store, tenant_id="acme", priority=priority) for priority in (1, 3, 2, 3)]
    store.jobs.move_to_front(late[3])
    assert [take(store).id for _ in late] == [late[3], late[1], late[2], late[0]]


# Figures


def test_counts_waits_and_rates_of_one_tenant(store: Store, clock: FakeClock) -> None:
    for name in ("acme", "global"):
        for _ in range(4):
            add(store, tenant_id=name)
        add(store, tenant_id=name, delay_seconds=99)
        clock.advance(5)
    done = [take(store) for _ in range(4)]
    assert sorted(job.tenant_id for job in done) == ["acme", "acme", "global", "global"]
    mine = [job for job in done if job.tenant_id == "acme"]
    succeed(store, mine[0])
    stop(store, mine[1])
    (plain,) = [one for one in store.types.stats("acme") if one.type == "plain"]
    assert plain.counts == {"pending": 3, "completed": 1, "cancelled": 1}
    assert (plain.finished, plain.oldest_ready_seconds) == (1, 10)
    (ours,) = [one for one in store.types.stats("global") if one.type == "plain"]
    assert ours.counts == {"pending": 3, "processing": 2}
    (both,) = [one for one in store.types.stats() if one.type == "plain"]
    assert both.counts == {"pending": 6, "processing": 2, "completed": 1, "cancelled": 1}
    assert (store.types.rates("acme")["hour"].enqueued, store.types.rates()["hour"].enqueued) == (5, 10)
    assert (store.types.rates("acme")["hour"].succeeded, store.types.rates("global")["hour"].succeeded) == (1, 0)


def test_lists_of_a_tenant_hold_every_status(store: Store) -> None:
    made = [add(store, tenant_id="acme") for _ in range(5)]
    add(store)
    add(store, tenant_id="b")
    for end in (succeed, stop):
        end(store, next(job for job in iter(lambda: take(store), None) if job.tenant_id == "acme"))
    found = [job.id for job in store.jobs.list(JobFilter(tenant_id="acme")).jobs]
    assert found == made[::-1]
    by_status = {
        status: [job.id for job in store.jobs.list(JobFilter(tenant_id="acme", status=status)).jobs]
        for status in ("completed", "cancelled", "pending", "processing", "failed")
    }
    assert sorted(one for several in by_status.values() for one in several) == made
    assert (len(by_status["completed"]), len(by_status["cancelled"])) == (1, 1)


# The scoped handle


def test_scoped_handle_sees_and_changes_only_its_own_jobs(store: Store) -> None:
    theirs, mine = add(store, tenant_id="b"), add(store, tenant_id="acme")
    scoped = store.for_tenant("acme")
    assert [job.id for job in scoped.jobs.list().jobs] == [mine]
    assert [job.id for job in scoped.jobs.list(JobFilter(tenant_id="b")).jobs] == [mine], "a filter cannot widen it"
    assert [job.id for job in scoped.jobs.upcoming()] == [mine]
    jobs = scoped.jobs
    for act in (
        jobs.get,
        jobs.history,
        jobs.cancel,
        jobs.retry,
        jobs.run_now,
        jobs.move_to_front,
        jobs.move_to_back,
        lambda job_id: jobs.move_before(mine, job_id),
        lambda job_id: jobs.enqueue(NewJob("plain", after=(job_id,))),
    ):
        with pytest.raises(JobNotFound):
            act(theirs)
    assert store.jobs.get(theirs).status == "pending"
    made = jobs.enqueue(NewJob("plain", tenant_id="b"))
    assert store.jobs.get(made.id).tenant_id == "acme"
    (again,) = jobs.enqueue_many([NewJob("plain", after=(mine,))])
    assert jobs.cancel(mine) == "cancelled"
    assert store.jobs.get(again.id).status == "cancelled"


def test_scoped_history_names_no_job_of_others(store: Store) -> None:
    parent = add(store, tenant_id="b", correlation_id="c")
    child = add(store, tenant_id="acme", after=(parent,), correlation_id="c")
    scoped = store.for_tenant("acme")
    assert [one.id for one in store.jobs.history(child).parents] == [parent]
    assert scoped.jobs.history(child).parents == ()
    assert scoped.jobs.progress("c") == {("plain", "pending"): 1}
    assert sum(sum(one.counts.values()) for one in scoped.stats()) == 1
    assert scoped.rates()["hour"].enqueued == 1
    assert scoped.tenant().name == "acme"


def test_scoped_handle_sees_and_changes_only_its_own_triggers(store: Store) -> None:
    theirs = store.triggers.add(trigger(tenant_id="b"))
    scoped = store.for_tenant("acme").triggers
    mine = scoped.add(NewTrigger("e", "plain", event="x", tenant_id="b"))
    assert mine.tenant_id == "acme"
    assert [one.id for one in scoped.list()] == [mine.id]
    for act in (scoped.get, scoped.remove, lambda one: scoped.set_enabled(one, enabled=False)):
        with pytest.raises(TriggerNotFound, match=f"there is no trigger {theirs.id}"):
            act(theirs.id)
    (fired,) = store.for_tenant("acme").events.emit("x", {})
    assert fired.trigger_id == mine.id
    scoped.remove(mine.id)
    assert [one.id for one in store.triggers.list()] == [theirs.id]


def test_scoped_handle_sees_only_its_own_events(store: Store) -> None:
    store.events.emit("x", {}, tenant_id="b")
    (event,) = store.events.list()
    with pytest.raises(EventNotFound):
        store.for_tenant("acme").events.get(event.id)
    assert store.for_tenant("b").events.get(event.id) == event


def test_scoped_handle_needs_a_tenant(store: Store) -> None:
    with pytest.raises(TenantNotFound):
        store.for_tenant("nobody")
