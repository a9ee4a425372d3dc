"""deliver_webhook: sends one event to one webhook, as a signed HTTP request to a public address."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import hmac
import http.client
import json
import socket
import ssl
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from gribmill.errors import GribmillError
from gribmill.ingest.http.deadline import Deadline, DeadlineResponse
from gribmill.pipeline.context import context_of
from gribmill.pipeline.effects import WEBHOOK_ANSWERED
from gribmill.pipeline.job_arguments import DeliverWebhookArgs
from gribmill.pipeline.job_types import DELIVER_WEBHOOK
from gribmill.queue.model import Effect, Failed, Outcome, PublishedEvent, Succeeded, Webhook, WebhookAnswer
from gribmill.queue.public_address import is_public
from gribmill.queue.times import to_rfc3339
from gribmill.queue.worker.task import Task
from gribmill.version import __version__

# Delays before retries: about four days in total, as Standard Webhooks recommends.
WAITS = (5.0, 300.0, 1800.0, 7200.0, 18_000.0, 36_000.0, 50_400.0, 72_000.0, 86_400.0)
# Only the status of the response matters; a little of the body is read so that the connection closes cleanly.
ANSWER_LIMIT_BYTES = 16_384


def run(task: Task) -> Outcome:
    """Deliver the event, and record the response when the attempt ends."""
    args = task.args_as(DeliverWebhookArgs)
    context = context_of(task)
    with context.catalogue.database.read() as tx:
        webhook = tx.first(Webhook, "webhooks/get", {"id": args.webhook_id})
        event = tx.first(PublishedEvent, "events/get", {"id": args.event_id})
    # Any tenant may enqueue a job of this type: to it, what belongs to others does not exist.
    if webhook is None or webhook.job_tenant != task.tenant_id:
        return Succeeded(skipped="the webhook is gone")
    if event is None or not webhook.may_receive(event):
        return Succeeded(skipped="the event is gone")
    if not webhook.is_enabled:
        return Succeeded(skipped=f"webhook {webhook.id} is disabled")
    settings = context.settings.webhooks
    base = WebhookAnswer(
        webhook.id, event.id, delivered=False, disable_after_seconds=settings.disable_after_days * 86_400
    )
    message = _Message.of(event)
    headers = message.headers(webhook.secret, int(time.time()))
    try:
        answer = _post(
            webhook.url,
            message.body,
            headers,
            timeout_seconds=settings.timeout_seconds,
            allow_private=settings.allow_private,
        )
    except _TargetRefused as error:
        return _failed(dataclasses.replace(base, error=str(error), last=True), task.attempt_no, permanent=True)
    except _DeliveryFailed as error:
        return _failed(dataclasses.replace(base, error=str(error)), task.attempt_no)
    host = urlsplit(webhook.url).hostname
    noted = dataclasses.replace(base, http_status=answer.status, gone=answer.status == 410)
    if 200 <= answer.status < 300:
        return Succeeded(also=(_effect(dataclasses.replace(noted, delivered=True)),))
    words = "; redirects are not followed" if 300 <= answer.status < 400 else ""
    noted = dataclasses.replace(noted, error=f"{host} answered {answer.status}{words}")
    return _failed(noted, task.attempt_no, permanent=noted.gone, at_least=answer.retry_after or 0.0)


def _failed(answer: WebhookAnswer, attempt_no: int, *, permanent: bool = False, at_least: float = 0.0) -> Failed:
    last = permanent or attempt_no >= DELIVER_WEBHOOK.max_attempts
    wait = max(WAITS[min(attempt_no, len(WAITS)) - 1], min(at_least, WAITS[-1]))
    effect = _effect(dataclasses.replace(answer, last=last))
    return Failed(answer.error or "", permanent=permanent, retry_in=wait, also=(effect,))


def _effect(answer: WebhookAnswer) -> Effect:
    return Effect(WEBHOOK_ANSWERED, json.dumps(dataclasses.asdict(answer)))


@dataclass(frozen=True, slots=True)
class _Message:
    """The body of a request, and the id by which receivers recognise repeated deliveries."""

    id: str
    body: bytes

    @classmethod
    def of(cls, event: PublishedEvent) -> _Message:
        content = {"type": event.name, "timestamp": to_rfc3339(event.created_at), "data": event.payload}
        return cls(f"evt_{event.id}", json.dumps(content, separators=(",", ":")).encode())

    def headers(self, secret: str, seconds: int) -> dict[str, str]:
        """Signed headers, as Standard Webhooks prescribes, of a request sent at this time (seconds since 1970)."""
        return {
            "content-type": "application/json",
            "user-agent": f"gribmill/{__version__}",
            "webhook-id": self.id,
            "webhook-timestamp": str(seconds),
            "webhook-signature": f"v1,{self._signature(secret, seconds)}",
        }

    def _signature(self, secret: str, seconds: int) -> str:
        key = base64.b64decode(secret.removeprefix("whsec_"))
        signed = b".".join((self.id.encode(), str(seconds).encode(), self.body))
        return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


class _TargetRefused(GribmillError):
    """The URL points to this machine or a private network."""


class _DeliveryFailed(GribmillError):
    """No response, or an unreadable one."""


@dataclass(frozen=True, slots=True)
class _Response:
    """The status of a response, and its Retry-After in seconds."""

    status: int
    retry_after: float | None = None


def _post(
    url: str, body: bytes, headers: Mapping[str, str], *, timeout_seconds: float, allow_private: bool
) -> _Response:
    """Send the body, without redirects and proxies, bounded in time and size.

    Raises _TargetRefused before anything is sent, _DeliveryFailed without a response.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        context = ssl.create_default_context()
        connection = http.client.HTTPSConnection(host, port, context=context)
    else:
        connection = http.client.HTTPConnection(host, port)
    connection.response_class = DeadlineResponse
    try:
        with Deadline(timeout_seconds).held() as deadline:
            connection.sock = _connect(host, port, deadline, allow_private=allow_private)
            connection.sock.settimeout(deadline.left())
            if parts.scheme == "https":
                connection.sock = context.wrap_socket(connection.sock, server_hostname=host)
            connection.request("POST", path, body, dict(headers))
            answer = connection.getresponse()
            # The receiver has the event, so errors in the rest of its response do not matter.
            with suppress(OSError, http.client.HTTPException, ValueError):
                answer.read(ANSWER_LIMIT_BYTES)
        asked = answer.getheader("Retry-After") or ""
        return _Response(answer.status, float(asked) if asked.isdecimal() and len(asked) < 7 else None)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _DeliveryFailed(f"{host}: {type(error).__name__}: {str(error)[:300]}") from None
    finally:
        connection.close()


def _connect(host: str, port: int, deadline: Deadline, *, allow_private: bool) -> socket.socket:
    """Connect to an address that was itself checked, so that the name is not resolved a second time."""
    found = {info[4][0] for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
    addresses = sorted(str(one) for one in found)
    if not allow_private and not all(map(is_public, addresses)):
        # Without the address: a tenant that may not connect to a private network must not learn its names either.
        raise _TargetRefused(f"{host} is at an address that is not public: set webhooks.allow_private to allow it")
    failure: OSError | None = None
    for place, address in enumerate(addresses):
        try:
            # An address that does not respond must leave time for the others.
            return socket.create_connection((address, port), deadline.left() / (len(addresses) - place))
        except OSError as error:
            failure = error
    raise failure or OSError("the name has no address")
