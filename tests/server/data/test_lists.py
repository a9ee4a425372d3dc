"""Models, regions, runs and their completeness, freshness, and statistics of areas."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any, Self

import httpx
import numpy as np
import pytest
from click.testing import CliRunner

from gribmill.catalogue.events import HourIngested, RunSeen, TileBuilt
from gribmill.catalogue.reads import Catalogue
from gribmill.cli.main import cli
from gribmill.identity import HourRef, RunRef, TileRef
from gribmill.pipeline.job_types import ingest_job
from gribmill.pipeline.status.health import OF_FORECASTS
from gribmill.settings.schema import ChainSettings, Settings
from gribmill.tiles.read.tile import read_tile
from tests.server.data.forecast_root import HOURS, RUN, make_forecasts
from tests.server.live_server import serving


def ingested(hour: HourRef) -> HourIngested:
    return HourIngested(hour, "aws", "https://x/y", None, 1, 1, 1, "0" * 64, ("t2m",), (), ("boston",), ("boston",))


def test_models_with_tiles_and_regions_are_listed(client: httpx.Client) -> None:
    here = client.get("/api/v1/models", params={"here": True}).json()
    assert {one["model"] for one in here} == {"hrrr", "gfs"}
    assert len(client.get("/api/v1/models").json()) > 2
    assert "ne" in {one["name"] for one in client.get("/api/v1/regions").json()}


def test_runs_of_the_catalogue_list_what_each_region_lacks(tmp_path: Path) -> None:
    run = RunRef("hrrr", RUN)
    with serving(Settings(data=tmp_path)) as server, server.client() as client:
        catalogue = Catalogue(server.store.database)
        hours = [HourRef("hrrr", RUN, hour) for hour in (0, 1, 2)]
        catalogue.record([RunSeen(run, (0, 1, 2)), *(ingested(hour) for hour in hours)])
        folder = tmp_path / f"tiles/hrrr/{RUN}/boston"
        folder.mkdir(parents=True)
        for hour in (0, 2):
            (folder / f"00{hour}.npz").write_bytes(bytes(10))
        catalogue.record([TileBuilt(TileRef("hrrr", RUN, hour, "boston"), 10) for hour in (0, 2)])
        (found,) = client.get("/api/v1/runs", params={"model": "hrrr"}).json()
        (region,) = found["regions"]
        assert (found["state"], region["complete"], region["missing"]) == ("arriving", False, [1])
        assert (region["hours"], region["hours_expected"], region["bytes"]) == (2, 3, 20)
        (folder / "001.npz").write_bytes(bytes(10))
        catalogue.record([TileBuilt(TileRef("hrrr", RUN, 1, "boston"), 10)])
        ((region,),) = (one["regions"] for one in client.get("/api/v1/runs").json())
        assert (region["complete"], region["missing"]) == (True, [])
        (folder / "002.npz").unlink()
        ((region,),) = (one["regions"] for one in client.get("/api/v1/runs").json())
        assert (region["complete"], region["missing"], region["hours"]) == (False, [2], 2)
        assert client.get("/api/v1/runs", params={"before": RUN}).json() == []


def test_tiles_not_in_the_catalogue_are_listed_from_the_disk(client: httpx.Client) -> None:
    found = client.get("/api/v1/runs", params={"model": "hrrr"}).json()
    assert [(one["run"], one["regions"][0]["hours"]) for one in found] == [(RUN, HOURS)]
    assert found[0]["regions"][0]["complete"] is None


def test_latest_complete_run_excludes_one_still_arriving(tmp_path: Path) -> None:
    make_forecasts(tmp_path, hours=2)
    newer = "20260901_13"
    source = tmp_path / f"tiles/hrrr/{RUN}/boston/000.npz"
    target = tmp_path / f"tiles/hrrr/{newer}/boston/000.npz"
    target.parent.mkdir(parents=True)
    target.write_bytes(source.read_bytes())
    latest = tmp_path / "tiles/hrrr/latest.json"
    content = json.loads(latest.read_text())
    content["regions"]["boston"]["newest"] = newer
    latest.write_text(json.dumps(content))
    with serving(Settings(data=tmp_path)) as server, server.client() as client:
        (complete,) = client.get("/api/v1/runs/latest", params={"model": "hrrr", "complete": True}).json()
        assert (complete["run"], complete["complete"], complete["newer_run"]) == (RUN, True, newer)
        (newest,) = client.get("/api/v1/runs/latest", params={"model": "hrrr", "complete": False}).json()
        assert (newest["run"], newest["complete"], newest["hours"]) == (newer, False, 1)
        latest.unlink()
        (tmp_path / "tiles/gfs/latest.json").unlink()
        answer = client.get("/api/v1/runs/latest", params={"model": "gfs"})
        assert answer.status_code == 404
        assert "no run of gfs is complete" in answer.json()["detail"]


def test_update_times_use_the_names_of_open_meteo(client: httpx.Client) -> None:
    for address in ("/data/hrrr/static/meta.json", "/api/v1/models/hrrr/meta.json"):
        found = client.get(address).json()
        assert found["last_run_initialisation_time"] == 1788264000
        assert found["data_end_time"] == 1788264000 + 3600 * (HOURS - 1)
        assert (found["temporal_resolution_seconds"], found["update_interval_seconds"]) == (3600, 3600)
    assert client.get("/data/nothing/static/meta.json").status_code == 404
    assert client.get("/data/ifs/static/meta.json").json()["last_run_initialisation_time"] is None


class FixedTime(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls.fromtimestamp(1_800_000_000, tz)


def test_status_equals_that_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gribmill.pipeline.status.overview.datetime", FixedTime)  # no run may fall due in between
    settings = Settings(data=tmp_path, chain=ChainSettings(models=("hrrr",), regions=("ne",)))
    (tmp_path / "gribmill.toml").write_text('[chain]\nmodels = ["hrrr"]\nregions = ["ne"]\n')
    with serving(settings) as server, server.client() as client:
        found = client.get("/api/v1/status").json()
        shown = CliRunner().invoke(
            cli, ["--data", str(tmp_path), "--config", str(tmp_path / "gribmill.toml"), "status", "--json"]
        )
        expected = json.loads(shown.stdout)
    for one in (*found, *expected):
        one["health"].pop("disk_free")
    assert found == expected
    assert found[0]["freshness"][0]["cause"] == "no worker"


def test_status_for_a_tenant_names_no_jobs_and_no_problems_of_operators(tmp_path: Path) -> None:
    now = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    run = RunRef("hrrr", f"{now - timedelta(hours=3):%Y%m%d_%H}")
    with serving(Settings(data=tmp_path, chain=ChainSettings(models=("hrrr",), regions=("ne",)))) as server:
        Catalogue(server.store.database).record([RunSeen(run, (0, 1))])
        server.store.jobs.enqueue(ingest_job(HourRef("hrrr", run.run_id, 0), live=True))
        server.store.reservations.reserve("somebody at work", 600)
        with server.client() as client:
            (whole,) = client.get("/api/v1/status").json()
        with server.client(server.token("tenant_viewer", "acme")) as client:
            (partial,) = client.get("/api/v1/status").json()
    assert {"no worker", "reserved"} <= {one["kind"] for one in whole["health"]["problems"]}
    assert {one["kind"] for one in partial["health"]["problems"]} <= OF_FORECASTS
    assert any(one["job"] for run in whole["runs"] for one in run["missing"])
    assert partial["runs"]
    assert not any(one["job"] for run in partial["runs"] for one in run["missing"])


@pytest.mark.parametrize(("query", "box"), [({"region": "boston"}, None), ({"bbox": "-71.5,42,-71,42.5"}, True)])
def test_statistics_of_an_area_match_its_points(
    client: httpx.Client, forecast_root: Path, query: dict[str, Any], box: bool | None
) -> None:
    answer = client.get(
        "/api/v1/area",
        params={"vars": "t2m,ws10,d2m,tp", "model": "hrrr", "units": "si", "percentiles": "5,50", **query},
    )
    assert answer.status_code == 200, answer.text
    found = answer.json()
    tile = read_tile(forecast_root / f"tiles/hrrr/{RUN}/boston/003.npz")
    lat, lon = tile.latlon()
    inside = np.ones(tile.shape, bool)
    if box:
        inside = (lat >= 42) & (lat <= 42.5) & (lon >= -71.5) & (lon <= -71)
    hour = found["hours"][3]["variables"]
    values = tile.read("t2m")[inside].astype(np.float64)
    assert (hour["t2m"]["min"], hour["t2m"]["max"]) == (values.min(), values.max())
    assert hour["t2m"]["mean"] == pytest.approx(values.mean(), rel=1e-12)
    assert hour["t2m"]["percentiles"]["5"] == pytest.approx(np.percentile(values, 5))
    speed = np.hypot(tile.read("u10"), tile.read("v10"))[inside]
    assert hour["ws10"]["max"] == pytest.approx(float(speed.max()), rel=1e-6)
    assert (hour["d2m"]["mean"], hour["d2m"]["missing"]) == (None, int(inside.sum()))
    assert (hour["tp"]["window_minutes"], hour["tp"]["max"]) == ([0, 180], 4.5)
    assert found["hours"][0]["variables"]["tp"] is None
    assert (found["complete"], found["points"]) == (True, int(inside.sum()))


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ({"vars": "t2m"}, 422, "give a region"),
        ({"vars": "t2m", "bbox": "1,2,3"}, 422, "four numbers"),
        ({"vars": "t2m", "bbox": "0,0,1,1"}, 404, "grid point in that box"),
        ({"vars": "none", "region": "boston"}, 404, "has no none"),
        ({"vars": "t2m", "region": "texas"}, 404, "there are no tiles of texas"),
        ({"vars": "t2m", "region": "boston", "percentiles": "5,500"}, 422, "percentiles"),
        ({"vars": "a,b,c,d,e,f,g,h,i", "region": "boston"}, 422, "more than 8"),
    ],
)
def test_invalid_areas_are_refused_with_the_reason(
    client: httpx.Client, query: dict[str, str], status: int, words: str
) -> None:
    answer = client.get("/api/v1/area", params=query)
    assert (answer.status_code, words in answer.json()["detail"]) == (status, True), answer.text
