"""deliver_webhook: sends one event to one webhook."""

from __future__ import annotations

import dataclasses
import json
import time
from urllib.parse import urlsplit

from gribmill.pipeline.context import context_of
from gribmill.pipeline.job_arguments import DeliverWebhookArgs
from gribmill.pipeline.job_types import DELIVER_WEBHOOK
from gribmill.pipeline.webhooks.message import WebhookMessage
from gribmill.pipeline.webhooks.post import DeliveryFailed, TargetRefused, post
from gribmill.queue.model import Effect, Failed, Outcome, PublishedEvent, Succeeded, Webhook, WebhookAnswer
from gribmill.queue.worker.task import Task

# Delays before retries: about four days in total, as Standard Webhooks recommends.
WAITS = (5.0, 300.0, 1800.0, 7200.0, 18_000.0, 36_000.0, 50_400.0, 72_000.0, 86_400.0)


def run(task: Task) -> Outcome:
    """Deliver the event, and record the response when the attempt ends."""
    args = task.args_as(DeliverWebhookArgs)
    context = context_of(task)
    with context.catalogue.database.read() as tx:
        webhook = tx.first(Webhook, "webhooks/get", {"id": args.webhook_id})
        event = tx.first(PublishedEvent, "events/get", {"id": args.event_id})
    if webhook is None or event is None:
        return Succeeded(skipped=f"the {'event' if webhook else 'webhook'} is gone")
    if not webhook.is_enabled:
        return Succeeded(skipped=f"webhook {webhook.id} is disabled")
    settings = context.settings.webhooks
    base = WebhookAnswer(
        webhook.id, event.id, delivered=False, disable_after_seconds=settings.disable_after_days * 86_400
    )
    message = WebhookMessage.of(event)
    headers = message.headers(webhook.secret, int(time.time()))
    try:
        answer = post(
            webhook.url,
            message.body,
            headers,
            timeout_seconds=settings.timeout_seconds,
            allow_private=settings.allow_private,
        )
    except TargetRefused as error:
        return _failed(dataclasses.replace(base, error=str(error), last=True), task.attempt_no, permanent=True)
    except DeliveryFailed as error:
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
    return Effect("webhook_answered", json.dumps(dataclasses.asdict(answer)))
