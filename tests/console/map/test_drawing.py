"""What the map paints: the colour of every cell, missing points, and the layers above."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from tests.console.map.forecast_root import RUN
from tests.console.map.visit import opened, rest, tile_of
from tests.server.live_server import LiveServer
from tests.waiting import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.process

DRAW = """async ([url, name, webgl]) => {
  const load = (path) => import(`/static/map/${path}.js`);
  const [{ Tile }, { TileGrid }, { Raster }, { Camera }, { NativePlane }] = await Promise.all(
    ["tile/tile", "grids/tile_grid", "layers/raster", "view/camera", "view/planes"].map(load));
  const [{ scaleOf, colourOf }, { GROUND, STRIPE }, { PAPER }] = await Promise.all(
    ["scale/scale", "layers/hatch", "layers/picture"].map(load));
  const tile = await Tile.open(url);
  const values = await tile.values(name);
  const grid = new TileGrid(tile.meta.grid);
  const plane = new NativePlane(grid);
  const about = tile.meta.variables[name];
  const answer = await fetch(`/console/map/variable?${new URLSearchParams({ name, units: about.units })}`);
  const variable = await answer.json();
  const table = (await (await fetch("/console/map/colours")).json()).clear[variable.palette];
  const known = [...values].filter((value) => !Number.isNaN(value));
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const flags = about.flag_values.map((value, n) => [value, about.flag_meanings[n]]);
  const range = { low, high, bulk: [low, high] };
  const scale = scaleOf({ table, variable, system: "metric", range, flags: flags.length ? flags : null });
  const raster = new Raster(document.createElement("div"), { webgl });
  const camera = new Camera();
  camera.resize(grid.columns * 8, Math.round(grid.rows * 8 / plane.aspect));
  camera.fit(plane.bounds());
  raster.show({ field: values, scale, plane, grid });
  raster.draw(camera, 1);
  const copy = new OffscreenCanvas(camera.width, camera.height).getContext("2d");
  copy.drawImage(raster.canvas, 0, 0);
  const wrong = [];
  const missing = new Set();
  for (let j = 0; j < grid.rows; j++) for (let i = 0; i < grid.columns; i++) {
    const [left, top] = camera.toScreen(...plane.place(grid, j, i));
    const drawn = [...copy.getImageData(Math.floor(left), Math.floor(top), 1, 1).data];
    const value = values[j * grid.columns + i];
    const coloured = colourOf(scale, value);
    const expected = Number.isNaN(value) ? [GROUND, STRIPE] : [coloured[3] ? coloured.slice(0, 3) : PAPER];
    const is = (colour) => colour.every((channel, k) => Math.abs(channel - drawn[k]) <= 1);
    const near = drawn[3] === 255 && expected.some(is);
    if (!near) wrong.push([j, i, drawn, expected]);
    if (Number.isNaN(value)) missing.add(String(drawn));
  }
  const cells = grid.rows * grid.columns;
  return { kind: raster.kind, cells, missing: missing.size, wrong: wrong.slice(0, 5), count: wrong.length };
}"""


@pytest.mark.parametrize("webgl", [True, False])
@pytest.mark.parametrize("name", ["t2m", "tp", "ptype"])
def test_every_cell_has_the_colour_of_its_value(page: Page, map_server: LiveServer, webgl: bool, name: str) -> None:
    """Missing points are hatched; values outside the scale have the background colour."""
    page.goto(f"{map_server.url}/map?model=hrrr")
    url = f"/api/v1/tiles/hrrr/{RUN}/east/000.npz"
    found = page.evaluate(DRAW, [url, name, "always" if webgl else False])
    assert found["kind"] == ("WebGL2" if webgl else "canvas")
    assert found["count"] == 0, found
    assert found["missing"] == (0 if name == "ptype" else 2), "both colours of the hatching"
    assert found["cells"] == tile_of(map_server, "hrrr").read(name).size


DRAWN = """(name) => {
  const one = document.querySelector(`canvas.${name}`);
  return one?.width && one.getContext("2d").getImageData(0, 0, one.width, one.height).data.some((value) => value > 0);
}"""


@pytest.mark.parametrize(
    "query", ["wind=particles", "wind=barbs&isobars=1&plane=web", "variable=ptype", "variable=ws10"]
)
def test_layers_are_drawn_without_errors(page: Page, map_server: LiveServer, query: str) -> None:
    opened(page, map_server, f"model=gfs&region=world&{query}")
    layers = ["coast"]
    layers += ["particles"] if "particles" in query else []
    layers += ["lines"] if "barbs" in query else []
    for name in layers:
        page.wait_for_function(DRAWN, arg=name)


MOTION = """async () => {
  const canvas = document.querySelector("canvas.particles");
  const look = () => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const before = look();
  for (let n = 0; n < 10; n++) await new Promise((next) => requestAnimationFrame(next));
  const after = look();
  return { drawn: before.some((value) => value > 0), moved: before.some((value, at) => value !== after[at]) };
}"""


@pytest.mark.parametrize("wanted", ["no-preference", "reduce"])
def test_particles_stand_still_with_reduced_motion(page: Page, map_server: LiveServer, wanted: Any) -> None:
    page.emulate_media(reduced_motion=wanted)
    opened(page, map_server, "model=gfs&region=world&wind=particles")
    page.wait_for_function(DRAWN, arg="particles")
    rest(page)
    assert page.evaluate(MOTION) == {"drawn": True, "moved": wanted == "no-preference"}
    page.emulate_media(reduced_motion="reduce")
    wait_until(lambda: page.evaluate(MOTION) == {"drawn": True, "moved": False}, what="the particles to stand still")


DRAG = """async ([right, down]) => {
  const panel = document.querySelector(".map-panel");
  panel.setPointerCapture = () => {};
  const send = (kind, x, y) => panel.dispatchEvent(new PointerEvent(kind, { pointerId: 1, clientX: x, clientY: y }));
  const shift = () => new DOMMatrix(document.querySelector(".map-layers").style.transform);
  const before = shift();
  send("pointerdown", 300, 300);
  send("pointermove", 300 + right, 300 + down);
  await new Promise((next) => requestAnimationFrame(() => next()));
  const after = shift();
  send("pointercancel", 300 + right, 300 + down);
  return [after.a, after.e - before.e, after.f - before.f];
}"""


def test_a_moved_map_is_drawn_where_the_camera_is(page: Page, map_server: LiveServer) -> None:
    """The old drawing is shifted at once, and redrawn at the new position when the camera rests."""
    opened(page, map_server, "model=hrrr&region=east&variable=t2m")
    panel = page.locator(".map-panel").first
    before = picture(panel.screenshot())[20:-40, 20:-60]
    assert page.evaluate(DRAG, [40, 20]) == pytest.approx([1, 40, 20], abs=1)

    def is_moved() -> bool:
        """Everything is 40 pixels to the right and 20 below."""
        rested = picture(panel.screenshot())
        return bool(np.abs(before - rested[40:-20, 60:-20]).mean() < 4)

    rest(page)
    wait_until(is_moved, what="the map to be drawn at its new position")


def picture(png: bytes) -> np.ndarray[Any, Any]:
    return np.asarray(Image.open(BytesIO(png)).convert("RGB"), dtype=np.float64)
