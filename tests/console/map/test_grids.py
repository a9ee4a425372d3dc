"""The browser's grids match gribmill's: the same coordinates, rows and columns on every kind of grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gribmill.checked.table import plain
from gribmill.regions.grids import GaussianGrid, Grid
from gribmill.regions.window import Window
from gribmill.tiles.format.tile_grid import grid_record, window_axes
from tests.console.map.module_site import ModuleSite
from tests.regions.sample_grids import EVERY_GRID

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.process

PLACES = """async (asked) => {
  const { TileGrid } = await import("/static/map/grids/tile_grid.js");
  return asked.map(({ record, latitudes, points }) => {
    const grid = new TileGrid(record, latitudes);
    const places = points.map(([j, i]) => grid.latlon(j, i));
    const indices = places.map(([lat, lon]) => grid.index(lat, lon));
    return { places, indices, cells: places.map(([lat, lon]) => grid.nearest(lat, lon)) };
  });
}"""


def windows_of(grid: Grid) -> list[Window]:
    """The whole grid, a part of it, and for global grids a part across the seam."""
    ny, nx = grid.shape
    found = [Window(slice(0, ny), (slice(0, nx),))]
    if ny > 4 and nx > 4:
        found.append(Window(slice(1, ny - 1), (slice(2, nx - 1),)))
    if grid.wraps:
        found.append(Window(slice(1, ny - 1), (slice(nx - 5, nx), slice(0, 7))))
    return found


def asked_of(grid: Grid, window: Window) -> dict[str, Any]:
    rows, columns = window.shape
    points = [(j, i) for j in range(0, rows, max(1, rows // 7)) for i in range(0, columns, max(1, columns // 7))]
    points += [(rows - 1, columns - 1), (0, columns - 1), (rows - 1, 0)]
    latitudes = window_axes(grid, window)[0].tolist() if isinstance(grid, GaussianGrid) else None
    return {"record": plain(grid_record(grid, window)), "latitudes": latitudes, "points": points}


@pytest.mark.parametrize("name", EVERY_GRID)
def test_places_and_indices_match_gribmill(page: Page, site: ModuleSite, name: str) -> None:
    grid = EVERY_GRID[name]
    windows = windows_of(grid)
    page.goto(f"{site.url}/blank")
    answers = page.evaluate(PLACES, [asked_of(grid, window) for window in windows])
    for window, answer in zip(windows, answers, strict=True):
        points = np.array(asked_of(grid, window)["points"], dtype=np.float64)
        columns = np.concatenate([np.arange(part.start, part.stop) for part in window.cols])
        lat, lon = grid.latlon(points[:, 0] + window.rows.start, columns[points[:, 1].astype(int)].astype(float))
        known = np.isfinite(lat)
        found = np.array([[np.nan if value is None else value for value in place] for place in answer["places"]])
        np.testing.assert_allclose(found[known, 0], lat[known], rtol=0, atol=1e-9)
        np.testing.assert_allclose((found[known, 1] - lon[known] + 180) % 360 - 180, 0, rtol=0, atol=1e-9)
        polar = np.abs(lat) > 89.999  # every column of a pole row is the same place
        for place in np.flatnonzero(known & ~polar):
            _, i = answer["indices"][place]
            assert answer["cells"][place] is not None
            assert abs(i - points[place][1]) < 1e-6
            assert answer["cells"][place][0] == points[place][0]


def test_a_place_outside_has_no_cell(page: Page, site: ModuleSite) -> None:
    grid = EVERY_GRID["Lambert: HRRR, coarse"]
    page.goto(f"{site.url}/blank")
    record = plain(grid_record(grid, windows_of(grid)[0]))
    outside = page.evaluate(
        """async (record) => {
          const { TileGrid } = await import("/static/map/grids/tile_grid.js");
          const grid = new TileGrid(record);
          const far = [[80, 10], [-40, 100], [NaN, 0]].map((place) => grid.nearest(...place));
          return [...far, grid.cell(-0.51, 3), grid.cell(-0.49, 3)];
        }""",
        record,
    )
    assert outside == [None, None, None, None, [0, 3]]
