"""Small grids of every kind, with the edge cases of real ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gribmill.regions.grids import (
    Earth,
    GaussianGrid,
    Grid,
    LambertGrid,
    LatLonGrid,
    MercatorGrid,
    PolarStereographicGrid,
    RotatedLatLonGrid,
)

SPHERE = Earth(6371229.0, 6371229.0)
NDFD = Earth(6371200.0, 6371200.0)
WGS84 = Earth(6378137.0, 6356752.314245179)

LATLON: dict[str, Grid] = {
    "global from 0": LatLonGrid(nx=72, ny=37, south=-90, west=0, dlat=5, dlon=5, earth=SPHERE),
    "global from 180": LatLonGrid(nx=90, ny=46, south=-90, west=180, dlat=4, dlon=4, earth=SPHERE),
    "global between poles": LatLonGrid(nx=36, ny=18, south=-84.875, west=184.875, dlat=10, dlon=10, earth=SPHERE),
    "0 and 360 both there": LatLonGrid(nx=37, ny=19, south=-90, west=0, dlat=10, dlon=10, earth=SPHERE),
    "regional": LatLonGrid(nx=61, ny=41, south=30.25, west=-20.3, dlat=0.6, dlon=0.9, earth=WGS84),
    "over the dateline": LatLonGrid(nx=50, ny=30, south=-40, west=150, dlat=1.5, dlon=1.25, earth=SPHERE),
    "nearly round": LatLonGrid(nx=34, ny=18, south=-85, west=-170, dlat=10, dlon=10, earth=SPHERE),
    "one point": LatLonGrid(nx=1, ny=1, south=33.897, west=242.36, dlat=1, dlon=1, earth=WGS84),
    "Gaussian": GaussianGrid(n=24, first_row=0, ny=48, nx=96, west=0, dlon=3.75, earth=SPHERE),
    "part of a Gaussian": GaussianGrid(n=47, first_row=30, ny=40, nx=60, west=150, dlon=1.875, earth=SPHERE),
}

LAMBERT: dict[str, Grid] = {
    "HRRR, coarse": LambertGrid.at_corner(
        21.138123,
        237.280472,
        nx=60,
        ny=36,
        dx=90e3,
        dy=90e3,
        lov=262.5,
        latin1=38.5,
        latin2=38.5,
        lad=38.5,
        earth=SPHERE,
    ),
    "two parallels": LambertGrid.at_corner(
        44.13, 107.46, "nw", nx=61, ny=49, dx=60e3, dy=60e3, lov=140, latin1=60, latin2=30, lad=30, earth=SPHERE
    ),
    "ellipsoid": LambertGrid.at_corner(
        36.8, 235.3, nx=70, ny=50, dx=30e3, dy=25e3, lov=246, latin1=50.7, latin2=36.6, lad=45, earth=WGS84
    ),
    "ellipsoid, one parallel": LambertGrid.at_corner(
        40.0, -10.0, nx=50, ny=50, dx=40e3, dy=40e3, lov=5, latin1=52, latin2=52, lad=52, earth=WGS84
    ),
    "one parallel, y from another": LambertGrid.at_corner(
        48.0, 5.0, nx=40, ny=40, dx=40e3, dy=40e3, lov=10, latin1=50, latin2=50, lad=45, earth=WGS84
    ),
    "southern": LambertGrid.at_corner(
        -50.0, -80.0, nx=60, ny=60, dx=70e3, dy=70e3, lov=-60, latin1=-35, latin2=-20, lad=-27.5, earth=SPHERE
    ),
    "southern ellipsoid": LambertGrid.at_corner(
        -10.0, 160.0, "ne", nx=60, ny=50, dx=90e3, dy=80e3, lov=135, latin1=-30, latin2=-30, lad=-30, earth=WGS84
    ),
    "with the pole and the tear": LambertGrid(
        nx=81, ny=81, dx=300e3, dy=300e3, x0=-12e6, y0=-8e6, lov=-97.5, latin1=38.5, latin2=38.5, lad=38.5, earth=SPHERE
    ),
    "southern, with the pole and the tear": LambertGrid(
        nx=70, ny=70, dx=320e3, dy=320e3, x0=-11e6, y0=-15e6, lov=20, latin1=-40, latin2=-55, lad=-40, earth=WGS84
    ),
}

POLAR: dict[str, Grid] = {
    "HRRR-AK, coarse": PolarStereographicGrid.at_corner(
        41.612949, 185.117126, nx=65, ny=46, dx=60e3, dy=60e3, lov=225, lad=60, earth=SPHERE
    ),
    "pole inside": PolarStereographicGrid(
        nx=60, ny=56, dx=150e3, dy=150e3, x0=-4.46e6, y0=-4.1e6, lov=-80, lad=60, earth=SPHERE
    ),
    "pole on a point": PolarStereographicGrid(
        nx=41, ny=41, dx=200e3, dy=200e3, x0=-4e6, y0=-4e6, lov=10, lad=90, earth=WGS84
    ),
    "ellipsoid": PolarStereographicGrid.at_corner(
        23.117, 240.977, nx=56, ny=44, dx=95e3, dy=95e3, lov=255, lad=60, earth=WGS84
    ),
    "southern": PolarStereographicGrid(
        nx=60, ny=60, dx=180e3, dy=160e3, x0=-5e6, y0=-4.9e6, lov=0, lad=-71, south_pole=True, earth=SPHERE
    ),
    "southern ellipsoid": PolarStereographicGrid.at_corner(
        -40.0, 100.0, "nw", nx=50, ny=50, dx=60e3, dy=60e3, lov=120, lad=70, south_pole=True, earth=WGS84
    ),
    "the whole globe but a spot": PolarStereographicGrid(
        nx=90, ny=90, dx=1e6, dy=1e6, x0=-44.5e6, y0=-44.5e6, lov=30, lad=60, earth=SPHERE
    ),
}

MERCATOR: dict[str, Grid] = {
    "Hawaii, coarse": MercatorGrid.at_corner(14.3515, 195.0305, nx=63, ny=57, dx=25e3, dy=25e3, lad=20, earth=NDFD),
    "ocean, over the dateline": MercatorGrid.at_corner(
        -30.4192, 129.9058, nx=126, ny=91, dx=200e3, dy=200e3, lad=20, earth=NDFD
    ),
    "ellipsoid": MercatorGrid.at_corner(-20.0, 100.0, "nw", nx=50, ny=40, dx=60e3, dy=60e3, lad=-15, earth=WGS84),
    "round the globe": MercatorGrid.at_corner(
        -60.0, 20.0, nx=100, ny=40, dx=2 * np.pi * 6371229.0 / 100, dy=500e3, lad=0, earth=SPHERE
    ),
}

ROTATED: dict[str, Grid] = {
    "HRDPS, coarse": RotatedLatLonGrid(
        nx=64, ny=33, south=-12.3, west=345.18, dlat=0.9, dlon=0.9, pole_lat=-36.08852, pole_lon=245.305, earth=SPHERE
    ),
    "RRFS, coarse": RotatedLatLonGrid(
        nx=70, ny=43, south=-37, west=-61, dlat=1.75, dlon=1.75, pole_lat=-35, pole_lon=-113, earth=SPHERE
    ),
    "turned": RotatedLatLonGrid(
        nx=50, ny=40, south=-20, west=-30, dlat=1, dlon=1.2, pole_lat=-50, pole_lon=10, angle=25, earth=SPHERE
    ),
    "pole moved to the north": RotatedLatLonGrid(
        nx=50, ny=40, south=-10, west=100, dlat=1, dlon=1.2, pole_lat=40, pole_lon=170, angle=-70, earth=SPHERE
    ),
    "own pole inside": RotatedLatLonGrid(
        nx=60, ny=40, south=60, west=-60, dlat=0.75, dlon=2, pole_lat=-40, pole_lon=20, earth=SPHERE
    ),
    "nearly round": RotatedLatLonGrid(
        nx=70, ny=36, south=-88, west=-170, dlat=5, dlon=5, pole_lat=-30, pole_lon=60, earth=SPHERE
    ),
    "round the globe": RotatedLatLonGrid(
        nx=72, ny=36, south=-87.5, west=-180, dlat=5, dlon=5, pole_lat=-30, pole_lon=60, earth=SPHERE
    ),
    "not rotated at all": RotatedLatLonGrid(
        nx=40, ny=30, south=20, west=-20, dlat=1, dlon=1, pole_lat=-90, pole_lon=0, earth=SPHERE
    ),
}

EVERY_GRID: dict[str, Grid] = {
    f"{kind}: {name}": grid
    for kind, grids in (
        ("lat-lon", LATLON),
        ("Lambert", LAMBERT),
        ("polar stereographic", POLAR),
        ("Mercator", MERCATOR),
        ("rotated", ROTATED),
    )
    for name, grid in grids.items()
}
PROJECTED = {name: grid for name, grid in EVERY_GRID.items() if not name.startswith("lat-lon")}


def every_point(grid: Grid) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """2-D latitudes and longitudes of the whole grid."""
    ny, nx = grid.shape
    return grid.latlon(np.arange(ny)[:, None], np.arange(nx)[None, :])
