"""The coastlines: complete, in range, and where land is."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from gribmill.draw.map.coastlines import LONGEST_DEG, coastlines, coastlines_for, is_land, rings_of, within

pytestmark = pytest.mark.slow

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
        ("Lake Michigan", 43.5, -87.0, False),
        ("Lake Ontario, off Toronto", 43.5, -79.2, False),
        ("Lake Victoria", -1.0, 33.0, False),
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


@pytest.mark.parametrize("detailed", [False, True])
@pytest.mark.parametrize("kind", ["land", "borders", "states"])
def test_lines_stay_on_earth_and_have_no_long_steps(kind: str, detailed: bool) -> None:
    points = getattr(coastlines(detailed=detailed), kind)
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


def test_a_small_map_has_a_finer_coast_than_a_large_one() -> None:
    """Around Cape Cod: the bays and the hook of Provincetown are curves, not a dozen straight lines."""
    counts = [len(within(coastlines_for(span).land, 41.2, 42.2, -71.0, -69.8)[:, 0]) for span in (4.0, 60.0)]
    assert counts[0] > 2 * counts[1] > 0


def test_a_map_of_the_globe_has_no_specks() -> None:
    wide, near = coastlines_for(360.0).land, coastlines_for(30.0).land
    assert 0 < len(wide) < 0.8 * len(near)


def test_lines_far_from_a_map_are_left_out_and_none_is_joined() -> None:
    points = coastlines().land
    part = within(points, 40.0, 45.0, 175.0, 185.0)
    assert len(part) < len(points) / 20
    part = within(points, 36.0, 40.0, -11.0, -7.0)
    inside = part[np.isfinite(part[:, 0])]
    assert len(inside) > 10 and inside[:, 0].max() < -5.9 and inside[:, 1].min() > 34.9
    assert np.nanmax(np.abs(np.diff(part, axis=0))) <= LONGEST_DEG + 1e-9


def test_borders_between_states_are_drawn() -> None:
    """In New England, and between two census regions: Montana and Dakota, Kentucky and Tennessee."""
    lon, lat = coastlines(detailed=True).states.T
    for place in ((-73.4, 42.4), (-72.0, 42.72), (-71.8, 41.8), (-71.3, 41.75), (-104.05, 46.5), (-85.0, 36.6)):
        assert np.nanmin(np.hypot(lon - place[0], lat - place[1])) < 0.25, place


def test_coastlines_are_encoded_deterministically_within_the_quantum(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("make_coastlines", SCRIPT)
    assert spec and spec.loader
    script = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "make_coastlines", script)  # where dataclasses look for it
    spec.loader.exec_module(script)
    line = np.array([[-179.9, 10.0], [-120.25, 10.5], [179.9, -89.0]])
    first, second = (script.archive({"borders": [line]}, 0.004) for _ in range(2))
    assert first == second
    assert np.abs(rings_of("borders", first)[0] - line).max() <= 0.004 / 2
