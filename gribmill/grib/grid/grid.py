"""Converts a message's grid section to a grid of `gribmill.regions.grids`."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from gribmill.grib.errors import GribError
from gribmill.grib.grid.grid_section import ANGULAR, BIPOLAR, SOUTH_POLE, GridFacts, grid_facts, unsupported_grid
from gribmill.grib.grid.rows import I_NEGATIVE, J_POSITIVE, ReducedRows, ScanLayout, layout1, layout2, reduced_rows
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
from gribmill.regions.grids.columns import eastward_step
from gribmill.regions.grids.gaussian import MOST_PARALLELS, gaussian_latitudes

# Tolerance, in cells, between the last point and the nearest point of the grid given by first point and increment.
ON_THE_GRID = 0.02
# Increments may be rounded more coarsely than the message requires: in GRIB2 that was converted from GRIB1, to 0.001°.
ROUNDED_TO = 1e-3
SETTLED = (
    "The source's last {name} ({last:g}°) is {cells} {unit} away from where its first one ({first:g}°), its increment "
    "({increment:g}°) and its {points} points put it ({true:g}°); first point and increment were taken."
)


def settled_span(
    name: str, points: int, span: float, increment: float | None, precision: float, first: float, direction: int
) -> tuple[float, str | None]:
    """Degrees from the first to the last point, and a note if the stated last point contradicts the increment.

    Increments are rounded to the precision of the message, so the span is more accurate. But a span that differs by
    whole cells belongs to another grid: some subsets keep the original span. Raises GribError if neither explains it.
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
    # Rounded increments may add up to a cell over a whole row, and to more if the message is precise only to 0.001°.
    if abs(step - increment) <= precision or (off <= max(step, increment) and abs(step - increment) <= ROUNDED_TO):
        return span, None
    raise GribError(f"its {name} increment is {increment:g}°, but first and last points give {step:g}°")


def _divides_circle(increment: float) -> bool:
    """True for exact increments such as 0.25°; false for 0.333°, a rounded third of a degree."""
    parts = 360.0 / increment
    return abs(parts - round(parts)) < 1e-6 * parts


REDUCED = (
    "The source's grid is reduced Gaussian (n = {n}, rows of {least} to {most} points): each value is that of the "
    "nearest point of its row."
)
GAUSSIAN = (
    "The source's last latitude ({last:g}°) contradicts its first one ({first:g}°) and its {rows} rows; the first one "
    "was taken."
)


def grid_from_section(edition: int, section: bytes) -> Grid:
    """The grid in normal order (row 0 south, column 0 west). Raises GribError if it is invalid or not supported."""
    return _described_grid(edition, section)[0]


def grid_notes(edition: int, section: bytes) -> tuple[str, ...]:
    """Notes on the grid, if it is reduced or if its section contradicts itself."""
    return _described_grid(edition, section)[1]


# Cached: every message of a file repeats the same section.
@lru_cache(maxsize=64)
def _described_grid(edition: int, section: bytes) -> tuple[Grid, tuple[str, ...]]:
    if not section:
        raise GribError("it does not describe its grid")
    reduced = reduced_rows(edition, section)
    layout = layout1(section) if edition == 1 else layout2(section)
    if layout is None and reduced is None:
        raise unsupported_grid(edition, section)
    facts = grid_facts(edition, section)
    try:
        if reduced is not None:
            return _reduced(facts, reduced)
        assert layout is not None
        values: dict[str, Any] = {"nx": layout.nx, "ny": layout.ny, "earth": Earth(*facts.earth)}
        if facts.kind in ANGULAR:
            return _angular(facts, layout, values)
        return _projected(facts, layout, values), ()
    except RegionError as error:
        raise GribError(f"its grid is not valid: {error}") from None


def _angular(facts: GridFacts, layout: ScanLayout, values: dict[str, Any]) -> tuple[Grid, tuple[str, ...]]:
    box = _bounds(layout, facts.first, facts.last)
    west_first, south_first = not layout.scanning & I_NEGATIVE, bool(layout.scanning & J_POSITIVE)
    turn = (box["east"] - box["west"]) % 360 or 360.0
    along = 1 if west_first else -1
    span, note = settled_span(
        "longitude", layout.nx, turn, facts.di, facts.precision, first=facts.first[1], direction=along
    )
    if note:
        box["west" if not west_first else "east"] = facts.first[1] + along * span
    notes = [note] if note else []
    if facts.kind == "Gaussian":
        first_row, note = _gaussian_rows(facts, layout.ny, south_first)
        notes += [note] if note else []
        step = eastward_step(box["west"], box["east"], layout.nx)
        grid = GaussianGrid(n=facts.parallels, first_row=first_row, west=box["west"], dlon=step, **values)
        return grid, tuple(notes)
    up = 1 if south_first else -1
    height = box["north"] - box["south"]
    span, note = settled_span("latitude", layout.ny, height, facts.dj, facts.precision, facts.first[0], up)
    if note:
        box["north" if south_first else "south"] = facts.first[0] + up * span
        notes.append(note)
    if facts.kind == "lat-lon":
        return LatLonGrid.spanning(**values, **box), tuple(notes)
    pole_lat, pole_lon, angle = facts.pole
    rotated = RotatedLatLonGrid.spanning(pole_lat=pole_lat, pole_lon=pole_lon, angle=angle, **values, **box)
    return rotated, tuple(notes)


def _reduced(facts: GridFacts, rows: ReducedRows) -> tuple[Grid, tuple[str, ...]]:
    ny, nx = rows.shape
    west, east = facts.first[1], facts.last[1]
    # Within a cell: some encoders write the last longitude of the longest row, others that of a row of 4 N points.
    if abs((east - west) % 360.0 - 360.0 * (nx - 1) / nx) > 360.0 / nx:
        raise GribError(f"a reduced Gaussian grid of a part of the globe is not supported ({west:g} to {east:g}°)")
    first_row, note = _gaussian_rows(facts, ny, rows.south_first)
    earth = Earth(*facts.earth)
    grid = GaussianGrid(n=facts.parallels, first_row=first_row, ny=ny, nx=nx, west=west, dlon=360.0 / nx, earth=earth)
    about = REDUCED.format(n=facts.parallels, least=min(rows.counts), most=nx)
    return grid, (about, note) if note else (about,)


def _gaussian_rows(facts: GridFacts, ny: int, south_first: bool) -> tuple[int, str | None]:
    """The number of the southernmost row, from the south pole. If first and last point disagree, the first is used."""
    if not 1 <= facts.parallels <= MOST_PARALLELS:
        raise GribError(f"a Gaussian grid cannot have {facts.parallels} parallels")
    latitudes = gaussian_latitudes(facts.parallels)
    first, last = (int(abs(latitudes - latitude).argmin()) for latitude in (facts.first[0], facts.last[0]))
    true_last = first + (ny - 1) * (1 if south_first else -1)
    note = None
    if true_last != last:
        note = GAUSSIAN.format(last=facts.last[0], first=facts.first[0], rows=ny)
    return min(first, true_last), note


def _projected(facts: GridFacts, layout: ScanLayout, values: dict[str, Any]) -> Grid:
    lat, lon = facts.first
    values |= {"lat": lat, "lon": lon, "corner": _first_corner(layout)}
    values |= {"dx": facts.dx, "dy": facts.dy, "lad": facts.lad}
    if facts.kind == "Mercator":
        return _mercator(facts, layout, MercatorGrid.at_corner(**values))
    if facts.kind == "polar stereographic":
        south_pole = bool(facts.centre & SOUTH_POLE)
        return PolarStereographicGrid.at_corner(**values, lov=facts.lov, south_pole=south_pole)
    if facts.centre & BIPOLAR:
        raise GribError("a bipolar Lambert grid is not supported")
    return LambertGrid.at_corner(**values, lov=facts.lov, latin1=facts.latin1, latin2=facts.latin2)


def _mercator(facts: GridFacts, layout: ScanLayout, upright: MercatorGrid) -> MercatorGrid:
    """The upright grid, if it ends at the stated last point: NBM states the middle meridian as its orientation."""
    if facts.orientation:
        row, column = upright.index(*facts.last)
        last_row = upright.ny - 1 if layout.scanning & J_POSITIVE else 0
        last_column = 0 if layout.scanning & I_NEGATIVE else upright.nx - 1
        # Not `> 0.5`: the index of a point outside the projection is NaN.
        if not (abs(row - last_row) <= 0.5 and abs(column - last_column) <= 0.5):
            raise GribError("a rotated Mercator grid is not supported")
    return upright


def _first_corner(layout: ScanLayout) -> Corner:
    """The corner of the grid that the first point is in."""
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
