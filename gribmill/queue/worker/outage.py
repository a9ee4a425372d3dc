"""Lasting errors, logged when they begin, once a minute and when they are over; and outages of the store."""

from __future__ import annotations

import logging
import time

log = logging.getLogger("gribmill.worker")

TELL_EVERY_SECONDS = 60.0
STORE_RETRY_SECONDS = 1.0


class ThrottledLog:
    """Keeps an operation that is retried every second from flooding the log."""

    def __init__(self) -> None:
        self._began = 0.0
        self._tell_again: dict[str, float] = {}

    def tell(self, text: str, kind: str = "") -> None:
        """Report an error. Messages of one kind, such as those of a restarting server, count as one error."""
        now = time.monotonic()
        if not self._tell_again:
            self._began = now
        if now < self._tell_again.get(kind or text, 0.0):
            return
        log.error("%s", text)
        self._tell_again[kind or text] = now + TELL_EVERY_SECONDS

    def over(self, text: str) -> None:
        """Log that the error is over and how long it lasted, if there was one."""
        if self._tell_again:
            log.info("%s, after %.1f s", text, time.monotonic() - self._began)
            self._tell_again.clear()


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
