"""Logs a lasting error when it begins, then once a minute, and when it is over."""

from __future__ import annotations

import logging
import time

log = logging.getLogger("gribmill.worker")

TELL_EVERY_SECONDS = 60.0


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
