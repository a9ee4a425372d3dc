"""Small charts as shapes in a 600 × 100 box; templates draw them as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 600.0
HEIGHT = 100.0
GAP = 1.5


@dataclass(frozen=True, slots=True)
class StackedBar:
    """One column: successes at the bottom, failures on top."""

    x: float
    width: float
    good_y: float
    good_height: float
    failed_y: float
    failed_height: float
    label: str


def stacked_bars(values: Sequence[tuple[int, int, str]]) -> tuple[list[StackedBar], int]:
    """A column for each (succeeded, failed, label), and the value at the top of the axis."""
    top = round_up(max((good + failed for good, failed, _ in values), default=0))
    step = WIDTH / max(1, len(values))
    bars = []
    for place, (good, failed, label) in enumerate(values):
        high, low = HEIGHT * good / top, HEIGHT * failed / top
        x = round(place * step + GAP / 2, 2)
        bars.append(
            StackedBar(
                x,
                round(step - GAP, 2),
                round(HEIGHT - high, 2),
                round(high, 2),
                round(HEIGHT - high - low, 2),
                round(low, 2),
                label,
            )
        )
    return bars, int(top)


def lines(values: Sequence[float | None], top: float) -> list[str]:
    """The points of a `polyline`, with gaps where a value is missing."""
    step = WIDTH / max(1, len(values))
    parts: list[list[str]] = [[]]
    for place, value in enumerate(values):
        if value is None:
            parts.append([])
            continue
        x, y = (place + 0.5) * step, HEIGHT - HEIGHT * min(value, top) / top
        # A single point would not be drawn, so each is a short line.
        parts[-1] += [f"{x - step / 3:.1f},{y:.1f}", f"{x + step / 3:.1f},{y:.1f}"]
    return [" ".join(part) for part in parts if part]


def round_up(value: float) -> float:
    """Round up to 1, 2, 5, 10, 20 …, so that the axis does not change with every refresh."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= value)
