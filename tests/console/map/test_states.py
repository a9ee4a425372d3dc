"""Messages of the map when there is nothing to show, or something is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gribmill.storage.layout import TileFolder
from tests.console.map.forecast_root import RUN
from tests.console.map.visit import opened, point_at, wait_for_map
from tests.server.live_server import LiveServer
from tests.servers.chromium import Complaints, serious_findings

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.process


def test_damaged_tile_is_reported_and_other_hours_stay(page: Page, map_server: LiveServer) -> None:
    path = TileFolder(Path(map_server.settings.data), "hrrr", RUN, "east").tile(120)
    assert isinstance(path, Path)
    whole = path.read_bytes()
    try:
        path.write_bytes(whole[: len(whole) // 2])
        opened(page, map_server, "model=hrrr&region=east&variable=t2m&minutes=120", expected="failed")
        assert "tile" in page.locator("#problem").inner_text()
        page.locator("#hour").fill("1")
        page.wait_for_function("() => document.documentElement.dataset.map === 'ready'")
        assert not page.locator("#problem").is_visible()
        assert point_at(page, 0.5, 0.5)
        page.locator("#hour").fill("2")
        wait_for_map(page, "failed")
        path.write_bytes(whole)
        page.get_by_role("button", name="Try again").click()
        wait_for_map(page)
        assert page.locator("#hour-label").inner_text().startswith("+2 h")
    finally:
        path.write_bytes(whole)


def test_page_without_tiles_explains_how_to_get_them(page: Page, live_server: LiveServer) -> None:
    """On both databases."""
    page.goto(f"{live_server.url}/map")
    page.locator("#empty").wait_for()
    assert "gribmill run" in page.locator("#empty").inner_text()
    assert serious_findings(page) == []


def test_unreachable_server_is_retried_when_the_connection_returns(
    page: Page, map_server: LiveServer, complaints: Complaints
) -> None:
    opened(page, map_server, "model=hrrr&region=east&variable=t2m")
    page.context.set_offline(True)
    page.locator("select[name=region]").evaluate("(one) => one.form.elements.model.value = 'gfs'")
    page.locator("select[name=model]").dispatch_event("change")
    wait_for_map(page, "failed")
    assert page.locator("#problem").inner_text().startswith("The server does not respond.")
    page.context.set_offline(False)
    wait_for_map(page)
    assert not page.locator("#problem").is_visible()
    assert page.locator("figcaption").first.inner_text().startswith("GFS")
    complaints.texts[:] = [text for text in complaints.texts if "ERR_INTERNET_DISCONNECTED" not in text]


def test_removed_tile_is_replaced_by_what_is_available(
    page: Page, map_server: LiveServer, complaints: Complaints
) -> None:
    opened(page, map_server, "model=hrrr&region=east&variable=t2m")
    path = TileFolder(Path(map_server.settings.data), "hrrr", RUN, "east").tile(180)
    assert isinstance(path, Path)
    content = path.read_bytes()
    try:
        path.unlink()
        page.locator("#hour").fill("3")
        page.wait_for_function("() => document.getElementById('note').textContent.includes('was removed')")
        wait_for_map(page)
        assert page.locator("#hour-label").inner_text().startswith("+2 h")
        assert point_at(page, 0.5, 0.5)
    finally:
        path.write_bytes(content)
    complaints.texts[:] = [text for text in complaints.texts if "404" not in text]  # the browser logs the status


def test_a_model_without_this_time_leaves_the_other_on_the_map(page: Page, map_server: LiveServer) -> None:
    path = TileFolder(Path(map_server.settings.data), "gfs", RUN, "east").tile(60)
    assert isinstance(path, Path)
    content = path.read_bytes()
    try:
        path.unlink()
        opened(page, map_server, "model=hrrr&region=east&variable=t2m&compare=side&other=gfs&minutes=60")
        messages = page.locator(".map-message").all_inner_texts()
        assert messages == ["", "GFS has no tile of east for this time."]
        assert point_at(page, 0.5, 0.5)
        page.locator("select[name=compare]").select_option("difference")
        wait_for_map(page)
        assert page.locator(".map-message").first.inner_text() == "GFS has no tile of east for this time."
        page.get_by_role("button", name="Hour after").click()
        page.wait_for_function("() => document.getElementById('hour-label').textContent.startsWith('+2 h')")
        wait_for_map(page)
        assert page.locator(".map-message").first.inner_text() == ""
    finally:
        path.write_bytes(content)
