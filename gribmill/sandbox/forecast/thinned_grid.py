"""A grid with fewer points, for quick demos."""

from __future__ import annotations

from typing import Any

from gribmill.regions.grids import Grid
from gribmill.regions.grids.grid import Earth
from gribmill.sandbox.errors import SandboxError


def thinned(grid: Grid, step: int) -> Grid:
    """A grid with every `step`-th point, with the same projection and first corner."""
    ny, nx = grid.shape
    if step == 1:
        return grid
    if grid.wraps and nx % step:
        raise SandboxError(f"a global grid of {nx} columns cannot be thinned by {step}; use a divisor of {nx}")
    rows, columns = (ny - 1) // step + 1, nx // step if grid.wraps else (nx - 1) // step + 1
    if min(rows, columns) < 2:
        raise SandboxError(f"a grid of {nx}×{ny} points is too small to be thinned by {step}")
    kind: Any = type(grid)
    spec = grid.spec() | {"nx": columns, "ny": rows}
    spec |= {name: spec[name] * step for name in ("dx", "dy", "dlon", "dlat") if name in spec}
    spec.pop("kind")
    thin: Grid = kind(**spec | {"earth": Earth(*spec["earth"])})
    return thin
