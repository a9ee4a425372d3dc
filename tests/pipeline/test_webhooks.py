"""Webhooks against a real HTTP server that fails and recovers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import standardwebhooks

from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.errors import BadWebhook
from gribmill.queue.model import NewEvent, NewJob, NewTenant
from gribmill.queue.public_address import is_public
from gribmill.queue.store import Store
from gribmill.settings.schema import Settings, WebhookSettings
from tests.pipeline.webhook_receiver import Receiver, publish, receiving, tick


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving(Receiver()) as server:
        yield server


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path / "data", webhooks=WebhookSettings(allow_private=True))


@pytest.fixture
def store(settings: Settings) -> Store:
    return open_queue(settings)


def test_event_is_delivered_once_with_a_signature_that_others_verify(
    receiver: Receiver, store: Store, settings: Settings
) -> None:
    webhook = store.webhooks.add(receiver.url, ["run.*"])
    publish(store, model_id="hrrr", run_id="20261101_12")
    publish(store, "mirror.well", mirror="x")
    assert len(tick(store, settings)) == 1
    assert tick(store, settings) == []
    ((headers, body),) = receiver.got
    verified = standardwebhooks.Webhook(webhook.secret).verify(body, headers)
    assert (verified["type"], verified["data"]["model_id"]) == ("run.completed", "hrrr")
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        standardwebhooks.Webhook(webhook.secret).verify(body + b" ", headers)
    (delivery,) = store.webhooks.deliveries(webhook.id)
    assert (delivery.status, delivery.http_status) == ("delivered", 200)


def test_receiver_that_fails_and_recovers_gets_the_same_message(
    receiver: Receiver, store: Store, settings: Settings
) -> None:
    webhook = store.webhooks.add(receiver.url, ["*"])
    receiver.status = 503
    publish(store)
    for _ in range(2):
        tick(store, settings)
    failing = store.webhooks.get(webhook.id)
    assert failing.failing_since is not None and "503" in (failing.last_error or "")
    (job,) = store.jobs.list().jobs
    assert (job.status, job.retry_count) == ("pending", 2)
    receiver.status = 204
    tick(store, settings)
    assert store.webhooks.get(webhook.id).failing_since is None
    assert len({(headers["webhook-id"], body) for headers, body in receiver.got}) == 1
    assert len(receiver.got) == 3
    (again,) = store.webhooks.redeliver(1)
    assert again.created
    tick(store, settings)
    assert len(receiver.got) == 4
    assert len(store.webhooks.redeliver(1, webhook.id)) == 1


def test_redirect_is_not_followed_and_a_gone_address_disables_the_webhook(
    receiver: Receiver, store: Store, settings: Settings
) -> None:
    webhook = store.webhooks.add(receiver.url, ["run.*"])
    receiver.status = 302
    publish(store)
    tick(store, settings)
    assert len(receiver.got) == 1
    assert "redirects are not followed" in (store.webhooks.get(webhook.id).last_error or "")
    receiver.status = 410
    tick(store, settings)
    assert not store.webhooks.get(webhook.id).is_enabled
    assert [event.name for event in store.events.list(pattern="webhook.*")] == ["webhook.disabled"]
    publish(store)
    assert tick(store, settings) == []


def test_long_failure_disables_the_webhook_with_an_event(receiver: Receiver, store: Store, settings: Settings) -> None:
    webhook = store.webhooks.add(receiver.url, ["run.*"])
    receiver.status = 500
    publish(store)
    tick(store, settings)
    assert store.webhooks.get(webhook.id).is_enabled
    short = settings.model_copy(update={"webhooks": WebhookSettings(allow_private=True, disable_after_days=1e-9)})
    tick(store, short)
    assert not store.webhooks.get(webhook.id).is_enabled
    (event,) = store.events.list(pattern="webhook.disabled")
    assert "500" in event.values["reason"]
    assert store.webhooks.set_enabled(webhook.id, enabled=True).failing_since is None


def test_private_address_is_refused_before_anything_is_sent(receiver: Receiver, store: Store) -> None:
    private = Settings(data=store.database.path.parent)  # type: ignore[attr-defined]
    webhook = store.webhooks.add(receiver.url.replace("127.0.0.1", "localhost"), ["run.*"])
    publish(store)
    tick(store, private)
    assert receiver.got == []
    assert "an address that is not public" in (store.webhooks.get(webhook.id).last_error or "")


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "::1",
     "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "255.255.255.255",
     "192.0.0.192", "fec0::1", "3fff::1"],
)  # fmt: skip
def test_private_and_reserved_addresses_are_not_public(address: str) -> None:
    assert not is_public(address)


def test_addresses_on_the_internet_are_public() -> None:
    assert is_public("8.8.8.8") and is_public("2606:4700:4700::1111")


def test_failed_delivery_is_not_delivered_itself(receiver: Receiver, store: Store, settings: Settings) -> None:
    store.webhooks.add(receiver.url, ["*"])
    receiver.status = 410
    store.events.record("attempt.metered", wanted=True)
    publish(store)
    tick(store, settings)
    store.webhooks.set_enabled(1, enabled=True)
    while tick(store, settings):
        pass
    types = [json.loads(body)["type"] for _, body in receiver.got]
    assert not {"job.failed", "attempt.metered"} & {*types}


def test_test_event_goes_to_one_webhook_alone(receiver: Receiver, store: Store, settings: Settings) -> None:
    first = store.webhooks.add(receiver.url, ["run.*"])
    store.webhooks.add(receiver.url, ["*"])
    assert store.webhooks.test(first.id).created
    assert len(tick(store, settings)) == 1
    assert tick(store, settings) == []


@pytest.mark.parametrize(
    ("url", "events", "secret"),
    [
        ("ftp://x/", ["a"], None),
        ("http://", ["a"], None),
        ("http://me:pass@x/", ["a"], None),
        ("http://x/ y", ["a"], None),
        ("http://x:99999/", ["a"], None),
        ("http://x/", [], None),
        ("http://x/", ["[a"], None),
        ("http://x/", ["a"], "s3cret"),
        ("http://x/", ["a"], "whsec_AAAA"),
    ],
)
def test_webhook_that_could_never_work_is_refused(
    store: Store, url: str, events: list[str], secret: str | None
) -> None:
    with pytest.raises(BadWebhook) as refusal:
        store.webhooks.add(url, events, secret=secret)
    assert "s3cret" not in str(refusal.value)
    assert store.webhooks.list() == []


@pytest.mark.parametrize(
    ("owner", "of_event", "of_job", "delivered"),
    [
        ("acme", "acme", "acme", True),
        ("acme", "other", "acme", False),
        ("acme", "global", "acme", False),
        ("other", "acme", "acme", False),
        ("*", "acme", "acme", False),
        ("*", "acme", "global", True),
    ],
)
def test_a_tenant_cannot_deliver_events_or_to_webhooks_of_another(
    receiver: Receiver, store: Store, settings: Settings, owner: str, of_event: str, of_job: str, *, delivered: bool
) -> None:
    """Any tenant may enqueue a job of this type, with any ids."""
    for name in ("acme", "other"):
        store.tenants.add(NewTenant(name))
    webhook = store.webhooks.add(receiver.url, ["never"], tenant_id=owner)
    with store.database.write() as tx:
        tx.publish(NewEvent("secret.found", {"secret": 1}, of_event))
    event = store.events.list()[0]
    args = {"webhook_id": webhook.id, "event_id": event.id}
    store.jobs.enqueue(NewJob("deliver_webhook", args, tenant_id=of_job))
    tick(store, settings)
    assert (len(receiver.got) == 1) is delivered
    assert store.webhooks.get(webhook.id).last_error is None
