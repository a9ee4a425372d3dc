"""Measures contenders in turn, so that all run under the same conditions."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from operator import truediv

# Much longer than the resolution of the CPU clock: a faster contender runs several times per round.
LEAST_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Figures:
    """CPU time and output size of one contender."""

    cpu_s: float  # median over the rounds
    ratio: float  # median of the ratios to the base, each within one round
    size: int  # bytes that it returned


def compare(
    contenders: dict[str, Callable[[], int]], base: str, rounds: int, least_seconds: float = 0.0
) -> dict[str, Figures]:
    """Run all contenders in turn, for at least `rounds` rounds and `seconds` seconds.

    A contender returns the number of bytes that it made. CPU is user + system time of this process.
    """
    cpu: dict[str, list[float]] = {name: [] for name in contenders}
    sizes: dict[str, int] = {}
    end = time.monotonic() + least_seconds
    while len(cpu[base]) < rounds or time.monotonic() < end:
        for name, run in contenders.items():
            sizes[name], spent = _timed(run)
            cpu[name].append(spent)
    return {
        name: Figures(statistics.median(cpu[name]), statistics.median(map(truediv, cpu[name], cpu[base])), sizes[name])
        for name in contenders
    }


def _timed(run: Callable[[], int]) -> tuple[int, float]:
    start, count, spent = time.process_time(), 0, 0.0
    while spent < LEAST_SECONDS:
        size = run()
        count += 1
        spent = time.process_time() - start
    return size, spent / count
