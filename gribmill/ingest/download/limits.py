"""What a download may cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Beyond these, something is wrong: a GFS hour has 540 MB in 743 messages.

    A file of this machine may hold years, and is walked without a request for each message.
    """

    spool_bytes: int = 4 * 2**30
    whole_bytes: int = 4 * 2**30
    index_bytes: int = 32_000_000
    walked_messages: int = 3_000
    local_messages: int = 200_000
    seconds: float = 1_500.0
    connections: int = 8
    retry_pause_seconds: float = 0.25
