"""First and last points of a grid's rows and columns, put in order."""

from __future__ import annotations

from typing import Any

from gribmill.regions.grids import Corner
from gribmill.tiles.grib.error import GribError
from gribmill.tiles.grib.layout import I_NEGATIVE, J_POSITIVE, Layout


def first_corner(layout: Layout) -> Corner:
    """Which corner of the grid its first point is."""
    if layout.scanning & J_POSITIVE:
        return "se" if layout.scanning & I_NEGATIVE else "sw"
    return "ne" if layout.scanning & I_NEGATIVE else "nw"


def bounds(layout: Layout, first: tuple[float, float], last: tuple[float, float]) -> dict[str, Any]:
    """South, north, west and east from the (lat, lon) of the first and last points."""
    south, north = (first[0], last[0]) if layout.scanning & J_POSITIVE else (last[0], first[0])
    west, east = (last[1], first[1]) if layout.scanning & I_NEGATIVE else (first[1], last[1])
    if layout.ny > 1 and south >= north:
        direction = "north" if layout.scanning & J_POSITIVE else "south"
        raise GribError(f"it says its rows run {direction}, but from latitude {first[0]:g} to {last[0]:g}")
    return {"south": south, "north": north, "west": west, "east": east}


def check_increment(name: str, points: int, span: float, increment: float | None) -> None:
    """Raise GribError when first, last and increment tell different stories."""
    if increment is None or points < 2:
        return
    step = span / (points - 1)
    # Increments are rounded to what the message can hold: over a whole row they may be off by a cell.
    if abs(step - increment) * (points - 1) > max(step, increment):
        raise GribError(f"its {name} increment is {increment:g}°, but first and last points give {step:g}°")
