"""When a request is retried, and after what delay.

Repeating a read is always safe. A change is sent again with the same Idempotency-Key, so the server executes it once.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import httpx

# The server is unavailable, a proxy cannot reach it, or there are too many requests.
AGAIN = frozenset({429, 502, 503, 504})
# The same request is still in progress; its result will be available later.
BEING_DONE = 409
LONGEST_WAIT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Retries:
    """`attempts` in total, with exponential backoff and jitter, so that many clients do not retry at once."""

    attempts: int = 5
    first_seconds: float = 0.5
    longest_seconds: float = 20.0
    random: Callable[[], float] = random.random

    def wait(self, attempt: int, response: httpx.Response | None) -> float | None:
        """Seconds until the next attempt; None to give up. `response` is None if the server did not respond."""
        if attempt >= self.attempts:
            return None
        asked = _retry_after(response) if response is not None else None
        if response is not None and not (
            response.status_code in AGAIN or (response.status_code == BEING_DONE and asked)
        ):
            return None
        longest = min(self.longest_seconds, self.first_seconds * 2.0 ** (attempt - 1))
        return max(longest * (0.5 + self.random() / 2), min(asked or 0.0, LONGEST_WAIT_SECONDS))


def _retry_after(response: httpx.Response) -> float | None:
    text = response.headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
