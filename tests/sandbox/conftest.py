"""One small mirror for all tests here: three models, a few hours, thinned grids."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sandbox.making import make


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with hours of HRRR, GFS and IFS. Tests must not write into it."""
    folder = tmp_path_factory.mktemp("mirror")
    make(folder, ("hrrr", "gfs", "ifs"), "0, 1, 3, 24", coarse=20)
    return folder


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bypass a proxy configured on this machine."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
