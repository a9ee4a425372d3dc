"""A server whose forecasts began this morning."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from gribmill.identity import run_id
from gribmill.settings.schema import Settings
from tests.server.data.forecast_root import make_forecasts
from tests.server.live_server import LiveServer, serving


@pytest.fixture(scope="module")
def begin() -> datetime:
    """The start of the run: some hours ago, so that it includes the current hour."""
    return datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=3)


@pytest.fixture(scope="module")
def forecast_root(tmp_path_factory: pytest.TempPathFactory, begin: datetime) -> Path:
    root = tmp_path_factory.mktemp("forecasts")
    make_forecasts(root, run_id(begin))
    return root


@pytest.fixture(scope="module")
def forecast_server(forecast_root: Path) -> Iterator[LiveServer]:
    with serving(Settings(data=forecast_root)) as server:
        yield server


@pytest.fixture(scope="module")
def client(forecast_server: LiveServer) -> Iterator[httpx.Client]:
    with forecast_server.client() as found:
        yield found
