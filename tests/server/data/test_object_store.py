"""Tiles in an object store are served like those on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from gribmill.settings.schema import Settings, StoreSettings
from gribmill.storage.object_path import ObjectPath
from tests.server.data.forecast_root import HOURS, LAT, LON, RUN, make_forecasts
from tests.server.live_server import serving

pytestmark = pytest.mark.process


def test_points_and_tiles_are_read_from_the_store(tmp_path: Path, prefix: ObjectPath) -> None:
    local = tmp_path / "local"
    make_forecasts(local)
    for path in sorted((local / "tiles").rglob("*.*")):
        (prefix / path.relative_to(local / "tiles").as_posix()).write([path.read_bytes()])
    store = StoreSettings(endpoint=prefix.bucket.options.endpoint)
    remote = Settings(data=tmp_path / "data", tiles=str(prefix), store=store)
    query = {"lat": str(LAT), "lon": str(LON), "vars": "t2m,tp,ws10"}
    forecast = {"latitude": str(LAT), "longitude": str(LON), "hourly": "temperature_2m,precipitation"}
    day = {"start_date": "2026-09-01", "end_date": "2026-09-01"}
    with serving(remote) as server, server.client() as client, serving(Settings(data=local)) as near:
        found = [client.get("/api/v1/point", params=query).json() for _ in range(2)]
        meteo = client.get("/v1/forecast", params={**forecast, **day}).json()
        address = f"/api/v1/tiles/hrrr/{RUN}/boston/003.npz"
        whole, part = client.get(address), client.get(address, headers={"Range": "bytes=100-199"})
        (latest,) = client.get("/api/v1/runs/latest", params={"model": "hrrr"}).json()
        final = client.get(latest["tiles"][3])
        again = client.get(address, headers={"If-None-Match": whole.headers["etag"]})
        assert client.get(address.replace("003", "099")).status_code == 404
        with near.client() as disk:
            expected = disk.get("/api/v1/point", params=query).json()
            assert meteo["hourly"] == disk.get("/v1/forecast", params={**forecast, **day}).json()["hourly"]
    for one in (*found, expected):
        assert one.pop("built_at") is not None
    assert found == [expected, expected]
    content = (local / f"tiles/hrrr/{RUN}/boston/003.npz").read_bytes()
    assert whole.content == final.content == content
    assert (part.status_code, part.content, again.status_code) == (206, content[100:200], 304)
    assert "immutable" in final.headers["cache-control"]
    assert (latest["hours"], latest["complete"]) == (HOURS, True)
