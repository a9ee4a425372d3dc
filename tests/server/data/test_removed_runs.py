"""A run that is removed while the server still lists it: the answer is from the run that replaced it, or 404."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from gribmill.server.data import tile_routes
from gribmill.server.edr import coverage
from gribmill.settings.schema import Settings
from gribmill.storage.object_path import StoredPath
from gribmill.tiles.read.point import kept_tiles
from gribmill.tiles.read.tile import Tile, read_tile
from tests.server.data.forecast_root import LAT, LON, RUN, list_forecasts, make_forecasts
from tests.server.live_server import LiveServer, serving

OLDEST, OLDER = "20260830_12", "20260831_12"
HOURS = 2
EDR = "/edr/collections/hrrr:boston"
AREA = "POLYGON((-71.4 42.1,-70.9 42.1,-70.9 42.5,-71.4 42.1))"
HOURLY = f"latitude={LAT}&longitude={LON}&hourly=temperature_2m&models=hrrr"
READS = [
    f"/api/v1/point?lat={LAT}&lon={LON}&model=hrrr&vars=t2m",
    f"/api/v1/point?lat={LAT}&lon={LON}&model=hrrr&vars=t2m&method=bilinear",
    f"/api/v1/point?lat={LAT}&lon={LON}&model=hrrr&vars=t2m&run=seamless",
    "/api/v1/area?vars=t2m&model=hrrr&region=boston",
    f"{EDR}/position?coords=POINT({LON} {LAT})&parameter-name=t2m",
    f"{EDR}/area?coords={AREA}&parameter-name=t2m",
    f"{EDR}/cube?bbox=-71.4,42.1,-70.9,42.5&parameter-name=t2m",
]
FORECASTS = [
    f"/v1/forecast?{HOURLY}&start_date=2026-09-02&end_date=2026-09-02",
    f"/v1/forecast?{HOURLY}&start_date=2026-08-31&end_date=2026-09-02",
]
LISTS = ["/api/v1/runs/latest?model=hrrr", "/api/v1/models/hrrr/meta.json", EDR, "/edr/collections"]


Publish = Callable[..., None]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root with every run. Tests copy runs from here, because making their tiles takes longer."""
    root = tmp_path_factory.mktemp("made")
    for run in (OLDEST, OLDER, RUN):
        make_forecasts(root, run, hours=HOURS)
    return root


@pytest.fixture
def publish(made: Path, tmp_path: Path) -> Publish:
    def copy(*runs: str) -> None:
        for run in runs:
            for model in ("hrrr", "gfs"):
                shutil.copytree(made / "tiles" / model / run, tmp_path / "tiles" / model / run)
            list_forecasts(tmp_path, run, HOURS)

    return copy


@pytest.fixture
def server(publish: Publish, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveServer]:
    """It lists folders only once, as if all requests came within a second."""
    monkeypatch.setattr(kept_tiles, "LOOK_SECONDS", 600.0)
    publish(OLDEST, OLDER)
    with serving(Settings(data=tmp_path)) as found:
        yield found


@pytest.fixture
def client(server: LiveServer) -> Iterator[httpx.Client]:
    with server.client() as found:
        yield found


def remove(server: LiveServer, *runs: str) -> None:
    for run in runs:
        for model in ("hrrr", "gfs"):
            shutil.rmtree(server.settings.data_root / "tiles" / model / run)


@pytest.mark.parametrize("path", READS + FORECASTS)
def test_answer_is_from_the_newer_run(server: LiveServer, publish: Publish, client: httpx.Client, path: str) -> None:
    assert OLDER in client.get(path).text + json.dumps(dict(client.get(path).headers))
    publish(RUN)
    remove(server, OLDER, OLDEST)
    answer = client.get(path.replace("=t2m", "=sp").replace("temperature_2m", "surface_pressure"))
    assert answer.status_code == 200, answer.text
    assert RUN in answer.text + json.dumps(dict(answer.headers))
    assert OLDER not in answer.text


@pytest.mark.parametrize("path", READS + FORECASTS + LISTS)
def test_answer_is_from_the_newer_run_though_nothing_was_read_yet(
    server: LiveServer, publish: Publish, client: httpx.Client, path: str
) -> None:
    """The choice of the run is known, but its folder was not listed."""
    for query in ("model=hrrr", "model=hrrr&run=seamless", ""):
        assert client.get(f"/api/v1/point?lat=10&lon=10&{query}").status_code == 404
    publish(RUN)
    remove(server, OLDER, OLDEST)
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    assert RUN in answer.text + json.dumps(dict(answer.headers))


@pytest.mark.parametrize("path", READS)
def test_a_run_without_a_newer_one_is_not_found(server: LiveServer, client: httpx.Client, path: str) -> None:
    assert client.get(path).status_code == 200
    remove(server, OLDER, OLDEST)
    answer = client.get(path.replace("=t2m", "=sp").replace("temperature_2m", "surface_pressure"))
    assert answer.status_code == 404, answer.text
    assert str(server.settings.data_root) not in answer.text


@pytest.mark.parametrize("query", [f"position?coords=POINT({LON} {LAT})", "cube?bbox=-71.4,42.1,-70.9,42.5"])
def test_a_removed_instance_is_not_found(
    server: LiveServer, publish: Publish, client: httpx.Client, query: str
) -> None:
    path = f"{EDR}/instances/{OLDER}/{query}"
    assert client.get(f"{path}&parameter-name=t2m").status_code == 200
    publish(RUN)
    remove(server, OLDER)
    assert client.get(f"{path}&parameter-name=sp").status_code == 404


def test_a_run_may_be_removed_between_two_reads_of_a_tile(
    server: LiveServer, publish: Publish, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tile is opened, and its values are read later."""
    publish(RUN)

    def opened(path: StoredPath, like: Tile) -> Tile:
        tile = read_tile(path, like)
        shutil.rmtree(server.settings.data_root / "tiles" / "hrrr" / RUN, ignore_errors=True)
        return tile

    monkeypatch.setattr(coverage, "read_tile", opened)
    answer = client.get(f"{EDR}/cube?bbox=-71.4,42.1,-70.9,42.5&parameter-name=t2m")
    assert (answer.status_code, answer.headers.get("gribmill-run")) == (200, OLDER), answer.text


@pytest.mark.parametrize("shape", ["npz", "json", "png", "arrow"])
def test_a_tile_removed_during_its_request_is_not_found(
    server: LiveServer, client: httpx.Client, monkeypatch: pytest.MonkeyPatch, shape: str
) -> None:
    def removed(*_: object) -> dict[str, str]:
        remove(server, OLDER)
        return {}

    monkeypatch.setattr(tile_routes, "run_headers", removed)
    answer = client.get(f"/api/v1/tiles/hrrr/{OLDER}/boston/001.{shape}")
    assert (answer.status_code, str(server.settings.data_root) in answer.text) == (404, False), answer.text
