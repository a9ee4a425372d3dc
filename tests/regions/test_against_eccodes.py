"""Grids of real files against the latitudes and longitudes that ecCodes gives for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

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
from gribmill.regions.grids.spec import named_grids
from tests.real_files import real

pytestmark = pytest.mark.witness

SPHERE, NDFD = Earth(6371229.0, 6371229.0), Earth(6371200.0, 6371200.0)
NAMED = {named.name: named.grid for named in named_grids()}
FILES: dict[str, Callable[[], Grid]] = {
    "noaa/hrrr.20230722.t06z.wrfsfcf01.CFRZR-constant-188B.grib2": lambda: NAMED["hrrr"],
    "noaa/nbm.20250901.t00z.core.f001.co.TMP-2m.grib2": lambda: NAMED["nbm_co"],
    "noaa/gfs.20251201.t00z.0p25.f000.TMP-2m.grib2": lambda: NAMED["gfs"],
    "ecmwf/aifs-single.20260310.12z.0p25.0h.t500.grib2": lambda: NAMED["ifs"],
    "noaa/ndfd.20251021.conus.maxt.grib2": lambda: LambertGrid.at_corner(
        20.191999,
        238.445999,
        nx=2145,
        ny=1377,
        dx=2539.703,
        dy=2539.703,
        lov=265,
        latin1=25,
        latin2=25,
        lad=25,
        earth=NDFD,
    ),
    "noaa/nam.20070124.t00z.awp211.f012.jpeg.grib2": lambda: LambertGrid.at_corner(
        12.19, 226.541, nx=93, ny=65, dx=81271, dy=81271, lov=265, latin1=25, latin2=25, lad=25, earth=SPHERE
    ),
    "noaa/nam.20170624.t06z.grid221.f081.SBT.grib2": lambda: LambertGrid.at_corner(
        1.0, 214.5, nx=349, ny=277, dx=32463, dy=32463, lov=253, latin1=50, latin2=50, lad=50, earth=SPHERE
    ),
    "adversarial/wrfprs_nam.20170719.MULTIFIELD-u-v.grib2": lambda: LambertGrid.at_corner(
        36.823, 235.307, nx=279, ny=279, dx=5400, dy=5400, lov=246, latin1=50.7, latin2=36.6, lad=50.7, earth=SPHERE
    ),
    "adversarial/ncep.20130614.lambert.grib1": lambda: LambertGrid.at_corner(
        21.641,
        -120.45,
        nx=1199,
        ny=799,
        dx=4000,
        dy=4000,
        lov=-98,
        latin1=60,
        latin2=30,
        lad=30,
        earth=Earth(6367470.0, 6367470.0),
    ),
    "noaa/aqm.20240516.t12z.AK.O3.polar-stereo.grib2": lambda: PolarStereographicGrid.at_corner(
        40.53, 181.429, nx=825, ny=553, dx=5953, dy=5953, lov=210, lad=60, earth=SPHERE
    ),
    "noaa/stage4.2022080512.24h.grib2": lambda: PolarStereographicGrid.at_corner(
        23.117, 240.976992, nx=1121, ny=881, dx=4762.5, dy=4762.5, lov=255, lad=60, earth=NDFD
    ),
    "other/cmc-rdps.20220720.00z.DEPR10.polar-stereo.grib2": lambda: PolarStereographicGrid.at_corner(
        18.14503, 217.107456, nx=935, ny=824, dx=10000, dy=10000, lov=249, lad=60, earth=SPHERE
    ),
    "adversarial/ndfd.20231130.waveh.grid_complex-missing.grib2": lambda: MercatorGrid.at_corner(
        -30.4192, 129.906005, nx=2517, ny=1793, dx=10000, dy=10000, lad=20, earth=NDFD
    ),
    "other/cmc-hrdps.20260219.00z.CAPE.rotated_ll.grib2": lambda: RotatedLatLonGrid(
        nx=2540,
        ny=1290,
        south=-12.302501,
        west=345.17878,
        dlat=0.0225,
        dlon=0.0225,
        pole_lat=-36.08852,
        pole_lon=245.305142,
        earth=SPHERE,
    ),
    "noaa/gfswave.20230823.t18z.atlocn.0p16.f001.grib2": lambda: LatLonGrid.spanning(
        nx=301, ny=331, south=0, north=55, west=260, east=310, earth=SPHERE
    ),
    "noaa/gdas.20240120.t00z.sfluxgrb.f000.gaussian.grib2": lambda: GaussianGrid.spanning(
        n=768, nx=3072, ny=1536, south=-89.910324, west=0, east=359.882813, earth=SPHERE
    ),
    "noaa/ncep-gp80-gaussian.20230614.3runs.grib2": lambda: GaussianGrid.spanning(
        n=47, nx=192, ny=94, south=-88.542, west=0, east=358.125, earth=SPHERE
    ),
}

KNOWN_ROUNDING = {
    # ecCodes turns rotated places back in double, then rounds them through a single-precision float (8e-6 at 150°).
    # The test against PROJ holds rotated grids to 1e-9.
    "other/cmc-hrdps.20260219.00z.CAPE.rotated_ll.grib2": 1.6e-5,
    # The step is written as 0.166667; ecCodes adds it up 330 times, and then sets the last row to 0 as the file says.
    "noaa/gfswave.20230823.t18z.atlocn.0p16.f001.grib2": 330 * 0.5e-6,
}


def eccodes_places(name: str) -> tuple[np.ndarray, np.ndarray]:
    """2-D latitudes and longitudes of the first message, row 0 south."""
    import eccodes

    with real(name).open("rb") as file:
        handle = eccodes.codes_grib_new_from_file(file)
    try:
        shape = eccodes.codes_get(handle, "Nj"), eccodes.codes_get(handle, "Ni")
        lat = eccodes.codes_get_array(handle, "latitudes").reshape(shape)
        lon = eccodes.codes_get_array(handle, "longitudes").reshape(shape)
        return (lat, lon) if eccodes.codes_get(handle, "jScansPositively") else (lat[::-1], lon[::-1])
    finally:
        eccodes.codes_release(handle)


@pytest.mark.parametrize("name", FILES)
def test_every_point_of_a_real_grid_is_where_eccodes_puts_it(name: str) -> None:
    grid = FILES[name]()
    their_lat, their_lon = eccodes_places(name)
    ny, nx = grid.shape
    j, i = np.arange(ny)[:, None], np.arange(nx)[None, :]
    lat, lon = grid.latlon(j, i)
    tolerance = KNOWN_ROUNDING.get(name, 1e-5)
    assert np.abs(lat - their_lat).max() < tolerance
    assert np.abs(np.mod(lon - their_lon + 180, 360) - 180).max() < tolerance
    back_j, back_i = grid.index(lat, lon)
    assert np.abs(back_j - j).max() * grid.cell_km * 1000 < 0.001
    assert np.abs(back_i - i).max() * grid.cell_km * 1000 < 0.001


LAMBERT = {"gridType": "lambert", "Latin1InDegrees": -35.0, "Latin2InDegrees": -20.0, "LaDInDegrees": -27.5}
POLAR = {"gridType": "polar_stereographic", "LaDInDegrees": 71.0, "orientationOfTheGridInDegrees": 10.0}
MADE: dict[str, tuple[dict[str, Any], type[Any], dict[str, Any]]] = {
    "southern Lambert": (
        LAMBERT | {"LoVInDegrees": 300.0, "projectionCentreFlag": 128, "first": (-45.0, 285.0)},
        LambertGrid,
        {"lov": 300, "latin1": -35, "latin2": -20, "lad": -27.5},
    ),
    "southern polar stereographic": (
        # ecCodes takes the pole from the sign of LaD alone.
        POLAR | {"LaDInDegrees": -71.0, "projectionCentreFlag": 128, "first": (-60.0, 50.0)},
        PolarStereographicGrid,
        {"lov": 10, "lad": -71, "south_pole": True},
    ),
    "northern polar stereographic": (
        POLAR | {"projectionCentreFlag": 0, "first": (60.0, 350.0)},
        PolarStereographicGrid,
        {"lov": 10, "lad": 71},
    ),
    "Mercator": (
        {
            "gridType": "mercator",
            "LaDInDegrees": 20.0,
            "first": (10.0, 170.0),
            "latitudeOfLastGridPointInDegrees": 30.0,
            "longitudeOfLastGridPointInDegrees": 195.0,
        },
        MercatorGrid,
        {"lad": 20},
    ),
}


# ecCodes has no polar stereographic grid on an ellipsoid; PROJ holds ours there.
CASES = [(name, "sphere") for name in MADE] + [("southern Lambert", "ellipsoid"), ("Mercator", "ellipsoid")]


@pytest.mark.parametrize(("name", "shape"), CASES)
def test_both_hemispheres_and_ellipsoids_are_read_as_eccodes_reads_them(name: str, shape: str) -> None:
    keys, kind, values = MADE[name]
    along = ("i", "j") if kind is MercatorGrid else ("x", "y")
    their_lat, their_lon = made_places(
        {
            "gridType": keys["gridType"],
            "shapeOfTheEarth": 6 if shape == "sphere" else 5,
            f"N{along[0]}": 40,
            f"N{along[1]}": 30,
            f"D{along[0]}InMetres": 20e3,
            f"D{along[1]}InMetres": 25e3,
            "latitudeOfFirstGridPointInDegrees": keys["first"][0],
            "longitudeOfFirstGridPointInDegrees": keys["first"][1],
            "iScansNegatively": 0,
            "jScansPositively": 1,
            **{key: value for key, value in keys.items() if key not in ("gridType", "first")},
        }
    )
    earth = SPHERE if shape == "sphere" else Earth(6378137.0, 6356752.314)
    grid = kind.at_corner(*keys["first"], nx=40, ny=30, dx=20e3, dy=25e3, earth=earth, **values)
    lat, lon = grid.latlon(np.arange(30)[:, None], np.arange(40)[None, :])
    assert np.abs(lat - their_lat).max() < 1e-5
    assert np.abs(np.mod(lon - their_lon + 180, 360) - 180).max() < 1e-5


def made_places(keys: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Places of a message of 30 by 40 points made from these keys."""
    import eccodes

    made = eccodes.codes_grib_new_from_samples("GRIB2")
    for key, value in keys.items():
        eccodes.codes_set(made, key, value)
    eccodes.codes_set_values(made, np.zeros(1200))
    # ecCodes asks whether the Earth is an ellipsoid only when it reads a message.
    read = eccodes.codes_new_from_message(eccodes.codes_get_message(made))
    lat, lon = (eccodes.codes_get_array(read, key).reshape(30, 40) for key in ("latitudes", "longitudes"))
    eccodes.codes_release(made)
    eccodes.codes_release(read)
    return lat, lon
