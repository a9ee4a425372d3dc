"""Whether and when a failed or lost job runs again."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

from gribmill.queue.model import AttemptRef, RetryAs, Status

# Enough to spread a burst of failures, little enough to stay predictable.
JITTER = 0.10


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The retry settings of a job type."""

    backoff_base_s: float = 30.0
    backoff_cap_s: float = 600.0
    on_lost: Literal["retry", "fail"] = "retry"
    backoff_jitter: float = JITTER
    poll_limit: int | None = None
    retry_as: RetryAs = "same_row"

    def wait_seconds(self, retry: int, ref: AttemptRef) -> float:
        """The wait before retry number `retry` (1 is the first): the backoff, shortened by at most the jitter.

        The jitter is a hash of (job, attempt), so jobs that fail together are spread out and waits are reproducible in
        tests. Without jitter, the wait is exactly the backoff.
        """
        digest = hashlib.blake2b(f"{ref.job_id}/{ref.attempt_no}".encode(), digest_size=8).digest()
        unit = int.from_bytes(digest, "big") / 2**64
        return backoff_seconds(retry, self.backoff_base_s, self.backoff_cap_s) * (1 - self.backoff_jitter * unit)


def backoff_seconds(attempts: int, base: float = 1.0, cap: float = 60.0) -> float:
    """min(cap, base·2^(attempts-1)) after `attempts` failed attempts; `base` before the first."""
    exponent = min(max(attempts, 1) - 1, 62)
    return min(cap, base * 2.0**exponent)


def can_retry(status: Status, attempts: int, max_attempts: int = 5) -> bool:
    """Whether a job with this status may run again after `attempts` attempts."""
    return status not in ("completed", "processing") and attempts < max_attempts
