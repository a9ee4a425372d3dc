"""A clock set by the test."""

from __future__ import annotations

START = 1_800_000_000.0


class FakeClock:
    """A clock in whole milliseconds, the database's resolution."""

    def __init__(self, start: float = START) -> None:
        self._milliseconds = round(start * 1000)

    def __call__(self) -> float:
        return self._milliseconds / 1000

    def advance(self, seconds: float) -> None:
        self._milliseconds += round(seconds * 1000)
