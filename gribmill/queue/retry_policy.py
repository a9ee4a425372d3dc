"""Whether and when a job that failed or was lost runs again."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

from gribmill.queue.model import AttemptRef

# Enough to spread a burst of failures, little enough to stay predictable.
JITTER = 0.10


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """What a job type declares about retries."""

    backoff_base_s: float = 30.0
    backoff_cap_s: float = 600.0
    on_lost: Literal["retry", "fail"] = "retry"

    def wait_seconds(self, retry: int, ref: AttemptRef) -> float:
        """The wait before retry number `retry` (1 is the first): min(cap, base·2^(retry-1)), ±10 %.

        The jitter is a hash of (job, attempt): jobs that fail together spread out, and a test sees the same wait twice.
        """
        exponent = min(max(retry, 1) - 1, 62)
        seconds = min(self.backoff_cap_s, self.backoff_base_s * 2.0**exponent)
        digest = hashlib.blake2b(f"{ref.job_id}/{ref.attempt_no}".encode(), digest_size=8).digest()
        unit = int.from_bytes(digest, "big") / 2**64
        return seconds * (1 + JITTER * (2 * unit - 1))
