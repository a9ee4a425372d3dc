"""The map reads tiles through the server with the user's session, wherever the tiles are stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np
import pytest

from gribmill.catalogue.events import RunSeen, TileBuilt
from gribmill.catalogue.reads import Catalogue
from gribmill.identity import RunRef, TileRef
from gribmill.settings.schema import ServerSettings, Settings, StoreSettings
from gribmill.storage.object_path import ObjectPath
from gribmill.tiles.read.tile import read_tile
from tests.console.map.forecast_root import HOURS, RUN, make_forecasts
from tests.console.map.visit import cells_of, opened, wait_for_map
from tests.server.live_server import LiveServer, serving
from tests.servers.chromium import Complaints

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.process

BEHIND_PROXY = ServerSettings(behind_proxy=True, hosts=("127.0.0.1",))  # then reading needs a token


@pytest.fixture
def store_server(tmp_path: Path, prefix: ObjectPath) -> Iterator[LiveServer]:
    """A server with tiles in an object store that requires authentication."""
    make_forecasts(tmp_path / "made")
    for path in sorted((tmp_path / "made" / "tiles").rglob("hrrr/*/*/*.npz")):
        ObjectPath(prefix.bucket, f"{prefix.key}/{path.relative_to(tmp_path / 'made')}").write([path.read_bytes()])
    store = StoreSettings(endpoint=prefix.bucket.options.endpoint)
    settings = Settings(data=tmp_path / "data", tiles=f"{prefix}/tiles", store=store, server=BEHIND_PROXY)
    with serving(settings) as started:
        catalogue = Catalogue(started.store.database)
        catalogue.record([RunSeen(RunRef("hrrr", RUN), HOURS)])
        catalogue.record([TileBuilt(TileRef("hrrr", RUN, hour, "east"), 10) for hour in HOURS])
        yield started


def log_in(page: Page, server: LiveServer, token: str) -> None:
    page.goto(f"{server.url}/login")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{server.url}/")


def test_a_session_reads_tiles_of_an_object_store(
    page: Page, store_server: LiveServer, tmp_path: Path, complaints: Complaints
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    log_in(page, store_server, store_server.token("tenant_viewer", "acme"))
    opened(page, store_server, "model=hrrr&region=east&variable=t2m&minutes=60")
    values = read_tile(tmp_path / "made" / "tiles" / "hrrr" / RUN / "east" / "001.npz").read("t2m")
    found = list(cells_of(page))
    assert len(found) > 8
    for row, column, value in found:
        assert value == values[row, column] or (np.isnan(value) and np.isnan(values[row, column]))
    assert {urlsplit(url).netloc for url in asked} == {urlsplit(store_server.url).netloc}
    page.context.clear_cookies()
    page.get_by_role("button", name="Hour after").click()
    wait_for_map(page, "failed")
    assert page.locator("#problem").inner_text().startswith("You are no longer logged in. Log in")
    complaints.texts[:] = [text for text in complaints.texts if "401" not in text]  # the browser logs the status
