"""A value that is costly to read and may be some seconds old: all open pages share it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Remembered(Generic[T]):
    """Read at most once in `seconds`; whoever asks meanwhile waits for the same reading."""

    def __init__(self, seconds: float, read: Callable[[], T]) -> None:
        self._seconds = seconds
        self._read = read
        self._lock = threading.Lock()
        self._value: tuple[float, T] | None = None

    def get(self) -> T:
        with self._lock:
            now = time.monotonic()
            if self._value is None or now - self._value[0] >= self._seconds:
                value = self._read()
                self._value = (time.monotonic(), value)
            return self._value[1]

    def forget(self) -> None:
        """After a change: the next one reads again."""
        with self._lock:
            self._value = None
