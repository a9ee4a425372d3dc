"""Projections compared with PROJ, which runs in a separate process because it and ecCodes cannot share one."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gribmill.regions.grids import Grid, LambertGrid, MercatorGrid, PolarStereographicGrid, RotatedLatLonGrid
from gribmill.regions.grids.spec import named_grids

from .sample_grids import PROJECTED

pytestmark = pytest.mark.witness

GRIDS: dict[str, Grid] = PROJECTED | {
    named.name: named.grid for named in named_grids() if named.name not in ("gfs", "gefs_0p50", "ifs")
}


def proj_string(grid: Grid) -> str:
    """The grid as a PROJ string, independent of cf()."""
    match grid:
        case LambertGrid():
            words = f"+proj=lcc +lat_1={grid.latin1} +lat_2={grid.latin2} +lat_0={grid.lad} +lon_0={grid.lov}"
        case PolarStereographicGrid():
            words = f"+proj=stere +lat_0={-90 if grid.south_pole else 90} +lat_ts={grid.lad} +lon_0={grid.lov}"
        case MercatorGrid():
            words = f"+proj=merc +lat_ts={grid.lad} +lon_0={grid.lon0}"
        case RotatedLatLonGrid():
            words = (
                f"+proj=ob_tran +o_proj=longlat +o_lat_p={-grid.pole_lat} +o_lon_p={-grid.angle} +lon_0={grid.pole_lon}"
            )
        case _:
            raise AssertionError(grid)
    return f"{words} +a={grid.earth.a} +b={grid.earth.b} +type=crs"


@pytest.fixture(scope="module")
def answers() -> dict[str, dict[str, Any]]:
    if importlib.util.find_spec("pyproj") is None:
        pytest.skip("pyproj is not installed (dependency group `witness`)")
    dice = np.random.default_rng(11)
    questions: list[dict[str, Any]] = []
    for name, grid in GRIDS.items():
        ny, nx = grid.shape
        j = np.append(dice.uniform(0, ny - 1, 300), [0, 0, ny - 1, ny - 1])
        i = np.append(dice.uniform(0, nx - 1, 300), [0, nx - 1, 0, nx - 1])
        defined = np.isfinite(grid.latlon(j, i)[0])
        j, i = j[defined], i[defined]
        x, y = np.interp(i, np.arange(nx), grid.x), np.interp(j, np.arange(ny), grid.y)
        # pyproj takes half a second to read CF attributes: every second sample must do.
        cf = grid.cf() if name in PROJECTED and len(questions) % 2 == 0 else None
        places = {"x": x.tolist(), "y": y.tolist(), "j": j.tolist(), "i": i.tolist()}
        questions.append({"cf": cf, "proj": proj_string(grid), **places})
    script = Path(__file__).with_name("proj_process.py")
    done = subprocess.run(
        [sys.executable, str(script)], input=json.dumps(questions), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return {
        name: question | {"witnesses": witnesses}
        for name, question, witnesses in zip(GRIDS, questions, json.loads(done.stdout), strict=True)
    }


@pytest.mark.parametrize("name", GRIDS)
def test_places_and_indices_match_proj_and_the_cf_attributes(name: str, answers: dict[str, dict[str, Any]]) -> None:
    grid, question = GRIDS[name], answers[name]
    j, i = np.array(question["j"]), np.array(question["i"])
    lat, lon = grid.latlon(j, i)
    for witness in question["witnesses"]:
        their_lat, their_lon = np.array(witness["lat"]), np.array(witness["lon"])
        apart = (np.mod(lon - their_lon + 180, 360) - 180) * np.cos(np.radians(their_lat))
        assert np.abs(lat - their_lat).max() < 1e-9
        assert np.abs(apart).max() < 1e-9
        back_j, back_i = grid.index(their_lat, their_lon)
        cell_m = grid.cell_km * 1000
        assert np.abs(back_j - j).max() * cell_m < 0.001
        if "own pole" not in name:  # a column is not a distance there
            assert np.abs(back_i - i).max() * cell_m < 0.001
