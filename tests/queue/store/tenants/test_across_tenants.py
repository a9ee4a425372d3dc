"""A tenant's actions can affect rows of others: order, dependents, webhooks for all tenants, shared work.

PostgreSQL hides those rows from a request for one tenant, so each of these cases needs a way around that.
"""

from __future__ import annotations

from gribmill.queue.arguments import Args
from gribmill.queue.job_type import JobType, Registry
from gribmill.queue.model import NewJob, NewTrigger
from gribmill.queue.store import Store
from tests.queue.store.sample_types import TYPES
from tests.queue.store.store_driver import add, take
from tests.queue.store.tenants.test_tenant_handle import DELIVERS
from tests.queue.store.tested_backend import BackendUnderTest

SHARED = Registry(*TYPES, JobType("shared", "done once for all", Args, "test", None, shared=True, dedupe=True))


def test_new_job_goes_behind_one_that_another_tenant_moved_to_the_back(store: Store) -> None:
    first, parked = (add(store, tenant_id="a") for _ in range(2))
    store.for_tenant("a").jobs.move_to_back(first)
    new = store.for_tenant("b").jobs.enqueue(NewJob("plain")).id
    assert [job.id for job in store.jobs.upcoming()] == [parked, first, new]


def test_job_moved_to_the_front_precedes_those_of_other_tenants(store: Store) -> None:
    ids = [add(store, tenant_id=name) for name in ("a", "b", "b", "a")]
    store.for_tenant("a").jobs.move_to_front(ids[0])
    store.for_tenant("b").jobs.move_to_front(ids[2])
    assert store.jobs.get(ids[2]).position < store.jobs.get(ids[0]).position
    store.for_tenant("a").jobs.move_before(ids[3], ids[0])
    store.for_tenant("b").jobs.move_after(ids[1], ids[2])
    places = {job: store.jobs.get(job).position for job in ids}
    assert sorted(ids, key=lambda job: places[job]) == [ids[2], ids[1], ids[3], ids[0]], places


def test_cancelling_a_job_cancels_dependents_of_other_tenants(store: Store) -> None:
    parent = add(store, tenant_id="a")
    child = add(store, tenant_id="b", after=(parent,))
    grandchild = add(store, after=(child,))
    store.for_tenant("a").jobs.cancel(parent)
    assert [store.jobs.get(job).status for job in (child, grandchild)] == ["cancelled"] * 2


def test_cancelled_job_is_counted_and_a_running_one_is_asked_to_stop(store: Store) -> None:
    running, waiting = (add(store, tenant_id="a") for _ in range(2))
    assert take(store).id == running
    handle = store.for_tenant("a")
    assert [handle.jobs.cancel(job) for job in (running, waiting)] == ["requested", "cancelled"]
    assert handle.activity.counts() == {("plain", "processing"): 1, ("plain", "cancelled"): 1}


def test_manually_claimed_job_can_be_cancelled_by_its_tenant(backend: BackendUnderTest, store: Store) -> None:
    job = add(store, tenant_id="a")
    backend.by_hand(f"UPDATE jobs SET status = 'processing' WHERE id = {job}")
    assert store.for_tenant("a").jobs.cancel(job) == "cancelled"
    assert [one.status for one in store.jobs.history(job).attempts] == ["cancelled"]


def test_webhook_for_all_tenants_gets_events_of_each_tenant(backend: BackendUnderTest) -> None:
    store = backend.open(DELIVERS)
    everybody = store.webhooks.add("https://ours.example/", ["order.*"], tenant_id="*")
    handle = store.for_tenant("a")
    own = handle.webhooks.add("https://a.example/", ["order.*"])
    rule = handle.triggers.add(NewTrigger("on order", "plain", event="order.made"))
    (fired,) = handle.events.emit("order.made", {"n": 1})
    assert fired.trigger_id == rule.id and fired.job
    assert [len(store.webhooks.deliveries(one.id)) for one in (everybody, own)] == [1, 1]
    jobs = store.jobs.list().jobs
    assert sorted((job.type, job.tenant_id) for job in jobs) == [
        ("deliver_webhook", "a"),
        ("deliver_webhook", "global"),
        ("plain", "a"),
    ]


def test_shared_work_is_requested_once_and_ends_with_the_group_of_its_only_requester(backend: BackendUnderTest) -> None:
    store = backend.open(SHARED)
    one, other = store.for_tenant("a"), store.for_tenant("b")
    group = one.groups.open("night")
    wanted = NewJob("shared", {}, tenant_id="global", requested_by="a")
    (made,) = one.groups._groups.add(group.id, [wanted])
    again = other.jobs._jobs.enqueue(NewJob("shared", {}, requested_by="b"))
    assert (again.id, again.created) == (made.id, False)
    job = store.jobs.get(made.id)
    assert (job.tenant_id, job.requested_by, job.group_id) == ("global", None, None), "no longer one tenant's"
    store.jobs.cancel(made.id)

    (mine,) = one.groups._groups.add(group.id, [wanted])
    assert one.groups.cancel(group.id).cancelled == 1
    assert store.jobs.get(mine.id).status == "cancelled"
