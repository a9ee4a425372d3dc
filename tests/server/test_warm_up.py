"""Once a server accepts requests, it reads what the first page would have to wait for."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from fastapi import FastAPI

from gribmill.console import render
from gribmill.console.extension import CONSOLE
from gribmill.settings.schema import Settings
from tests.server.live_server import serving


def test_overview_is_read_before_the_first_request(tmp_path: Path) -> None:
    read = threading.Event()
    apps: list[FastAPI] = []
    render.environment.cache_clear()

    def warm_up(app: FastAPI) -> None:
        assert CONSOLE.warm_up is not None
        CONSOLE.warm_up(app)
        apps.append(app)
        read.set()

    with serving(Settings(data=tmp_path), warm_up=warm_up) as server:
        assert read.wait(60)
        assert apps[0].state.console_weather.get().statuses == ()
        assert [name for _, name in render.environment().cache or ()].count("overview.html") == 1
        with server.client() as client:
            assert client.get("/").status_code == 200


def test_failed_warm_up_does_not_end_the_server(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tried = threading.Event()

    def warm_up(app: FastAPI) -> None:
        tried.set()
        raise OSError("the disk is gone")

    with serving(Settings(data=tmp_path), warm_up=warm_up) as server:
        assert tried.wait(60)
        with server.client() as client:
            assert client.get("/healthz").status_code == 200
            assert client.get("/").status_code == 200
    assert "the disk is gone" in caplog.text
