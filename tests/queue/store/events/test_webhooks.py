"""Webhooks in the store: which events each receives, exactly once, and how failures are handled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from gribmill.queue.arguments import Args
from gribmill.queue.errors import BadWebhook, EventNotFound, TenantNotFound, WebhookNotFound
from gribmill.queue.job_type import JobType, Registry
from gribmill.queue.model import Failed, NewEvent, NewTrigger, Webhook, WebhookAnswer
from gribmill.queue.store import Store
from gribmill.queue.store.events.webhooks import record_answer
from gribmill.queue.store.jobs.listing import JobFilter
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.sample_types import TYPES
from tests.queue.store.store_driver import add, report, take
from tests.queue.store.tested_backend import BackendUnderTest

URL = "https://example.org/hook"
DAY = 86_400.0


class DeliveryArgs(Args):
    webhook_id: int
    event_id: int


DELIVERS = Registry(*TYPES, JobType("deliver_webhook", "delivers", DeliveryArgs, "test", None))


@pytest.fixture
def hooked(backend: BackendUnderTest) -> Iterator[Store]:
    store = backend.open(DELIVERS)
    yield store
    assert store.verify() == []


def publish(store: Store, *names: str, tenant_id: str = "global") -> None:
    with store.database.write() as tx:
        for name in names:
            tx.publish(NewEvent(name, {"name": name}, tenant_id))


def deliveries(store: Store, webhook: Webhook) -> list[tuple[str, str]]:
    return [(one.event_name, one.status) for one in store.webhooks.deliveries(webhook.id)]


def answer(store: Store, webhook: Webhook, event_id: int = 1, **fields: Any) -> None:
    given = {"http_status": 500, "error": "HTTP 500", "delivered": False, "gone": False, "last": False, **fields}
    with store.database.write() as tx:
        record_answer(tx, WebhookAnswer(webhook.id, event_id, disable_after_seconds=5 * DAY, **given))


def test_webhook_gets_the_events_whose_names_match_once_each(hooked: Store) -> None:
    runs, everything = hooked.webhooks.add(URL, ["run.*"]), hooked.webhooks.add(URL, ["*"])
    publish(hooked, "run.seen", "mirror.sick")
    hooked.events.dispatch()
    hooked.events.dispatch()
    assert deliveries(hooked, runs) == [("run.seen", "pending")]
    assert deliveries(hooked, everything) == [("mirror.sick", "pending"), ("run.seen", "pending")]
    jobs = hooked.jobs.list(JobFilter(type="deliver_webhook")).jobs
    assert len(jobs) == 3
    assert {job.source_ref for job in jobs} == {"event 1: run.seen", "event 2: mirror.sick"}


def test_webhook_gets_the_events_of_its_tenant_or_of_all(hooked: Store) -> None:
    own = hooked.webhooks.add(URL, ["*"], tenant_id="acme")
    everybody = hooked.webhooks.add(URL, ["*"], tenant_id="*")
    publish(hooked, "x", tenant_id="acme")
    publish(hooked, "y", tenant_id="b")
    publish(hooked, "z")
    hooked.events.dispatch()
    assert deliveries(hooked, own) == [("x", "pending")]
    assert [name for name, _ in deliveries(hooked, everybody)] == ["z", "y", "x"]
    (job,) = hooked.jobs.list(JobFilter(tenant_id="acme")).jobs
    assert job.type == "deliver_webhook"
    with pytest.raises(TenantNotFound):
        hooked.webhooks.add(URL, ["*"], tenant_id="nobody")


def test_disabled_webhook_gets_nothing_until_it_is_redelivered(hooked: Store) -> None:
    webhook = hooked.webhooks.add(URL, ["*"])
    hooked.webhooks.set_enabled(webhook.id, enabled=False)
    publish(hooked, "x")
    hooked.events.dispatch()
    hooked.webhooks.set_enabled(webhook.id, enabled=True)
    assert deliveries(hooked, webhook) == []
    (made,) = hooked.webhooks.redeliver(1)
    assert made.created and deliveries(hooked, webhook) == [("x", "pending")]
    with pytest.raises(EventNotFound):
        hooked.webhooks.redeliver(99)
    with pytest.raises(WebhookNotFound):
        hooked.webhooks.redeliver(1, 99)


def test_long_failure_disables_a_webhook_with_one_event(hooked: Store, clock: FakeClock) -> None:
    webhook = hooked.webhooks.add(URL, ["x"])
    publish(hooked, "x")
    hooked.events.dispatch()
    answer(hooked, webhook)
    failing = hooked.webhooks.get(webhook.id)
    assert (failing.is_enabled, failing.last_error) == (True, "HTTP 500")
    clock.advance(4 * DAY)
    answer(hooked, webhook, delivered=True, http_status=200, error=None)
    assert hooked.webhooks.get(webhook.id).failing_since is None, "a success ends the failure"
    answer(hooked, webhook)
    clock.advance(6 * DAY)
    answer(hooked, webhook, last=True)
    answer(hooked, webhook, last=True)
    disabled = hooked.webhooks.get(webhook.id)
    assert not disabled.is_enabled and "failed for too long" in (disabled.disabled_reason or "")
    assert deliveries(hooked, webhook) == [("x", "failed")]
    (event,) = hooked.events.list(pattern="webhook.disabled")
    assert event.values["webhook_id"] == webhook.id


def test_gone_address_disables_a_webhook_at_once(hooked: Store) -> None:
    webhook = hooked.webhooks.add(URL, ["x"])
    publish(hooked, "x")
    hooked.events.dispatch()
    answer(hooked, webhook, gone=True, http_status=410)
    assert "410" in (hooked.webhooks.get(webhook.id).disabled_reason or "")


def test_all_jobs_of_an_event_share_its_correlation_id(hooked: Store) -> None:
    hooked.webhooks.add(URL, ["x"])
    for label in ("one", "two"):
        hooked.triggers.add(NewTrigger(label, "plain", {"n": len(label)}, event="x"))
    publish(hooked, "x")
    hooked.events.dispatch()
    hooked.events.emit("x", {"hour": 3})
    jobs = hooked.jobs.list().jobs
    assert Counter(job.correlation_id for job in jobs) == {"event-1": 3, "event-2": 3}
    assert hooked.jobs.progress("event-2") == {("plain", "pending"): 2, ("deliver_webhook", "pending"): 1}


def test_failed_delivery_is_recorded_and_not_delivered(hooked: Store) -> None:
    webhook = hooked.webhooks.add(URL, ["x", "job.*"])
    publish(hooked, "x")
    hooked.events.dispatch()
    job = take(hooked, types=("deliver_webhook",))
    report(hooked, job, Failed("no", permanent=True))
    hooked.events.dispatch()
    assert [event.name for event in hooked.events.list()] == ["job.failed", "x"]
    assert deliveries(hooked, webhook) == [("x", "pending")]


def test_removed_webhook_takes_its_deliveries_with_it(hooked: Store) -> None:
    webhook = hooked.webhooks.add(URL, ["*"])
    publish(hooked, "x")
    hooked.events.dispatch()
    hooked.webhooks.remove(webhook.id)
    with pytest.raises(WebhookNotFound):
        hooked.webhooks.deliveries(webhook.id)
    assert hooked.webhooks.list() == []


def test_queue_without_the_delivery_type_publishes_and_delivers_nothing(store: Store) -> None:
    webhook = store.webhooks.add(URL, ["*"])
    add(store)
    publish(store, "x")
    store.events.dispatch()
    assert store.webhooks.deliveries(webhook.id) == []


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.1", "[::1]", "192.168.1.4", "[fd00::1]"])
def test_private_address_is_refused_unless_it_is_allowed(hooked: Store, host: str) -> None:
    with pytest.raises(BadWebhook, match="not a public address"):
        hooked.webhooks.add(f"https://{host}/", ["*"])
    with pytest.raises(BadWebhook, match="not a public address"):
        hooked.for_tenant("acme").webhooks.add(f"https://{host}/", ["*"])
    hooked.webhooks.allow_private = True
    assert hooked.for_tenant("acme").webhooks.add(f"https://{host}/", ["*"]).tenant_id == "acme"
