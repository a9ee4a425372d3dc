"""The grids of weather models, in NumPy: convert indices to latitude and longitude, and back."""

from gribmill.regions.grids.gaussian import GaussianGrid
from gribmill.regions.grids.grid import MOST_POINTS, Corner, Earth, Grid
from gribmill.regions.grids.lambert import LambertGrid
from gribmill.regions.grids.latlon import LatLonGrid
from gribmill.regions.grids.mercator import MercatorGrid
from gribmill.regions.grids.polar_stereographic import PolarStereographicGrid
from gribmill.regions.grids.rotated_latlon import RotatedLatLonGrid
from gribmill.regions.grids.spec import grid_from_spec

__all__ = [
    "MOST_POINTS",
    "Corner",
    "Earth",
    "GaussianGrid",
    "Grid",
    "LambertGrid",
    "LatLonGrid",
    "MercatorGrid",
    "PolarStereographicGrid",
    "RotatedLatLonGrid",
    "columns",
    "gaussian",
    "grid",
    "grid_from_spec",
    "plane",
    "spec",
]
