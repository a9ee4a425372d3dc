"""The positions of a grid's points, and the terrain there: real coasts, synthetic hills."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from gribmill.arrays import AnyFloats
from gribmill.draw.map.coastlines import is_land
from gribmill.regions.grids import Grid

# Land is looked up only at some points, because each takes ten microseconds, and copied to those in between.
LAND_POINTS = 100_000
HIGHEST_M = 2800.0


@dataclass(frozen=True, slots=True)
class Geography:
    """Radians of latitude and longitude; `land` is 0 or 1; `height` in metres; `turn_…` are of the grid's rotation."""

    lat: AnyFloats
    lon: AnyFloats
    land: AnyFloats
    height: AnyFloats
    turn_cosine: AnyFloats
    turn_sine: AnyFloats


# Small, because models are generated one at a time; the arrays of an HRRR grid take 46 MB.
@lru_cache(maxsize=2)
def geography(grid: Grid) -> Geography:
    """The geography of one grid in normal order: south to north, west to east."""
    ny, nx = grid.shape
    lat, lon = grid.latlon(np.arange(ny)[:, None], np.arange(nx)[None, :])
    step = max(1, round((ny * nx / LAND_POINTS) ** 0.5))
    seen = is_land(lat[::step, ::step], lon[::step, ::step])
    land = np.repeat(np.repeat(seen, step, axis=0), step, axis=1)[:ny, :nx].astype(np.float32)
    turn = grid.rotation(lat, lon).astype(np.float32)
    phi, lam = np.radians(lat).astype(np.float32), np.radians(lon).astype(np.float32)
    ridges = np.sin(7 * lam + 3 * phi) + 0.5 * np.sin(23 * lam - 17 * phi) + 0.3 * np.sin(61 * phi + 40 * lam)
    height = HIGHEST_M * np.clip(ridges / 1.8, 0, 1) ** 2 * land
    return Geography(phi, lam, land, height, np.cos(turn), np.sin(turn))
