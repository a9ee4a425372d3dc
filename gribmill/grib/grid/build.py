"""A grid of `gribmill.regions.grids` from what a message says about it."""

from __future__ import annotations

from typing import Any

from gribmill.grib.errors import GribError
from gribmill.grib.grid.scan_order import I_NEGATIVE, J_POSITIVE, Layout
from gribmill.grib.grid.section_facts import BIPOLAR, SOUTH_POLE, GridFacts
from gribmill.regions.grids import (
    Corner,
    Earth,
    GaussianGrid,
    Grid,
    LambertGrid,
    LatLonGrid,
    MercatorGrid,
    PolarStereographicGrid,
    RotatedLatLonGrid,
)


def make_grid(facts: GridFacts, layout: Layout) -> Grid:
    """The grid in normal order (row 0 south, column 0 west). GribError where the facts contradict each other."""
    values: dict[str, Any] = {"nx": layout.nx, "ny": layout.ny, "earth": Earth(*facts.earth)}
    if facts.kind in ("lat-lon", "rotated lat-lon", "Gaussian"):
        return _angular(facts, layout, values)
    return _projected(facts, layout, values)


def _angular(facts: GridFacts, layout: Layout, values: dict[str, Any]) -> Grid:
    box = _bounds(layout, facts.first, facts.last)
    _check_increment("longitude", layout.nx, (box["east"] - box["west"]) % 360 or 360.0, facts.di)
    if facts.kind == "Gaussian":
        del box["north"]
        return GaussianGrid.spanning(n=facts.parallels, **values, **box)
    _check_increment("latitude", layout.ny, box["north"] - box["south"], facts.dj)
    if facts.kind == "lat-lon":
        return LatLonGrid.spanning(**values, **box)
    pole_lat, pole_lon, angle = facts.pole
    return RotatedLatLonGrid.spanning(pole_lat=pole_lat, pole_lon=pole_lon, angle=angle, **values, **box)


def _projected(facts: GridFacts, layout: Layout, values: dict[str, Any]) -> Grid:
    lat, lon = facts.first
    values |= {"lat": lat, "lon": lon, "corner": _first_corner(layout)}
    values |= {"dx": facts.dx, "dy": facts.dy, "lad": facts.lad}
    if facts.kind == "Mercator":
        return MercatorGrid.at_corner(**values)
    if facts.kind == "polar stereographic":
        south_pole = bool(facts.centre & SOUTH_POLE)
        return PolarStereographicGrid.at_corner(**values, lov=facts.lov, south_pole=south_pole)
    if facts.centre & BIPOLAR:
        raise GribError("a bipolar Lambert grid is not supported")
    return LambertGrid.at_corner(**values, lov=facts.lov, latin1=facts.latin1, latin2=facts.latin2)


def _first_corner(layout: Layout) -> Corner:
    """Which corner of the grid its first point is."""
    if layout.scanning & J_POSITIVE:
        return "se" if layout.scanning & I_NEGATIVE else "sw"
    return "ne" if layout.scanning & I_NEGATIVE else "nw"


def _bounds(layout: Layout, first: tuple[float, float], last: tuple[float, float]) -> dict[str, Any]:
    """South, north, west and east from the (lat, lon) of the first and last points."""
    south, north = (first[0], last[0]) if layout.scanning & J_POSITIVE else (last[0], first[0])
    west, east = (last[1], first[1]) if layout.scanning & I_NEGATIVE else (first[1], last[1])
    if layout.ny > 1 and south >= north:
        direction = "north" if layout.scanning & J_POSITIVE else "south"
        raise GribError(f"it says its rows run {direction}, but from latitude {first[0]:g} to {last[0]:g}")
    return {"south": south, "north": north, "west": west, "east": east}


def _check_increment(name: str, points: int, span: float, increment: float | None) -> None:
    """Raise GribError when first, last and increment tell different stories."""
    if increment is None or points < 2:
        return
    step = span / (points - 1)
    # Increments are rounded to what the message can hold: over a whole row they may be off by a cell.
    if abs(step - increment) * (points - 1) > max(step, increment):
        raise GribError(f"its {name} increment is {increment:g}°, but first and last points give {step:g}°")
