"""Helpers for tests of the map page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gribmill.settings.schema import Settings
from gribmill.storage.layout import TileFolder
from gribmill.tiles.read.tile import Tile, read_tile
from tests.console.map.forecast_root import RUN, make_forecasts
from tests.server.live_server import LiveServer, serving

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture(scope="module")
def map_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A server with tiles of several models."""
    root = tmp_path_factory.mktemp("map") / "data"
    make_forecasts(root)
    with serving(Settings(data=root)) as started:
        yield started


def tile_of(server: LiveServer, model: str, hour: int = 0, region: str = "east") -> Tile:
    return read_tile(TileFolder(Path(server.settings.data), model, RUN, region).tile(60 * hour))


def opened(page: Page, server: LiveServer, query: str, expected: str = "ready") -> None:
    """Open the map at this URL and wait until it is drawn."""
    page.goto(f"{server.url}/map?{query}")
    wait_for_map(page, expected)


def wait_for_map(page: Page, expected: str = "ready") -> None:
    page.wait_for_function(f"() => document.documentElement.dataset.map === '{expected}'")
    page.locator("#maps[aria-busy=false]").wait_for()


def rest(page: Page, milliseconds: int = 600) -> None:
    """Let timers of the page run that are due within this time. The page's own clock decides, however slow it is."""
    page.evaluate("(time) => new Promise((next) => setTimeout(next, time))", milliseconds)


def point_at(page: Page, x: float, y: float, panel: int = 0) -> dict[str, Any]:
    """The row, column and value shown at a fraction of the map's width and height."""
    box = page.locator(".map-panel").nth(panel).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
    found: dict[str, Any] = page.locator("#readout").evaluate("(element) => ({...element.dataset})")
    return found


def cells_of(page: Page) -> Iterator[tuple[int, int, np.float32]]:
    """Cells under some places of the map."""
    for x in (0.2, 0.35, 0.5, 0.62, 0.8):
        for y in (0.25, 0.4, 0.5, 0.66, 0.8):
            found = point_at(page, x, y)
            if found:
                yield int(found["row"]), int(found["column"]), np.float32(found["value"])
