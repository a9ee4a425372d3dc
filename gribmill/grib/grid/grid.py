"""The grid that a message describes, as one of `gribmill.regions.grids`."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from gribmill.grib.errors import GribError
from gribmill.grib.grid.grid_section import ANGULAR, BIPOLAR, SOUTH_POLE, GridFacts, grid_facts, unsupported_grid
from gribmill.grib.grid.scan_order import I_NEGATIVE, J_POSITIVE, ScanLayout, layout1, layout2
from gribmill.regions.errors import RegionError
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


# Every message of a file repeats the same section: it is read once.
@lru_cache(maxsize=64)
def grid_from_section(edition: int, section: bytes) -> Grid:
    """The grid in normal order (row 0 south, column 0 west); GribError where it is invalid or not supported."""
    if not section:
        raise GribError("it does not describe its grid")
    layout = layout1(section) if edition == 1 else layout2(section)
    if layout is None:
        raise unsupported_grid(edition, section)
    facts = grid_facts(edition, section)
    values: dict[str, Any] = {"nx": layout.nx, "ny": layout.ny, "earth": Earth(*facts.earth)}
    try:
        return (_angular if facts.kind in ANGULAR else _projected)(facts, layout, values)
    except RegionError as error:
        raise GribError(f"its grid is not valid: {error}") from None


def _angular(facts: GridFacts, layout: ScanLayout, values: dict[str, Any]) -> Grid:
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


def _projected(facts: GridFacts, layout: ScanLayout, values: dict[str, Any]) -> Grid:
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


def _first_corner(layout: ScanLayout) -> Corner:
    """The corner of the grid where its first point is."""
    if layout.scanning & J_POSITIVE:
        return "se" if layout.scanning & I_NEGATIVE else "sw"
    return "ne" if layout.scanning & I_NEGATIVE else "nw"


def _bounds(layout: ScanLayout, first: tuple[float, float], last: tuple[float, float]) -> dict[str, Any]:
    """South, north, west and east from the (lat, lon) of the first and last points."""
    south, north = (first[0], last[0]) if layout.scanning & J_POSITIVE else (last[0], first[0])
    west, east = (last[1], first[1]) if layout.scanning & I_NEGATIVE else (first[1], last[1])
    if layout.ny > 1 and south >= north:
        direction = "north" if layout.scanning & J_POSITIVE else "south"
        raise GribError(f"its rows should run {direction}, but are from latitude {first[0]:g} to {last[0]:g}")
    return {"south": south, "north": north, "west": west, "east": east}


def _check_increment(name: str, points: int, span: float, increment: float | None) -> None:
    """Raise GribError when first point, last point and increment contradict each other."""
    if increment is None or points < 2:
        return
    step = span / (points - 1)
    # Increments are rounded to the precision of the message: over a whole row they may be off by a cell.
    if abs(step - increment) * (points - 1) > max(step, increment):
        raise GribError(f"its {name} increment is {increment:g}°, but first and last points give {step:g}°")
