"""The handle of one tenant, method by method: it neither shows nor changes anything of another tenant."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from gribmill.queue.arguments import Args
from gribmill.queue.errors import (
    BadTrigger,
    EventNotFound,
    GroupNotFound,
    JobNotFound,
    QueueError,
    TemplateNotFound,
    TenantLimit,
    TriggerNotFound,
    WebhookNotFound,
)
from gribmill.queue.job_type import JobType, Registry
from gribmill.queue.model import NewJob, NewTemplate, NewTenant, NewTrigger
from gribmill.queue.store import Store
from gribmill.queue.store.jobs.listing import JobFilter
from gribmill.queue.store.scope import TenantStore
from tests.queue.store.sample_types import TYPES
from tests.queue.store.store_driver import add, fail, take
from tests.queue.store.tested_backend import BackendUnderTest

THEIRS = "zebra"
"""The other tenant. The word is in every text of it, so that it is seen wherever it gets out."""
OWN = "acme"


class DeliveryArgs(Args):
    webhook_id: int
    event_id: int


DELIVERS = Registry(*TYPES, JobType("deliver_webhook", "delivers", DeliveryArgs, "test", None))


@dataclass
class World:
    """A queue in which the other tenant has one of everything."""

    store: Store
    handle: TenantStore
    own: int
    """A job of the handle's own tenant; the other ids are of the other tenant."""
    job: int
    failed: int
    group: int
    trigger: int
    template: int
    event: int
    webhook: int

    def theirs(self) -> dict[str, Any]:
        """Everything that the other tenant has."""
        store = self.store
        jobs = store.jobs.list(JobFilter(tenant_id=THEIRS), limit=1000).jobs
        return {
            "tenant": store.tenants.get(THEIRS),
            "jobs": jobs,
            "histories": [store.jobs.history(job.id) for job in jobs],
            "groups": [(store.groups.progress(one.group.id), one.group) for one in store.groups.list(THEIRS)],
            "triggers": store.triggers.list(THEIRS),
            "templates": store.templates.list(THEIRS),
            "events": store.events.list(tenant_id=THEIRS, limit=1000),
            "webhooks": [one for one in store.webhooks.list() if one.tenant_id == THEIRS],
            "deliveries": store.webhooks.deliveries(self.webhook),
            "reservations": store.reservations.list(),
        }


@pytest.fixture
def world(backend: BackendUnderTest) -> World:
    store = backend.open(DELIVERS)
    store.tenants.add(NewTenant(THEIRS, "zebra's office", max_running=1))
    group = store.groups.open("zebra group", tenant_id=THEIRS, created_by="zebra")
    kept: dict[str, Any] = {"tenant_id": THEIRS, "correlation_id": "zebra chain", "created_by": "zebra"}
    (in_group,) = store.groups.add(group.id, [NewJob("plain", {"n": 1}, **kept)])
    fail(store, take(store, "zebra-worker"), "zebra-worker", "zebra broke it", permanent=True)
    job = add(store, **kept)
    add(store, **kept, priority=5)
    take(store, "zebra-worker")  # zebra's running limit
    store.events.emit("zebra.seen", {"name": "zebra"}, tenant_id=THEIRS)
    webhook = store.webhooks.add("https://zebra.example/hook", ["zebra.*"], tenant_id=THEIRS, created_by="zebra")
    (event,) = store.events.list(pattern="zebra.seen")
    store.webhooks.redeliver(event.id, webhook.id)
    trigger = store.triggers.add(NewTrigger("zebra rule", "plain", event="zebra.seen", tenant_id=THEIRS))
    template = store.templates.add(NewTemplate("zebra_template", "plain", {"n": 7}, tenant_id=THEIRS))
    store.reservations.reserve("zebra@host", 600, "unique")
    own = add(store, tenant_id=OWN)
    handle = store.for_tenant(OWN)
    return World(store, handle, own, job, in_group.id, group.id, trigger.id, template.id, event.id, webhook.id)


Try = tuple[Callable[[TenantStore, World], Any], type[QueueError] | None]
"""A call that reaches for what is not the tenant's, and the error that it gets; None: it answers without it."""

CALLS: dict[str, list[Try]] = {
    "tenant": [(lambda h, _: h.tenant(), None)],
    "stats": [(lambda h, _: [one.counts for one in h.stats()], None)],
    "rates": [(lambda h, _: h.rates(), None)],
    "activity.counts": [(lambda h, _: h.activity.counts(), None)],
    "activity.dead_letters": [(lambda h, _: h.activity.dead_letters(), None)],
    "activity.unretried_dead_letters": [(lambda h, _: h.activity.unretried_dead_letters(), None)],
    "activity.last_hour": [(lambda h, _: h.activity.last_hour(), None)],
    "jobs.enqueue": [
        (lambda h, _: h.jobs.enqueue(NewJob("plain", tenant_id=THEIRS)), None),
        (lambda h, w: h.jobs.enqueue(NewJob("plain", after=(w.job,))), JobNotFound),
        (lambda h, w: h.jobs.enqueue(NewJob("plain", template_id=w.template)), TemplateNotFound),
        (lambda h, w: h.jobs.enqueue(NewJob("plain", group_id=w.group)), GroupNotFound),
    ],
    "jobs.enqueue_many": [
        (lambda h, _: h.jobs.enqueue_many([NewJob("plain", tenant_id=THEIRS)]), None),
        (lambda h, w: h.jobs.enqueue_many([NewJob("plain", group_id=w.group)]), GroupNotFound),
    ],
    "jobs.check": [(lambda h, w: h.jobs.check(NewJob("plain", after=(w.job,))), JobNotFound)],
    "jobs.mine": [(lambda h, w: h.jobs.mine(NewJob("plain", group_id=w.group)), GroupNotFound)],
    "jobs.get": [(lambda h, w: h.jobs.get(w.job), JobNotFound)],
    "jobs.list": [
        (lambda h, _: h.jobs.list(limit=1000), None),
        (lambda h, _: h.jobs.list(JobFilter(tenant_id=THEIRS)), None),
        (lambda h, w: h.jobs.list(JobFilter(group_id=w.group)).jobs or None, None),
        (lambda h, _: h.jobs.list(JobFilter(correlation_id="zebra chain")).jobs or None, None),
    ],
    "jobs.upcoming": [(lambda h, _: h.jobs.upcoming(limit=1000), None)],
    "jobs.readiness": [(lambda h, _: h.jobs.readiness(), None)],
    "jobs.history": [(lambda h, w: h.jobs.history(w.job), JobNotFound)],
    "jobs.progress": [(lambda h, _: h.jobs.progress("zebra chain"), None)],
    "jobs.cancel": [(lambda h, w: h.jobs.cancel(w.job), JobNotFound)],
    "jobs.retry": [(lambda h, w: h.jobs.retry(w.failed), JobNotFound)],
    "jobs.run_now": [(lambda h, w: h.jobs.run_now(w.job), JobNotFound)],
    "jobs.move_to_front": [
        (lambda h, w: h.jobs.move_to_front(w.job), JobNotFound),
        (lambda h, w: h.jobs.move_to_front(w.own), None),
    ],
    "jobs.move_to_back": [
        (lambda h, w: h.jobs.move_to_back(w.job), JobNotFound),
        (lambda h, w: h.jobs.move_to_back(w.own), None),
    ],
    "jobs.move_before": [(lambda h, w: h.jobs.move_before(w.own, w.job), JobNotFound)],
    "jobs.move_after": [(lambda h, w: h.jobs.move_after(w.own, w.job), JobNotFound)],
    "jobs.set_priority": [(lambda h, w: h.jobs.set_priority(w.job, 9), JobNotFound)],
    "groups.open": [(lambda h, _: h.groups.open("zebra group", mode="sequential").mode, None)],
    "groups.add": [(lambda h, w: h.groups.add(w.group, [NewJob("plain")]), GroupNotFound)],
    "groups.find": [(lambda h, _: h.groups.find("zebra group"), GroupNotFound)],
    "groups.get": [(lambda h, w: h.groups.get(w.group), GroupNotFound)],
    "groups.list": [(lambda h, _: h.groups.list(), None)],
    "groups.progress": [(lambda h, w: h.groups.progress(w.group), GroupNotFound)],
    "groups.counts": [(lambda h, w: h.groups.counts(w.group), GroupNotFound)],
    "groups.cancel": [(lambda h, w: h.groups.cancel(w.group), GroupNotFound)],
    "groups.resume": [(lambda h, w: h.groups.resume(w.group), GroupNotFound)],
    "groups.retry": [(lambda h, w: h.groups.retry(w.group), GroupNotFound)],
    "templates.add": [(lambda h, _: h.templates.add(NewTemplate("t", "plain", tenant_id=THEIRS)), None)],
    "templates.list": [(lambda h, _: h.templates.list(), None)],
    "templates.get": [(lambda h, _: h.templates.get("zebra_template"), TemplateNotFound)],
    "templates.use": [(lambda h, _: h.templates.use("zebra_template"), TemplateNotFound)],
    "templates.edit": [(lambda h, _: h.templates.edit("zebra_template", priority=3), TemplateNotFound)],
    "templates.remove": [(lambda h, _: h.templates.remove("zebra_template"), TemplateNotFound)],
    "templates.job": [(lambda h, _: h.templates.job("zebra_template"), TemplateNotFound)],
    "triggers.add": [
        (
            lambda h, _: h.triggers.add(NewTrigger("mine", "plain", event="zebra.seen", tenant_id=THEIRS)).tenant_id,
            None,
        ),
        (
            lambda h, w: h.triggers.add(NewTrigger("mine", "plain", event="x", template_id=w.template)),
            BadTrigger,
        ),
    ],
    "triggers.list": [(lambda h, _: h.triggers.list(), None)],
    "triggers.broken": [(lambda h, _: h.triggers.broken(), None)],
    "triggers.get": [(lambda h, w: h.triggers.get(w.trigger), TriggerNotFound)],
    "triggers.firings": [(lambda h, w: h.triggers.firings(w.trigger), TriggerNotFound)],
    "triggers.edit": [
        (lambda h, w: h.triggers.edit(w.trigger, label="mine"), TriggerNotFound),
        (
            lambda h, w: h.triggers.edit(
                h.triggers.add(NewTrigger("mine", "plain", event="x")).id, template_id=w.template
            ),
            BadTrigger,
        ),
    ],
    "triggers.fire_now": [(lambda h, w: h.triggers.fire_now(w.trigger, {"a": 1}), TriggerNotFound)],
    "triggers.set_enabled": [(lambda h, w: h.triggers.set_enabled(w.trigger, enabled=False), TriggerNotFound)],
    "triggers.remove": [(lambda h, w: h.triggers.remove(w.trigger), TriggerNotFound)],
    "events.emit": [(lambda h, _: h.events.emit("zebra.seen", {"a": 1}), None)],
    "events.get": [(lambda h, w: h.events.get(w.event), EventNotFound)],
    "events.list": [
        (lambda h, _: h.events.list(limit=1000), None),
        (lambda h, _: h.events.list(pattern="zebra.*"), None),
    ],
    "events.after": [(lambda h, _: h.events.after(0), None)],
    "webhooks.add": [(lambda h, _: h.webhooks.add("https://acme.example/", ["zebra.*"]).tenant_id, None)],
    "webhooks.list": [(lambda h, _: h.webhooks.list(), None)],
    "webhooks.get": [(lambda h, w: h.webhooks.get(w.webhook), WebhookNotFound)],
    "webhooks.edit": [(lambda h, w: h.webhooks.edit(w.webhook, url="https://acme.example/"), WebhookNotFound)],
    "webhooks.set_enabled": [(lambda h, w: h.webhooks.set_enabled(w.webhook, enabled=False), WebhookNotFound)],
    "webhooks.remove": [(lambda h, w: h.webhooks.remove(w.webhook), WebhookNotFound)],
    "webhooks.deliveries": [(lambda h, w: h.webhooks.deliveries(w.webhook), WebhookNotFound)],
    "webhooks.test": [(lambda h, w: h.webhooks.test(w.webhook), WebhookNotFound)],
    "webhooks.redeliver": [
        (lambda h, w: h.webhooks.redeliver(w.event, w.webhook), EventNotFound),
        (lambda h, w: h.webhooks.redeliver(w.event, h.webhooks.add("https://acme.example/", ["*"]).id), EventNotFound),
    ],
}


def public_methods(handle: TenantStore) -> set[str]:
    """The methods of the handle and of all its facets."""
    found = {name for name, _ in inspect.getmembers(TenantStore, callable) if not name.startswith("_")}
    for facet, value in vars(handle).items():
        if not facet.startswith("_") and not isinstance(value, str):
            methods = inspect.getmembers(type(value), callable)
            found |= {f"{facet}.{name}" for name, _ in methods if not name.startswith("_")}
    return found


def test_every_method_of_the_handle_has_a_case(world: World) -> None:
    assert public_methods(world.handle) == set(CALLS), "give a new method an entry in CALLS"


@pytest.mark.parametrize("method", sorted(CALLS))
def test_method_neither_shows_nor_changes_what_another_tenant_has(world: World, method: str) -> None:
    before = world.theirs()
    for call, refusal in CALLS[method]:
        if refusal is not None:
            with pytest.raises(refusal) as refused:
                call(world.handle, world)
            answer = str(refused.value).replace("zebra_template", "").replace("zebra group", "")
        else:
            answer = repr(call(world.handle, world))
        assert "zebra" not in answer, "the names that were asked for are the only ones in an answer"
    assert world.theirs() == before


def test_reservation_is_seen_without_its_holder(world: World) -> None:
    assert "zebra" in repr(world.store.jobs.readiness()), "as an operator sees it"
    assert world.handle.jobs.readiness().held_back["unique"] == "reserved"


def test_tenants_may_use_the_same_group_name(world: World) -> None:
    mine = world.handle.groups.open("zebra group", mode="sequential")
    assert mine.id != world.group
    (made,) = world.handle.groups.add(mine.id, [NewJob("plain", tenant_id=THEIRS)])
    job = world.store.jobs.get(made.id)
    assert (job.tenant_id, job.group_id) == (OWN, mine.id)


def test_group_keeps_to_the_limits_of_its_tenant(world: World) -> None:
    world.store.tenants.edit(OWN, max_pending=2)
    group = world.handle.groups.open("mine")
    with pytest.raises(TenantLimit, match="max_pending"):
        world.handle.groups.add(group.id, [NewJob("plain"), NewJob("plain")])
    assert world.handle.groups.progress(group.id).total == 0
    world.handle.groups.add(group.id, [NewJob("plain")])
    world.handle.groups.cancel(group.id)
    world.handle.jobs.enqueue(NewJob("plain"))
    with pytest.raises(TenantLimit, match="max_pending"):
        world.handle.groups.retry(group.id, cancelled=True)
    world.store.tenants.set_enabled(OWN, enabled=False)
    with pytest.raises(QueueError, match="disabled"):
        world.handle.groups.open("another")
