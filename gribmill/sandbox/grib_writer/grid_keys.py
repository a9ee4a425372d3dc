"""Describes a grid with ecCodes keys of GRIB2's section 3."""

from __future__ import annotations

from typing import Any

from gribmill.regions.grids import Grid, LambertGrid, LatLonGrid, MercatorGrid, PolarStereographicGrid
from gribmill.regions.grids.grid import Earth
from gribmill.regions.grids.plane import PlaneGrid
from gribmill.sandbox.errors import SandboxError
from gribmill.sandbox.grib_writer.scan_order import FROM_SOUTH

# Flag table 3.3: both increments are given; winds are relative to the grid.
INCREMENTS_GIVEN = 0x30
GRID_RELATIVE_WINDS = 0x08
NCEP_RADIUS_M = 6_371_229


def grid_keys(grid: Grid, scanning: int | None, grid_relative: bool) -> dict[str, Any]:
    """The keys in the order in which they must be set; without `scanning`, the usual mode of the grid."""
    mode = usual_scanning(grid) if scanning is None else scanning
    keys: dict[str, Any] = _latlon(grid, mode) if isinstance(grid, LatLonGrid) else _plane(grid)
    flags = INCREMENTS_GIVEN | (GRID_RELATIVE_WINDS if grid_relative else 0)
    return {**keys, "scanningMode": mode, "resolutionAndComponentFlags": flags}


def usual_scanning(grid: Grid) -> int:
    """From the north on lat-lon grids, from the south on projected ones."""
    return 0 if isinstance(grid, LatLonGrid) else FROM_SOUTH


def _plane(grid: Grid) -> dict[str, Any]:
    if not isinstance(grid, PlaneGrid):
        raise SandboxError(f"cannot write files on a {grid.spec()['kind']} grid")
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
    raise SandboxError(f"cannot write files on a {grid.spec()['kind']} grid")


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
        raise SandboxError("cannot write files on an ellipsoid")
    return {
        "shapeOfTheEarth": 1,
        "scaleFactorOfRadiusOfSphericalEarth": 0,
        "scaledValueOfRadiusOfSphericalEarth": round(earth.a),
    }
