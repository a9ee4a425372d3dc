"""Positions of the parts of a map on its page, in inches."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap

from gribmill.draw.map.plane import Plane

LONG_SIDE_IN, SHORT_SIDE_IN = 9.6, 1.6
LETTER_IN, FOOT_LINE_IN = 0.066, 0.15  # a letter and a line at the foot
FACTS_IN = 4.2  # the line with both extremes
LEGEND_LETTER_IN, LEGEND_LINE_IN = 0.078, 0.22


@dataclass(frozen=True, slots=True)
class MapLayout:
    """The map with its margins, and the side of the colour bar; a legend is always below."""

    width: float
    height: float
    bar_below: bool
    credits: tuple[str, ...] = ()
    legend_columns: int = 0
    legend_rows: int = 0
    left: float = 0.62
    right: float = 0.3

    @property
    def narrow(self) -> bool:
        """Too narrow for two texts in one line."""
        return self.width < 6.2

    @property
    def raised(self) -> int:
        """By how many lines the extremes stand above the foot: over the credits where both do not fit in one."""
        beside = len(self.credits) < 2 and len("".join(self.credits)) * LETTER_IN < self.width - FACTS_IN
        return 0 if beside and not self.narrow else max(len(self.credits), 1)

    @property
    def bottom(self) -> float:
        return 0.62 + FOOT_LINE_IN * max(self.raised - 1, 0)

    @property
    def top(self) -> float:
        return 1.36 if self.narrow else 0.82

    @property
    def size(self) -> tuple[float, float]:
        if self.legend_rows:
            beside, below = 0.0, 0.2 + LEGEND_LINE_IN * self.legend_rows
        else:
            beside, below = (0.0, 0.55) if self.bar_below else (0.85, 0.0)
        return self.left + self.width + self.right + beside, self.bottom + self.height + self.top + below

    def box(self, x: float, y: float, width: float, height: float) -> tuple[float, float, float, float]:
        """Converts inches from the map's lower left corner to fractions of the figure."""
        total_width, total_height = self.size
        below = self.size[1] - self.height - self.top
        return (self.left + x) / total_width, (below + y) / total_height, width / total_width, height / total_height


def layout_for(plane: Plane, attribution: str = "", legend: tuple[str, ...] = ()) -> MapLayout:
    """The map as large as the page allows, true to scale unless the tile is very narrow."""
    ny, nx = plane.shape
    ratio = ny * plane.aspect / nx
    if ratio <= 1:
        width, height = LONG_SIDE_IN, max(LONG_SIDE_IN * ratio, SHORT_SIDE_IN)
    else:
        width, height = max(LONG_SIDE_IN / ratio, 3.2), LONG_SIDE_IN
    credit = " · ".join(part for part in (attribution, "Natural Earth", "gribmill") if part)
    columns = 0
    if legend:
        longest = max(len(text) for text in legend) * LEGEND_LETTER_IN + 0.5
        columns = min(max(1, int(width / longest)), len(legend))
    rows = -(-len(legend) // columns) if columns else 0
    columns = -(-len(legend) // rows) if rows else 0  # rows of about the same length
    return MapLayout(width, height, ratio < 0.62, tuple(wrap(credit, int(width / LETTER_IN))), columns, rows)
