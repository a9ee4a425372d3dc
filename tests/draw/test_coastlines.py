"""The coastlines: complete, in range, and where land is."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from gribmill.draw.map.coastlines import LONGEST_DEG, coastlines, rings_of
from gribmill.draw.map.land import is_land

SCRIPT = Path(__file__).parents[2] / "scripts" / "make_coastlines.py"


@pytest.mark.parametrize(
    ("place", "lat", "lon", "land"),
    [
        ("Kansas", 38.5, -98.0, True),
        ("the middle of the Atlantic", 40.0, -40.0, False),
        ("Chukotka west of the dateline", 67.0, 178.0, True),
        ("Chukotka east of the dateline", 67.0, -175.0, True),
        ("Wrangel Island east of the dateline", 71.2, -179.5, True),
        ("Wrangel Island west of the dateline", 71.2, 179.5, True),
        ("the Bering Sea on the dateline", 60.0, 180.0, False),
        ("the South Pole", -90.0, 0.0, True),
        ("the North Pole", 90.0, 0.0, False),
        ("the Ross Sea", -75.0, -175.0, False),
        ("the Caspian Sea", 42.0, 50.5, False),
        ("Hudson Bay", 60.0, -85.0, False),
        ("Viti Levu", -17.8, 178.0, True),
        ("Long Island", 40.82, -73.0, True),
        ("the Atlantic off Kansas's latitude, a turn later", 38.5, -98.0 + 360, True),
    ],
)
def test_known_places_are_land_or_sea(place: str, lat: float, lon: float, land: bool) -> None:
    assert is_land(np.array([lat]), np.array([lon]))[0] == land, place


def test_the_share_of_land_on_earth_is_right() -> None:
    lat, lon = np.meshgrid(np.arange(-88.5, 90, 3.0), np.arange(-178.5, 180, 3.0), indexing="ij")
    weight = np.cos(np.radians(lat))
    assert (is_land(lat, lon) * weight).sum() / weight.sum() == pytest.approx(0.29, abs=0.015)


def test_land_is_made_of_closed_rings() -> None:
    rings = rings_of("land")
    assert len(rings) > 3000
    assert all(len(ring) > 3 and (ring[0] == ring[-1]).all() for ring in rings)


@pytest.mark.parametrize("kind", ["land", "borders", "states", "lakes"])
def test_lines_stay_on_earth_and_have_no_long_steps(kind: str) -> None:
    points = getattr(coastlines(), kind)
    assert np.nanmin(points[:, 0]) >= -180 and np.nanmax(points[:, 0]) <= 180
    assert np.nanmin(points[:, 1]) >= -90 and np.nanmax(points[:, 1]) <= 84
    assert np.nanmax(np.abs(np.diff(points, axis=0))) <= LONGEST_DEG + 1e-9


def test_no_line_runs_along_the_dateline() -> None:
    lon = coastlines().land[:, 0]
    assert not ((np.abs(lon[:-1]) > 179.98) & (np.abs(lon[1:]) > 179.98)).any()


def test_the_border_of_canada_follows_the_49th_parallel() -> None:
    lon, lat = coastlines().borders.T
    prairie = (lon > -113) & (lon < -99) & (np.abs(lat - 49) < 0.3)
    assert prairie.sum() > 20 and np.abs(lat[prairie] - 49).max() < 0.02


def test_lake_michigan_has_shores_that_the_coast_lacks() -> None:
    lines = coastlines()
    near = [np.nanmin(np.hypot(points[:, 0] + 87.6, points[:, 1] - 41.9)) for points in (lines.lakes, lines.land)]
    assert near[0] < 0.1 < near[1]


def test_coastlines_are_encoded_deterministically_within_the_quantum() -> None:
    spec = importlib.util.spec_from_file_location("make_coastlines", SCRIPT)
    assert spec and spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    line = np.array([[-179.9, 10.0], [-120.25, 10.5], [179.9, -89.0]])
    first, second = (script.archive({"land": [line]}) for _ in range(2))
    assert first == second
    assert np.abs(rings_of("land", first)[0] - line).max() <= script.QUANTUM_DEG / 2
