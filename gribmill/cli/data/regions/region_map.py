"""A small map of a box in the terminal: coasts and borders in braille, with the box on top."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, radians
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gribmill.cli.output import styled
from gribmill.draw.map.coastlines import DETAILED_BELOW_DEG, coastlines_for
from gribmill.draw.terminal.braille import braille, stars
from gribmill.regions.box import Box, wrap_longitude

if TYPE_CHECKING:
    from rich.text import Text

Dots = npt.NDArray[np.bool_]
Polyline = npt.NDArray[np.float64]

_MARGIN = 0.35
_LEAST_SPAN_DEG = 3.0
_MOST_ROWS = 20
# Limits the aspect ratio: near a pole, the true one would make the map a ribbon.
_LEAST_COSINE = 0.3


@dataclass(frozen=True, slots=True)
class MapFrame:
    """The area of the map in degrees, with longitudes relative to its middle, and its size in characters."""

    middle: float
    half_width: float
    south: float
    north: float
    columns: int
    rows: int

    @classmethod
    def around(cls, box: Box, most_columns: int) -> MapFrame:
        """The box and its surroundings without much distortion, in at most `most_columns` columns."""
        lat, middle = box.centre
        half_height = max(box.height * (0.5 + _MARGIN), _LEAST_SPAN_DEG / 2)
        half_width = min(180.0, max(box.width * (0.5 + _MARGIN), _LEAST_SPAN_DEG / 2))
        south, north = max(-90.0, lat - half_height), min(90.0, lat + half_height)
        squeeze = max(_LEAST_COSINE, cos(radians(lat)))
        # A character is twice as high as it is wide.
        rows_per_column = (north - south) / (2 * half_width * squeeze) / 2
        columns = int(max(20, min(most_columns, _MOST_ROWS / rows_per_column)))
        rows = int(max(5, min(_MOST_ROWS, round(columns * rows_per_column))))
        return cls(middle, half_width, south, north, columns, rows)

    def dots(self, line: Polyline) -> Dots:
        """Dots along a line of (longitude, latitude) points. NaN and the far side of the map interrupt the line."""
        wide, high = self.columns * 2, self.rows * 4
        east = wrap_longitude(line[:, 0] - self.middle)
        x = (east / self.half_width + 1) / 2 * (wide - 1)
        y = (self.north - line[:, 1]) / (self.north - self.south) * (high - 1)
        reach = np.maximum(np.abs(np.diff(x)), np.abs(np.diff(y)))
        inside = (x > -wide) & (x < 2 * wide) & (y > -high) & (y < 2 * high)
        joined = np.flatnonzero(inside[:-1] & inside[1:] & (np.abs(np.diff(east)) < 180))
        steps = np.ceil(reach[joined]).astype(int) + 1
        start = np.repeat(joined, steps)
        along = (np.arange(steps.sum()) - np.repeat(np.cumsum(steps) - steps, steps)) / np.repeat(steps, steps)
        column = np.rint(x[start] + (x[start + 1] - x[start]) * along).astype(int)
        row = np.rint(y[start] + (y[start + 1] - y[start]) * along).astype(int)
        shown = (column >= 0) & (column < wide) & (row >= 0) & (row < high)
        dots = np.zeros((high, wide), dtype=np.bool_)
        dots[row[shown], column[shown]] = True
        return dots


def region_map(box: Box, most_columns: int, outline: Polyline | None = None, *, plain: bool = False) -> list[Text]:
    """The lines of a map with the box, and with the outline of a model's window if one is given."""
    frame = MapFrame.around(box, most_columns)
    # Braille dots are too coarse for the detailed lines.
    lines = coastlines_for(max(2 * frame.half_width, DETAILED_BELOW_DEG))
    land = frame.dots(lines.land) | frame.dots(lines.borders)
    if frame.half_width < 40:
        land |= frame.dots(lines.states)
    edge = frame.dots(_edge(box))
    window = frame.dots(outline) if outline is not None else np.zeros_like(edge)
    # A character has only one colour, so it shows only the dots of the topmost layer.
    edge_cells, window_cells = _cells(edge), _cells(window)
    land &= ~_spread(edge_cells | window_cells)
    window &= ~_spread(edge_cells)
    rows = (stars if plain else braille)(land | edge | window)
    drawn = []
    for row, characters in enumerate(rows):
        text = styled()
        for column, character in enumerate(characters):
            on_edge, on_window = edge_cells[row, column], window_cells[row, column]
            text.append(character, "bold yellow" if on_edge else "cyan" if on_window else "dim")
        drawn.append(text)
    return drawn


def _edge(box: Box) -> Polyline:
    """The box's edge, with a point at least every degree, so that no step wraps around the far side of the map."""
    across = np.linspace(0, box.width, int(box.width) + 2)
    up = np.linspace(box.south, box.north, int(box.height) + 2)
    # On a map of the whole globe, the east edge must not coincide with the west edge.
    lon = box.west + np.clip(across, 1e-6, box.width - 1e-6)
    gap = [[np.nan, np.nan]]
    sides = [] if box.all_longitudes else [np.stack([np.full_like(up, end), up], axis=1) for end in (lon[0], lon[-1])]
    parallels = [np.stack([lon, np.full_like(lon, lat)], axis=1) for lat in (box.south, box.north)]
    return np.concatenate([part for line in (*parallels, *sides) for part in (line, gap)])


def _cells(dots: Dots) -> Dots:
    rows, columns = dots.shape[0] // 4, dots.shape[1] // 2
    return np.asarray(dots.reshape(rows, 4, columns, 2).any(axis=(1, 3)))


def _spread(cells: Dots) -> Dots:
    return np.repeat(np.repeat(cells, 4, axis=0), 2, axis=1)
