"""Grid sections whose last point, increment and number of points contradict each other."""

from __future__ import annotations

from gribmill.grib.errors import GribError

# How far the last point may be beside a point of the grid that first point and increment give, in cells.
ON_THE_GRID = 0.02
SETTLED = (
    "The source's last {name} ({last:g}°) is {cells} {unit} away from where its first one ({first:g}°), its increment "
    "({increment:g}°) and its {points} points put it ({true:g}°); first point and increment were taken."
)


def settled_span(
    name: str, points: int, span: float, increment: float | None, precision: float, first: float, direction: int
) -> tuple[float, str | None]:
    """Degrees from the first to the last point, and a note where the stated last point is not one of them.

    Increments are rounded to the precision of the message, so that the span is truer. But a span that differs by whole
    cells is that of another grid: subsets are made without changing it. GribError where neither explains it.
    """
    if increment is None or points < 2:
        return span, None
    if increment <= 0:
        raise GribError(f"its {name} increment is {increment:g}°")
    true, step = increment * (points - 1), span / (points - 1)
    off = abs(span - true)
    if off <= 4 * precision:
        return span, None
    cells = round(off / increment)
    rounded = abs(step - increment) <= precision and not _divides_circle(increment)
    if cells >= 1 and abs(off - cells * increment) <= ON_THE_GRID * increment and not rounded:
        unit = "cell" if cells == 1 else "cells"
        last, end = first + direction * span, first + direction * true
        note = SETTLED.format(
            name=name, last=last, cells=cells, unit=unit, first=first, increment=increment, points=points, true=end
        )
        return true, note
    # Rounded increments may be off by a cell over a whole row, and by more where the message is precise to 0.001°.
    if abs(step - increment) <= precision or off <= max(step, increment):
        return span, None
    raise GribError(f"its {name} increment is {increment:g}°, but first and last points give {step:g}°")


def _divides_circle(increment: float) -> bool:
    """True for increments such as 0.25°, which are exact; 0.333° is a third of a degree, rounded."""
    parts = 360.0 / increment
    return abs(parts - round(parts)) < 1e-6 * parts
