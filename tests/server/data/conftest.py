"""A server over small forecasts, shared by the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from gribmill.settings.schema import Settings
from tests.server.data.forecast_root import make_forecasts
from tests.server.live_server import LiveServer, serving


@pytest.fixture(scope="module")
def forecast_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("forecasts")
    make_forecasts(root)
    return root


@pytest.fixture(scope="module")
def forecast_server(forecast_root: Path) -> Iterator[LiveServer]:
    with serving(Settings(data=forecast_root)) as server:
        yield server


@pytest.fixture(scope="module")
def client(forecast_server: LiveServer) -> Iterator[httpx.Client]:
    with forecast_server.client() as found:
        yield found
