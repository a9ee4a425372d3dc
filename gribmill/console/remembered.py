"""Caches a value that is expensive to read and may be some seconds old, for all open pages."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

log = logging.getLogger("gribmill.console")

T = TypeVar("T")


class Remembered(Generic[T]):
    """Refreshes a value older than `seconds`; meanwhile, callers get the previous value unless it is too old."""

    def __init__(self, seconds: float, read: Callable[[], T], oldest_seconds: float = 30.0) -> None:
        self._seconds = seconds
        self._oldest_seconds = oldest_seconds
        self._read = read
        self._lock = threading.Lock()
        self._value: tuple[float, T] | None = None
        self._reading: threading.Thread | None = None

    def get(self) -> T:
        """The cached value. Waits only if there is none, or it is too old."""
        known = self._value
        age = None if known is None else time.monotonic() - known[0]
        if known is None or age is None or age >= self._oldest_seconds:
            return self._refresh()
        if age >= self._seconds:
            self._refresh_beside()
        return known[1]

    def forget(self) -> None:
        """Invalidate the value after a change."""
        with self._lock:
            self._value = None

    def _refresh(self) -> T:
        asked = time.monotonic()
        with self._lock:
            if self._value is None or self._value[0] < asked:
                began = time.monotonic()
                self._value = (began, self._read())
            return self._value[1]

    def _refresh_beside(self) -> None:
        if self._reading is None or not self._reading.is_alive():
            self._reading = threading.Thread(target=self._try, name="console-refresh", daemon=True)
            self._reading.start()

    def _try(self) -> None:
        try:
            self._refresh()
        except Exception:  # the next caller without a usable value gets the error
            log.warning("cannot refresh the overview", exc_info=True)
