"""A grid in the keys of GRIB2's section 3, and values in the order that its scanning mode asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gribmill.regions.grids import Grid, LambertGrid, LatLonGrid, MercatorGrid, PolarStereographicGrid
from gribmill.regions.grids.earth import Earth
from gribmill.regions.grids.plane import PlaneGrid
from gribmill.sandbox.errors import SandboxError

FROM_SOUTH, BACK_AND_FORTH = 0x40, 0x10
WINDS_ALONG_GRID = 0x08
NCEP_RADIUS_M = 6_371_229


def grid_keys(grid: Grid, scanning: int | None, grid_relative: bool) -> dict[str, Any]:
    """The keys in the order in which they must be set; `scanning` None is the usual one."""
    mode = usual_scanning(grid) if scanning is None else scanning
    keys: dict[str, Any] = _latlon(grid, mode) if isinstance(grid, LatLonGrid) else _plane(grid)
    # 0x30: both increments are given.
    flags = 0x30 | (WINDS_ALONG_GRID if grid_relative else 0)
    return {**keys, "scanningMode": mode, "resolutionAndComponentFlags": flags}


def usual_scanning(grid: Grid) -> int:
    """From the north on lat-lon grids, from the south on maps."""
    return 0 if isinstance(grid, LatLonGrid) else FROM_SOUTH


def in_scanning_order(rows: NDArray[Any], mode: int) -> NDArray[Any]:
    """Rows from south to north, flat in the order of the mode."""
    ordered = rows if mode & FROM_SOUTH else rows[::-1]
    if mode & BACK_AND_FORTH:
        ordered = ordered.copy()
        ordered[1::2] = ordered[1::2, ::-1]
    return np.ascontiguousarray(ordered).reshape(-1)


def thinned(grid: Grid, step: int) -> Grid:
    """Every so-manieth point of the grid: the same map and the same first corner."""
    ny, nx = grid.shape
    if step == 1:
        return grid
    if grid.wraps and nx % step:
        raise SandboxError(f"a grid of {nx} columns round the globe cannot be thinned by {step}: take a divisor")
    rows, columns = (ny - 1) // step + 1, nx // step if grid.wraps else (nx - 1) // step + 1
    if min(rows, columns) < 2:
        raise SandboxError(f"a grid of {nx}×{ny} points thinned by {step} is none any more")
    kind: Any = type(grid)
    spec = grid.spec() | {"nx": columns, "ny": rows}
    spec |= {name: spec[name] * step for name in ("dx", "dy", "dlon", "dlat") if name in spec}
    spec.pop("kind")
    thin: Grid = kind(**spec | {"earth": Earth(*spec["earth"])})
    return thin


def _plane(grid: Grid) -> dict[str, Any]:
    if not isinstance(grid, PlaneGrid):
        raise SandboxError(f"files on a {grid.spec()['kind']} grid cannot be made")
    lat, lon = grid.latlon(0, 0)
    keys: dict[str, Any] = {
        "latitudeOfFirstGridPointInDegrees": round(float(lat), 6),
        "longitudeOfFirstGridPointInDegrees": round(float(lon) % 360, 6),
    }
    size = {"Nx": grid.nx, "Ny": grid.ny, **_earth(grid.earth)}
    steps = {"DxInMetres": grid.dx, "DyInMetres": grid.dy}
    if isinstance(grid, LambertGrid):
        parallels = {"LaDInDegrees": grid.lad, "Latin1InDegrees": grid.latin1, "Latin2InDegrees": grid.latin2}
        return {"gridType": "lambert", **size, **keys, "LoVInDegrees": grid.lov % 360, **parallels, **steps}
    if isinstance(grid, PolarStereographicGrid):
        up = {"orientationOfTheGridInDegrees": grid.lov % 360, "LaDInDegrees": grid.lad}
        return {"gridType": "polar_stereographic", **size, **keys, **up, **steps}
    if isinstance(grid, MercatorGrid):
        return {"gridType": "mercator", **_mercator(grid, keys)}
    raise SandboxError(f"files on a {grid.spec()['kind']} grid cannot be made")


def _mercator(grid: MercatorGrid, keys: dict[str, Any]) -> dict[str, Any]:
    lat, lon = grid.latlon(grid.ny - 1, grid.nx - 1)
    last = {
        "latitudeOfLastGridPointInDegrees": round(float(lat), 6),
        "longitudeOfLastGridPointInDegrees": round(float(lon) % 360, 6),
    }
    steps = {"LaDInDegrees": grid.lad, "DiInMetres": grid.dx, "DjInMetres": grid.dy}
    return {"Ni": grid.nx, "Nj": grid.ny, **_earth(grid.earth), **keys, **last, **steps}


def _latlon(grid: LatLonGrid, mode: int) -> dict[str, Any]:
    south, north = grid.south, grid.south + (grid.ny - 1) * grid.dlat
    first, last = (south, north) if mode & FROM_SOUTH else (north, south)
    return {
        "gridType": "regular_ll",
        "Ni": grid.nx,
        "Nj": grid.ny,
        **_earth(grid.earth),
        "latitudeOfFirstGridPointInDegrees": first,
        "latitudeOfLastGridPointInDegrees": last,
        "longitudeOfFirstGridPointInDegrees": grid.west % 360,
        "longitudeOfLastGridPointInDegrees": (grid.west + (grid.nx - 1) * grid.dlon) % 360,
        "iDirectionIncrementInDegrees": grid.dlon,
        "jDirectionIncrementInDegrees": grid.dlat,
    }


def _earth(earth: Earth) -> dict[str, int]:
    if earth.a == earth.b == NCEP_RADIUS_M:
        return {"shapeOfTheEarth": 6}
    if not earth.is_sphere:
        raise SandboxError("files on an ellipsoid cannot be made")
    return {
        "shapeOfTheEarth": 1,
        "scaleFactorOfRadiusOfSphericalEarth": 0,
        "scaledValueOfRadiusOfSphericalEarth": round(earth.a),
    }
