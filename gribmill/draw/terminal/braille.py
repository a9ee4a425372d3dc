"""Lines and bars made of characters: two by four dots each in braille, or eighths of a block."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gribmill.arrays import Floats

DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])  # by row from the top, then column
EIGHTHS = " ▁▂▃▄▅▆▇█"


def dots_of(x: Floats, y: Floats, columns: int, rows: int) -> NDArray[np.bool_]:
    """A line through points given as shares (0 to 1) of width and height; NaN leaves a gap."""
    wide, high = columns * 2, rows * 4
    grid = np.zeros((high, wide), dtype=bool)
    px, py = x * (wide - 1), y * (high - 1)
    for k in np.flatnonzero(np.isfinite(px) & np.isfinite(py)):
        joined = k + 1 < len(px) and np.isfinite(py[k + 1])
        end = k + 1 if joined else k
        steps = int(max(abs(px[end] - px[k]), abs(py[end] - py[k]))) + 1
        along = np.linspace(0, 1, steps + 1)
        column = np.rint(px[k] + (px[end] - px[k]) * along).astype(int).clip(0, wide - 1)
        row = np.rint(py[k] + (py[end] - py[k]) * along).astype(int).clip(0, high - 1)
        grid[high - 1 - row, column] = True
    return grid


def braille(dots: NDArray[np.bool_]) -> list[str]:
    """Rows of characters from a raster of dots, top row first; blank where there is no dot."""
    rows, columns = dots.shape[0] // 4, dots.shape[1] // 2
    cells = dots.reshape(rows, 4, columns, 2).transpose(0, 2, 1, 3)
    codes = (cells * DOTS).sum(axis=(2, 3))
    return ["".join(chr(0x2800 + code) if code else " " for code in row) for row in codes.tolist()]


def stars(dots: NDArray[np.bool_]) -> list[str]:
    """The same in plain ASCII: a star for each cell with a dot."""
    rows, columns = dots.shape[0] // 4, dots.shape[1] // 2
    cells = np.asarray(dots.reshape(rows, 4, columns, 2).any(axis=(1, 3)))
    return ["".join("*" if cell else " " for cell in row) for row in cells]


def bars(shares: Floats, rows: int, *, plain: bool = False) -> list[str]:
    """One bar per column, its height a share of `rows` characters; NaN is blank, a trace is the lowest eighth."""
    heights = np.where(shares > 0, np.maximum(np.nan_to_num(shares) * rows * 8, 1), 0)
    out = []
    for row in range(rows - 1, -1, -1):
        parts = np.rint(np.clip(heights - row * 8, 0, 8)).astype(int)
        out.append("".join(("#" if part else " ") if plain else EIGHTHS[part] for part in parts.tolist()))
    return out
