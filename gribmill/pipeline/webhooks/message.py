"""The message of an event, signed as Standard Webhooks prescribes."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass

from gribmill.queue.model import PublishedEvent
from gribmill.queue.times import to_rfc3339
from gribmill.version import __version__


@dataclass(frozen=True, slots=True)
class WebhookMessage:
    """A body, and the id by which receivers recognise repeated deliveries."""

    id: str
    body: bytes

    @classmethod
    def of(cls, event: PublishedEvent) -> WebhookMessage:
        content = {"type": event.name, "timestamp": to_rfc3339(event.created_at), "data": event.payload}
        return cls(f"evt_{event.id}", json.dumps(content, separators=(",", ":")).encode())

    def headers(self, secret: str, seconds: int) -> dict[str, str]:
        """The headers of a request that is sent at this time (seconds since 1970)."""
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
