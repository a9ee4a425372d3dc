"""Map geometry: grids placed to sub-pixel accuracy, wind directions, and the side of wind barbs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gribmill.checked.table import plain
from gribmill.regions.grids import Grid
from gribmill.regions.window import Window
from gribmill.tiles.format.tile_grid import grid_record
from tests.console.map.module_site import ModuleSite
from tests.console.map.test_grids import asked_of, windows_of
from tests.regions.sample_grids import EVERY_GRID

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.process

PICTURE_PIXELS = 2000
WEB_LIMIT_DEG = 85.0
MOST_PIXELS_OFF = 0.75
CONFORMAL = [name for name in EVERY_GRID if name.startswith(("Lambert", "Polar", "polar", "Rotated", "rotated"))]

MESH = """async ([record, latitudes, points]) => {
  const load = (path) => import(`/static/map/${path}.js`);
  const [{ TileGrid }, { WebMercatorPlane }, { meshOf }] = await Promise.all(
    ["grids/tile_grid", "view/planes", "view/mesh"].map(load));
  const grid = new TileGrid(record, latitudes);
  const plane = new WebMercatorPlane(grid);
  const { places, cells, triangles } = meshOf(grid, plane);
  const inside = (j, i) => {
    for (let t = 0; t < triangles.length; t += 3) {
      const [a, b, c] = [0, 1, 2].map((k) => triangles[t + k]);
      const [ax, ay, bx, by, cx, cy] = [a, b, c].flatMap((n) => [cells[2 * n], cells[2 * n + 1]]);
      const area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay);
      const v = ((i - ax) * (cy - ay) - (cx - ax) * (j - ay)) / area;
      const w = ((bx - ax) * (j - ay) - (i - ax) * (by - ay)) / area;
      if (v < -1e-9 || w < -1e-9 || v + w > 1 + 1e-9) continue;
      return [0, 1].map((k) => places[2 * a + k] * (1 - v - w) + places[2 * b + k] * v + places[2 * c + k] * w);
    }
    return null;
  };
  return { bounds: plane.bounds(), places: points.map(([j, i]) => inside(j, i)) };
}"""


@pytest.mark.parametrize("name", [name for name in EVERY_GRID if "one point" not in name])
def test_curved_grid_is_drawn_at_its_mercator_position(page: Page, site: ModuleSite, name: str) -> None:
    """The reference is Mercator in NumPy; inside the triangles the error stays below a pixel."""
    grid = EVERY_GRID[name]
    page.goto(f"{site.url}/blank")
    random = np.random.default_rng(5)
    checked = 0
    for window in windows_of(grid):
        asked = asked_of(grid, window)
        rows, columns = window.shape
        points = random.uniform([0, 0], [rows - 1, columns - 1], (40, 2))
        found = page.evaluate(MESH, [asked["record"], asked["latitudes"], points.tolist()])
        west, south, east, north = found["bounds"]
        pixels = PICTURE_PIXELS / max(east - west, north - south)
        lat, lon = grid.latlon(points[:, 0] + window.rows.start, points[:, 1] + window.cols[0].start)
        y = np.degrees(np.arcsinh(np.tan(np.radians(lat))))
        for n, place in enumerate(found["places"]):
            if place is None or not abs(lat[n]) < WEB_LIMIT_DEG:
                continue
            across = (place[0] - lon[n] + 180) % 360 - 180
            assert np.hypot(across, place[1] - y[n]) * pixels < MOST_PIXELS_OFF, (points[n], lat[n], lon[n])
            checked += 1
    assert checked > 20


WIND = """async ([record, wind, places]) => {
  const load = (path) => import(`/static/map/${path}.js`);
  const [{ TileGrid }, { NativePlane }, { windAt }] = await Promise.all(
    ["grids/tile_grid", "view/planes", "layers/wind_field"].map(load));
  const grid = new TileGrid(record);
  const plane = new NativePlane(grid);
  const size = grid.rows * grid.columns;
  const field = { grid, u: new Float32Array(size).fill(wind[0]), v: new Float32Array(size).fill(wind[1]) };
  return places.map(([j, i]) => windAt(field, plane, ...plane.place(grid, j, i))?.components ?? null);
}"""


def whole(grid: Grid) -> Window:
    return windows_of(grid)[0]


@pytest.mark.parametrize("name", CONFORMAL)
def test_wind_blows_along_the_grid_as_gribmill_rotates_it(page: Page, site: ModuleSite, name: str) -> None:
    """Eastward and northward wind on a grid whose columns do not point north."""
    grid = EVERY_GRID[name]
    ny, nx = grid.shape
    places = [(j, i) for j in (0, ny // 3, ny - 2) for i in (1, nx // 2, nx - 2)]
    east, north = 7.0, -3.0
    page.goto(f"{site.url}/blank")
    found = page.evaluate(WIND, [plain(grid_record(grid, whole(grid))), [east, north], places])
    lat, lon = grid.latlon([j for j, _ in places], [i for _, i in places])
    turn = grid.rotation(lat, lon)
    checked = 0
    for n, components in enumerate(found):
        if components is None or abs(lat[n]) > 88:
            continue
        along_columns = east * np.cos(turn[n]) - north * np.sin(turn[n])
        along_rows = east * np.sin(turn[n]) + north * np.cos(turn[n])
        assert components == pytest.approx([along_columns, along_rows], abs=0.05 * np.hypot(east, north))
        checked += 1
    assert checked >= 4


def test_barbs_are_on_the_side_of_low_pressure(page: Page, site: ModuleSite) -> None:
    """In a north wind the staff points up and the barb is east of it; south of the equator, west of it."""
    page.goto(f"{site.url}/blank")
    shapes = page.evaluate(
        """async () => {
          const { barbShape } = await import("/static/map/layers/barb_shape.js");
          const of = (knots, south) => barbShape(100, 100, [0, -1], knots, { staff: 20, south });
          return [of(10, false), of(10, true), of(65, false), of(2, false)];
        }"""
    )
    northern, southern, strong, calm = shapes
    staff, feather = northern["lines"]
    assert staff == [[100, 100], [100, 80]]
    assert feather[1][0] > 100 and feather[1][1] < 80
    assert southern["lines"][1][1][0] < 100
    assert len(strong["flags"]) == 1 and len(strong["lines"]) == 3, "a flag, a feather, a half one, and the staff"
    assert calm["calm"] and not calm["lines"]
