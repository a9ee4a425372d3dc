"""Random grids, random boxes, random holes: a tile is exactly the brute-force selection of its points."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gribmill.grib.decode.field import read_fields
from gribmill.regions.box import Box
from gribmill.regions.errors import RegionError
from gribmill.regions.grids import Grid
from gribmill.regions.region import Region
from gribmill.tiles.build.build import build
from gribmill.tiles.read.tile import read_tile
from tests.make_grib import GRIDS, GridSpec, make_message, write

pytestmark = pytest.mark.slow

# Scanning modes that every producer may use: rows from the north or the south, columns from the east, boustrophedon.
SCANNING = (0, 64, 80, 16, 32, 96)


@st.composite
def global_grids(draw: st.DrawFn) -> GridSpec:
    """Lat-lon grids, round the globe or not, from any first longitude, in any scanning mode."""
    columns, rows = draw(st.sampled_from([(24, 13), (36, 19), (7, 5), (40, 9)]))
    round_globe = draw(st.booleans())
    step = 360.0 / columns if round_globe else draw(st.sampled_from([0.5, 2.0, 5.0]))
    first = draw(st.sampled_from([0.0, 180.0, 170.0, 350.0, 12.5]))
    south = draw(st.sampled_from([-90.0, -30.0, 40.0])) if rows * step <= 50 else -90.0
    height = min(step, 180.0 / (rows - 1))
    keys = {
        "latitudeOfFirstGridPointInDegrees": south,
        "latitudeOfLastGridPointInDegrees": south + (rows - 1) * height,
        "longitudeOfFirstGridPointInDegrees": first,
        "longitudeOfLastGridPointInDegrees": (first + (columns - 1) * step) % 360,
        "iDirectionIncrementInDegrees": step,
        "jDirectionIncrementInDegrees": height,
    }
    return GridSpec("regular_ll", columns, rows, keys, scanning=64)


@st.composite
def projected_grids(draw: st.DrawFn) -> GridSpec:
    """Small windows of the true projected grids, of any size and spacing."""
    name = draw(st.sampled_from(["hrrr-small", "hrrr-ak-small", "nbm-small", "rrfs-na-small", "nbm-hi-small"]))
    spec = GRIDS[name]
    if spec.grid_type in ("rotated_ll", "mercator"):
        return spec
    spacing = draw(st.sampled_from([3000, 40_000, 120_000]))
    keys = {**spec.keys, "DxInMetres": spacing, "DyInMetres": spacing}
    return replace(spec, nx=draw(st.integers(1, 40)), ny=draw(st.integers(1, 40)), keys=keys)


@st.composite
def boxes(draw: st.DrawFn) -> Box:
    """Any box: tiny or the whole globe, across the dateline, touching a pole."""
    west = draw(st.floats(-180, 180))
    width = draw(st.sampled_from([0.7, 5.0, 30.0, 120.0, 300.0, 360.0]))
    south = draw(st.floats(-90, 89))
    height = draw(st.sampled_from([0.5, 4.0, 25.0, 90.0, 180.0]))
    try:
        return Box(west, south, west + width if west + width <= 360 else west + width - 360, min(90.0, south + height))
    except RegionError:
        return Box(-180, -90, 180, 90)


def column_choices(marked: np.ndarray, wraps: bool) -> list[np.ndarray]:
    """Every shortest run of columns (circular on a grid that wraps) that contains all marked ones."""
    count = len(marked)
    if not wraps:
        found = np.flatnonzero(marked)
        return [np.arange(found[0], found[-1] + 1)]
    runs = [np.arange(start, start + length) % count for length in range(1, count + 1) for start in range(count)]
    holding = [run for run in runs if marked.sum() == marked[run].sum()]
    shortest = min(len(run) for run in holding)
    return [run for run in holding if len(run) == shortest]


def same_places(tile_lat: np.ndarray, tile_lon: np.ndarray, lat: np.ndarray, lon: np.ndarray) -> bool:
    east = (tile_lon - lon + 180.0) % 360.0 - 180.0
    return bool(np.abs(tile_lat - lat).max() < 1e-6 and np.abs(east * np.cos(np.radians(lat))).max() < 1e-6)


def check(spec: GridSpec, box: Box, seed: int, holes: float, folder: Path) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(280, 15, spec.shape).astype(np.float32)
    values[rng.random(spec.shape) < holes] = np.nan
    path = write(folder / "made.grib2", [make_message(spec, "2t", values, packing="grid_ieee")])
    grid: Grid = next(iter(read_fields(path))).grid
    j, i = np.mgrid[: spec.ny, : spec.nx]
    lat, lon = grid.latlon(j, i)
    inside = box.contains(lat, lon)
    outcome = build(path, [Region("somewhere", box)], folder, model="made")
    assert not outcome.failed
    if not inside.any():
        assert outcome.outside == ("somewhere",)
        return
    tile = read_tile(outcome.tiles[0].path)
    rows = np.flatnonzero(inside.any(axis=1))
    picked_rows = np.arange(rows[0], rows[-1] + 1)
    tile_lat, tile_lon = tile.latlon()
    matches = [
        np.array_equal(tile.read("t2m"), values[np.ix_(picked_rows, columns)], equal_nan=True)
        and same_places(tile_lat, tile_lon, lat[np.ix_(picked_rows, columns)], lon[np.ix_(picked_rows, columns)])
        for columns in column_choices(np.asarray(inside.any(axis=0)), grid.wraps)
        if tile.shape == (len(picked_rows), len(columns))
    ]
    assert any(matches), f"{spec} {box}: {tile.shape} is not the brute-force selection"
    assert tile.meta.variables["t2m"].missing == np.isnan(tile.read("t2m")).sum()
    assert (np.diff(tile.x) > 0).all()


SOME = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@SOME
@given(global_grids(), boxes(), st.integers(0, 99), st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from(SCANNING))
def test_lat_lon_tiles_are_the_brute_force_selection(
    spec: GridSpec, box: Box, seed: int, holes: float, mode: int
) -> None:
    keys = dict(spec.keys)
    if not mode & 64:
        first, last = "latitudeOfFirstGridPointInDegrees", "latitudeOfLastGridPointInDegrees"
        keys[first], keys[last] = keys[last], keys[first]
    with TemporaryDirectory() as folder:
        check(replace(spec, scanning=mode, keys=keys), box, seed, holes, Path(folder))


@SOME
@given(projected_grids(), boxes(), st.integers(0, 99), st.sampled_from([0.0, 0.3, 1.0]))
def test_projected_tiles_are_the_brute_force_selection(spec: GridSpec, box: Box, seed: int, holes: float) -> None:
    with TemporaryDirectory() as folder:
        check(spec, box, seed, holes, Path(folder))


@SOME
@given(projected_grids(), st.integers(0, 99), st.data())
def test_boxes_around_a_point_of_the_grid_always_hold_it(spec: GridSpec, seed: int, data: st.DataObject) -> None:
    """Random boxes often miss small grids; these never do."""
    with TemporaryDirectory() as folder:
        path = write(Path(folder) / "probe.grib2", [make_message(spec, "2t", 1.0, packing="grid_ieee")])
        grid = next(iter(read_fields(path))).grid
        lat, lon = grid.latlon(data.draw(st.integers(0, spec.ny - 1)), data.draw(st.integers(0, spec.nx - 1)))
        size = data.draw(st.sampled_from([0.01, 0.4, 3.0, 20.0]))
        south, north = max(-90.0, float(lat) - size), min(90.0, float(lat) + size)
        check(spec, Box(float(lon) - size, south, float(lon) + size, north), seed, 0.2, Path(folder))
