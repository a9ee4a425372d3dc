"""How long a failed job waits before its next attempt."""

from __future__ import annotations

import hashlib

# Enough to spread a burst of failures, little enough to stay predictable.
JITTER = 0.10


def backoff_seconds(retry: int, base_s: float, cap_s: float, *, job_id: int, attempt_no: int) -> float:
    """The wait before retry number `retry` (1 is the first): min(cap, base·2^(retry-1)), ±10 %.

    The jitter is a hash of (job, attempt): jobs that fail together spread out, and a test sees the same wait twice.
    """
    exponent = min(max(retry, 1) - 1, 62)
    seconds = min(cap_s, base_s * 2.0**exponent)
    digest = hashlib.blake2b(f"{job_id}/{attempt_no}".encode(), digest_size=8).digest()
    unit = int.from_bytes(digest, "big") / 2**64
    return seconds * (1 + JITTER * (2 * unit - 1))
