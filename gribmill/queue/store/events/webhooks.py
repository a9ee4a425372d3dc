"""Webhooks: which URL receives which events. Each delivery is a job."""

from __future__ import annotations

import base64
import binascii
import re
import secrets
from collections.abc import Sequence
from datetime import timedelta
from urllib.parse import urlsplit

from gribmill.database.protocol import Database, Snapshot, Transaction
from gribmill.errors import quoted
from gribmill.queue.errors import BadWebhook, EventNotFound, WebhookNotFound
from gribmill.queue.model import (
    ALL_TENANTS,
    DEFAULT_TENANT,
    Delivery,
    Enqueued,
    NewEvent,
    NewJob,
    PublishedEvent,
    Webhook,
    WebhookAnswer,
)
from gribmill.queue.public_address import is_visibly_private
from gribmill.queue.store.base import ID_LIMIT, Facet, retried
from gribmill.queue.store.tenants import get_tenant

DELIVERY_TYPE = "deliver_webhook"
TEST_EVENT = "webhook.test"
SECRET_PREFIX = "whsec_"  # noqa: S105 — the prefix that Standard Webhooks prescribes
LONGEST_URL = 2000
MOST_PATTERNS = 50
# A name, or several by asterisks.
EVENT_NAMES = re.compile(r"[A-Za-z0-9_.*-]{1,200}")


class Webhooks(Facet):
    """Creates exactly one delivery job for each webhook and event."""

    allow_private = False
    """Whether URLs may point to this machine or a private network. Host names are checked again at delivery."""

    def on(self, database: Database) -> Webhooks:
        """The same settings on another handle of the database."""
        other = Webhooks(database, self.registry)
        other.allow_private = self.allow_private
        return other

    @retried
    def add(
        self,
        url: str,
        events: Sequence[str],
        *,
        secret: str | None = None,
        tenant_id: str = DEFAULT_TENANT,
        created_by: str | None = None,
    ) -> Webhook:
        """Store a webhook; raises BadWebhook if it could never work. Generates a secret unless one is given."""
        row = {
            "url": self._checked_url(url),
            "events": checked_patterns(events),
            "secret": new_secret() if secret is None else checked_secret(secret),
            "tenant_id": tenant_id,
            "created_by": created_by,
        }
        with self.database.write() as tx:
            if tenant_id != ALL_TENANTS:
                get_tenant(tx, tenant_id)
            return tx.query(Webhook, "webhooks/insert", row)[0]

    def _checked_url(self, url: str) -> str:
        host = urlsplit(checked_url(url)).hostname or ""
        if not self.allow_private and is_visibly_private(host):
            raise BadWebhook(f"{host} is not a public address: set webhooks.allow_private in the settings to allow it")
        return url

    def list(self) -> list[Webhook]:
        with self.database.read() as tx:
            return tx.query(Webhook, "webhooks/list")

    def get(self, webhook_id: int) -> Webhook:
        with self.database.read() as tx:
            return get_webhook(tx, webhook_id)

    @retried
    def edit(
        self, webhook_id: int, *, url: str | None = None, events: Sequence[str] | None = None, secret: str | None = None
    ) -> Webhook:
        """Change the given fields."""
        with self.database.write() as tx:
            tx.hold_edits()
            old = get_webhook(tx, webhook_id)
            row = {
                "url": old.url if url is None else self._checked_url(url),
                "events": old.events if events is None else checked_patterns(events),
                "secret": old.secret if secret is None else checked_secret(secret),
            }
            tx.change("webhooks/update", {"id": webhook_id, **row})
            return get_webhook(tx, webhook_id)

    @retried
    def set_enabled(self, webhook_id: int, *, enabled: bool) -> Webhook:
        """Enable or disable. Events that occur while it is disabled are not delivered later."""
        with self.database.write() as tx:
            get_webhook(tx, webhook_id)
            tx.change("webhooks/set_enabled", {"id": webhook_id, "is_enabled": enabled})
            return get_webhook(tx, webhook_id)

    @retried
    def remove(self, webhook_id: int) -> None:
        """Remove a webhook with its deliveries."""
        with self.database.write() as tx:
            get_webhook(tx, webhook_id)
            tx.change("webhooks/delete", {"id": webhook_id})

    def deliveries(self, webhook_id: int, limit: int = 20) -> Sequence[Delivery]:
        """The deliveries of a webhook, newest first."""
        with self.database.read() as tx:
            get_webhook(tx, webhook_id)
            return tx.query(Delivery, "deliveries/list", {"webhook_id": webhook_id, "limit": limit})

    @retried
    def test(self, webhook_id: int) -> Enqueued:
        """Deliver a test event to this webhook only."""
        with self.database.write() as tx:
            webhook = get_webhook(tx, webhook_id)
            tenant = webhook.job_tenant
            row = {"name": TEST_EVENT, "tenant_id": tenant, "payload": {"webhook_id": webhook_id}, "event_key": None}
            (event,) = tx.query(PublishedEvent, "events/insert_emitted", row)
            made = self._deliver(tx, webhook, event)
        self.database.announce()
        assert made is not None
        return made

    @retried
    def redeliver(self, event_id: int, webhook_id: int | None = None) -> Sequence[Enqueued]:
        """Deliver an event again: to one webhook, or to all that received it, or else to all that subscribe to it."""
        with self.database.write() as tx:
            event = tx.first(PublishedEvent, "events/get", {"id": event_id}) if 0 < event_id < ID_LIMIT else None
            if event is None:
                raise EventNotFound(f"there is no event {event_id}; it may have been pruned")
            if webhook_id is not None:
                chosen = [get_webhook(tx, webhook_id)]
            else:
                known = tx.query(Delivery, "deliveries/of_event", {"event_id": event_id})
                chosen = [get_webhook(tx, one.webhook_id) for one in known] or _wanting(tx, event)
            made = [self._enqueue(tx, webhook, event, again=True) for webhook in chosen]
        self.database.announce()
        return made

    def deliver(self, tx: Transaction, event: PublishedEvent) -> int:
        """Create the delivery jobs of an event, in the transaction that dispatches it; returns how many.

        Events about deliveries are not delivered: each failure of a broken webhook would cause another.
        """
        if DELIVERY_TYPE not in self.registry or event.values.get("type") == DELIVERY_TYPE:
            return 0
        with tx.across_tenants():  # webhooks of `*` receive the events of every tenant
            return sum(self._deliver(tx, webhook, event) is not None for webhook in _wanting(tx, event))

    def _deliver(self, tx: Transaction, webhook: Webhook, event: PublishedEvent) -> Enqueued | None:
        """Create a delivery job; None if one exists, because the delivery's row is unique."""
        if not tx.change("deliveries/insert", {"webhook_id": webhook.id, "event_id": event.id}):
            return None
        return self._enqueue(tx, webhook, event)

    def _enqueue(self, tx: Transaction, webhook: Webhook, event: PublishedEvent, *, again: bool = False) -> Enqueued:
        if again:
            tx.change("deliveries/insert", {"webhook_id": webhook.id, "event_id": event.id})
        args = {"webhook_id": webhook.id, "event_id": event.id}
        ref = f"event {event.id}: {event.name}"
        job = NewJob(
            DELIVERY_TYPE,
            args,
            tenant_id=webhook.job_tenant,
            source="event",
            source_ref=ref,
            correlation_id=event.correlation_id,
        )
        (made,) = tx.insert_jobs([self.registry.prepare(job)])
        tx.change("deliveries/set_job", {**args, "job_id": made.id})
        return made


def record_answer(tx: Transaction, answer: WebhookAnswer) -> None:
    """Record a delivery's result in the transaction that ends its attempt. Disables a webhook that fails for days."""
    failed = "failed" if answer.last or answer.gone else "pending"
    delivery = {"webhook_id": answer.webhook_id, "event_id": answer.event_id, "http_status": answer.http_status}
    status = "delivered" if answer.delivered else failed
    tx.change("deliveries/note", {**delivery, "status": status, "error": answer.error})
    if answer.delivered:
        tx.change("webhooks/note_success", {"id": answer.webhook_id})
        return
    tx.change("webhooks/note_failure", {"id": answer.webhook_id, "error": answer.error})
    before = tx.now - timedelta(seconds=answer.disable_after_seconds)
    reason = "its address is gone (HTTP 410)" if answer.gone else f"it has failed for too long: {answer.error}"
    row = {"id": answer.webhook_id, "gone": answer.gone, "before": before, "reason": reason}
    for webhook in tx.query(Webhook, "webhooks/disable_failing", row):
        payload = {"webhook_id": webhook.id, "host": urlsplit(webhook.url).hostname, "reason": reason}
        tx.publish(NewEvent("webhook.disabled", payload, webhook.job_tenant))


def get_webhook(tx: Snapshot, webhook_id: int) -> Webhook:
    """The webhook, or WebhookNotFound."""
    found = tx.first(Webhook, "webhooks/get", {"id": webhook_id}) if 0 < webhook_id < ID_LIMIT else None
    if found is None:
        raise WebhookNotFound(f"there is no webhook {webhook_id}")
    return found


def _wanting(tx: Transaction, event: PublishedEvent) -> list[Webhook]:
    return tx.query(Webhook, "webhooks/for_event", {"name": event.name, "tenant_id": event.tenant_id})


def checked_url(url: str) -> str:
    """Validate an absolute http or https URL without a password; raises BadWebhook. DNS is checked at delivery."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadWebhook(f"{quoted(url)} is not an address: {error}") from None
    if len(url) > LONGEST_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise BadWebhook(f"an address has at most {LONGEST_URL} printable ASCII characters")
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise BadWebhook(f"{quoted(url)} is not an http or https address")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise BadWebhook("an address of a webhook has no user name, password or fragment; requests are signed instead")
    return url


def checked_patterns(events: Sequence[str]) -> list[str]:
    if not 0 < len(events) <= MOST_PATTERNS:
        raise BadWebhook(f"a webhook has 1 to {MOST_PATTERNS} names of events")
    for one in events:
        if not EVENT_NAMES.fullmatch(one):
            raise BadWebhook(f"{quoted(one)} is not a name of events; an example with an asterisk is run.*")
    return [*events]


def new_secret() -> str:
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def checked_secret(secret: str) -> str:
    """Validate a Standard Webhooks secret (whsec_ and 24 to 64 bytes in base64). Errors do not quote it."""
    try:
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.startswith(SECRET_PREFIX) or not 24 <= len(key) <= 64:
        raise BadWebhook(f"a secret is {SECRET_PREFIX} followed by 24 to 64 bytes in base64")
    return secret
