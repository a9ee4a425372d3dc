"""A server with a run that began before midnight, and a clock that stands shortly after it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Self

import httpx
import pytest

from gribmill.identity import run_id
from gribmill.settings.schema import Settings
from tests.server.data.forecast_root import make_forecasts
from tests.server.live_server import LiveServer, serving

# UTC has another day, month and year than New York.
NOW = datetime(2027, 1, 1, 0, 20, tzinfo=UTC)


class FixedTime(datetime):
    """The clock of the server: two requests of a test may not differ because an hour or a day has ended."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls.fromtimestamp(NOW.timestamp(), tz)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gribmill.server.openmeteo.routes.datetime", FixedTime)


@pytest.fixture(scope="module")
def begin() -> datetime:
    """The start of the run: some hours ago, so that it includes the current hour."""
    return NOW.replace(minute=0) - timedelta(hours=3)


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
