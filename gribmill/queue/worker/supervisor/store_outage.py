"""An outage of the store: retried every second, logged when it begins and when it ends."""

from __future__ import annotations

import time

from gribmill.queue.worker.throttled_log import ThrottledLog

STORE_RETRY_SECONDS = 1.0


class StoreOutage:
    """When a worker may use the store again after a failure."""

    def __init__(self) -> None:
        self.back_at = 0.0
        self._log = ThrottledLog()

    @property
    def lasts(self) -> bool:
        return time.monotonic() < self.back_at

    def failed(self, error: Exception) -> None:
        self._log.tell(f"{error}; trying again every {STORE_RETRY_SECONDS:g} s", type(error).__name__)
        self.back_at = time.monotonic() + STORE_RETRY_SECONDS

    def try_now(self) -> None:
        """Retry immediately, because the worker is about to stop."""
        self.back_at = 0.0

    def over(self) -> None:
        self._log.over("the queue can be written again")
