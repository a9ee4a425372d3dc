"""An error that lasts: logged when it begins, then once a minute, and when it is over."""

from __future__ import annotations

import logging
import time

log = logging.getLogger("gribmill.worker")

TELL_EVERY_SECONDS = 60.0


class ThrottledLog:
    """What is tried every second must not fill the log of a night."""

    def __init__(self) -> None:
        self._told = ""
        self._tell_again = 0.0

    def tell(self, text: str) -> None:
        now = time.monotonic()
        if text == self._told and now < self._tell_again:
            return
        log.error("%s", text)
        self._told, self._tell_again = text, now + TELL_EVERY_SECONDS

    def over(self, text: str) -> None:
        """Say so, if there was anything to complain of."""
        if self._told:
            log.info("%s", text)
            self._told = ""
