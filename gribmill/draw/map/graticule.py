"""Parallels and meridians of a map, labelled at the frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gribmill.arrays import Floats
from gribmill.draw.map.plane import Plane

Edge = Literal["left", "bottom", "inside"]
INTERVALS_DEG = (0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 15, 20, 30, 45, 60)
LINES_ACROSS = 7
SAMPLES = 400  # points along each line: smooth on a map as wide as a page
LAST_PARALLEL_DEG = 85.0  # meridians end here where the pole is on the map, and do not crowd it


@dataclass(frozen=True, slots=True)
class Label:
    """A text on an edge of the frame (or inside it), at column x and row y."""

    text: str
    edge: Edge
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Graticule:
    """Lines as (column, row) with NaN between, and their labels."""

    lines: Floats
    labels: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class Extent:
    """The degrees that a map covers; longitudes from `west` to `east` are continuous and may exceed 180."""

    south: float
    north: float
    west: float
    east: float


def extent_of(plane: Plane) -> Extent:
    """The extent of the frame, including poles inside it."""
    ny, nx = plane.shape
    rows, columns = np.meshgrid(np.linspace(-0.5, ny - 0.5, 41), np.linspace(-0.5, nx - 0.5, 41), indexing="ij")
    lat, lon = (a.ravel() for a in plane.locate(rows.ravel(), columns.ravel()))
    middle = float(plane.locate(np.array([ny / 2]), np.array([nx / 2]))[1][0])
    around = (lon - middle + 180) % 360 - 180
    south, north = float(np.nanmin(lat)), float(np.nanmax(lat))
    poles = [pole for pole in (-90.0, 90.0) if _inside(plane, pole)]
    if poles and np.isinf(plane.seam_columns):
        return Extent(min([south, *poles]), max([north, *poles]), middle - 180, middle + 180)
    if np.isfinite(plane.seam_columns) and nx > 1.9 * plane.seam_columns:
        return Extent(south, north, middle - 180, middle + 180)
    return Extent(south, north, middle + float(np.nanmin(around)), middle + float(np.nanmax(around)))


def graticule(plane: Plane, box: Extent | None = None) -> Graticule:
    """About half a dozen lines each way at round degrees, labelled at the frame or at the edges of a box."""
    extent, ny_nx = box or extent_of(plane), plane.shape
    circle = extent.east - extent.west > 359 and np.isinf(plane.seam_columns)
    lines, labels = [], []
    for lat in _rounds(extent.south, extent.north):
        if abs(lat) > 89.9:
            continue
        points = np.column_stack([np.linspace(extent.west, extent.east, SAMPLES), np.full(SAMPLES, lat)])
        placed = plane.lines(points)
        lines.append(placed)
        at_box = _at(plane, lat, box.west, "left", latitude_text(lat)) if box else None
        labels.append(at_box or _label(placed, ny_nx, "left", latitude_text(lat)))
    far = LAST_PARALLEL_DEG if circle else 90.0
    for lon in _rounds(extent.west, extent.east):
        if lon >= extent.west + 360 - 1e-6:
            continue
        lats = np.linspace(max(extent.south - 1, -far), min(extent.north + 1, far), SAMPLES)
        placed = plane.lines(np.column_stack([np.full(SAMPLES, lon), lats]))
        lines.append(placed)
        at_box = _at(plane, box.south, lon, "bottom", longitude_text(lon)) if box else None
        labels.append(at_box or _label(placed, ny_nx, "bottom", longitude_text(lon)))
    gap = np.full((1, 2), np.nan)
    whole = np.concatenate([part for line in lines for part in (line, gap)]) if lines else gap
    return Graticule(whole, tuple(label for label in labels if label is not None))


def latitude_text(lat: float) -> str:
    return "0°" if abs(lat) < 1e-9 else f"{abs(lat):g}°{'N' if lat > 0 else 'S'}"


def longitude_text(lon: float) -> str:
    turned = (lon + 180) % 360 - 180
    if abs(turned) < 1e-9 or abs(turned + 180) < 1e-9:
        return f"{abs(turned):g}°"
    return f"{abs(round(turned, 6)):g}°{'E' if turned > 0 else 'W'}"


def _rounds(low: float, high: float) -> list[float]:
    span = high - low
    interval = next((step for step in INTERVALS_DEG if span / step <= LINES_ACROSS), INTERVALS_DEG[-1])
    first, last = np.ceil(low / interval - 1e-6), np.floor(high / interval + 1e-6)
    return [float(n * interval) for n in np.arange(first, last + 1)]


def _inside(plane: Plane, pole: float) -> bool:
    row, column = plane.project(np.array([pole]), np.array([0.0]))
    ny, nx = plane.shape
    return bool(-0.5 < row[0] < ny - 0.5 and -0.5 < column[0] < nx - 0.5)


def _at(plane: Plane, lat: float, lon: float, edge: Edge, text: str) -> Label:
    row, column = plane.project(np.array([lat]), np.array([lon]))
    return Label(text, edge, float(column[0]), float(row[0]))


def _label(line: Floats, shape: tuple[int, int], edge: Edge, text: str) -> Label | None:
    """The point where the line meets that edge of the frame; the middle of the line if it does not."""
    ny, nx = shape
    axis = 0 if edge == "left" else 1
    for at in (-0.5, 0.5):  # the second for lines that end at the frame, as round the whole globe
        for other in _crossings(line[:, axis], line[:, 1 - axis], at):
            if -0.5 <= other <= (ny, nx)[axis] - 0.5:
                return Label(text, edge, *((-0.5, other) if axis == 0 else (other, -0.5)))
    with np.errstate(invalid="ignore"):
        inside = np.flatnonzero((line[:, 0] > 0) & (line[:, 0] < nx - 1) & (line[:, 1] > 0) & (line[:, 1] < ny - 1))
    if not len(inside):
        return None
    x, y = line[inside[len(inside) // 2]]
    return Label(text, "inside", float(x), float(y))


def _crossings(along: Floats, across: Floats, at: float) -> list[float]:
    """The other coordinate at the point where a line crosses `at`."""
    with np.errstate(invalid="ignore"):
        before = np.flatnonzero((along[:-1] - at) * (along[1:] - at) <= 0)
    found = []
    for k in before:
        step = along[k + 1] - along[k]
        share = (at - along[k]) / step if step else 0.0
        found.append(float(across[k] + share * (across[k + 1] - across[k])))
    return found
