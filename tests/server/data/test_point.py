"""Point forecasts over HTTP equal those of `gribmill point`, whatever is cached between requests."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from click.testing import CliRunner

from gribmill.cli.main import cli
from gribmill.storage.layout import DataRoot
from gribmill.tiles.errors import TileError
from gribmill.tiles.read.point import kept_tiles
from gribmill.tiles.read.point.kept_tiles import KeptTiles, NotKept, OnlyKept
from gribmill.tiles.read.point.place import place_at
from gribmill.tiles.read.point.point import PointRequest, forecasts
from tests.server.data.forecast_root import HOURS, LAT, LON, RUN, fields, make_forecasts
from tests.tiles.make_tile import HRRR, make_tile

PLACE = {"lat": LAT, "lon": LON}
MEMORY = 2**25


def command(root: Path, *options: str) -> dict[str, Any]:
    result = CliRunner().invoke(cli, ["--data", str(root), "point", str(LAT), str(LON), "--json", *options])
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ({}, []),
        ({"vars": "t2m,ws10,wdir10,tp", "units": "us"}, ["--vars", "t2m,ws10,wdir10,tp", "--units", "us"]),
        ({"vars": "t2m,tp_3h", "method": "bilinear"}, ["--vars", "t2m,tp_3h", "--method", "bilinear"]),
        ({"model": "gfs", "units": "si"}, ["--model", "gfs", "--units", "si"]),
        ({"run": "seamless", "tz": "America/New_York"}, ["--run", "seamless", "--tz", "America/New_York"]),
    ],
)
def test_values_equal_those_of_the_command(
    client: httpx.Client, forecast_root: Path, query: dict[str, str], options: list[str]
) -> None:
    expected = command(forecast_root, *options)
    for _ in range(2):  # read, then cached
        answer = client.get("/api/v1/point", params={**PLACE, **query})
        assert answer.status_code == 200, answer.text
        found = answer.json()
        assert found.pop("built_at") is not None
        assert found.pop("ingested_at") is None  # these tiles were not downloaded by the chain
        assert found == expected


def test_missing_values_are_null_and_not_zero(client: httpx.Client) -> None:
    found = client.get("/api/v1/point", params={**PLACE, "vars": "d2m,tp"}).json()
    assert [hour["d2m"] is None for hour in found["hours"]] == [False, False, False, True, False, False, False]
    assert found["hours"][0]["tp"] is None
    assert [hour["tp"] for hour in found["hours"][1:]] == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
    assert (found["run_choice"]["complete"], found["run_choice"]["hours"]) == (True, HOURS)


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ({"lat": 91, "lon": 0}, 422, "query.lat"),
        ({"lat": "nan", "lon": 0}, 422, "query.lat"),
        ({"lat": 10, "lon": 10}, 404, "none of the regions contains it"),
        ({**PLACE, "vars": "no_such"}, 404, "has no no_such; it has"),
        ({**PLACE, "vars": "../etc"}, 422, "not a variable"),
        ({**PLACE, "vars": ","}, 422, "empty"),
        ({**PLACE, "vars": ",".join(f"v{n}" for n in range(61))}, 422, "more than 60"),
        ({**PLACE, "run": "yesterday"}, 422, "not a run"),
        ({**PLACE, "run": "20200101_00"}, 404, "no tile"),
        ({**PLACE, "tz": "Mars/Base"}, 422, "no time zone"),
        ({**PLACE, "model": "../x"}, 422, "query.model"),
    ],
)
def test_invalid_requests_get_one_sentence_without_server_paths(
    client: httpx.Client, forecast_root: Path, query: dict[str, Any], status: int, words: str
) -> None:
    answer = client.get("/api/v1/point", params=query)
    assert answer.status_code == status
    assert words in answer.json()["detail"]
    assert str(forecast_root) not in answer.text


def test_cached_values_are_returned_without_reading(forecast_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_tiles, "LOOK_SECONDS", 600.0)
    root = DataRoot(forecast_root)
    kept = KeptTiles(root, MEMORY)
    request = PointRequest(root, variables=("t2m", "tp", "ws10"))
    place = place_at(LAT, LON)
    with pytest.raises(NotKept):
        forecasts([place], request, OnlyKept(kept))
    first = forecasts([place], request, kept)
    assert repr(forecasts([place], request, OnlyKept(kept))) == repr(first) == repr(forecasts([place], request))


def test_a_tile_that_is_replaced_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_tiles, "LOOK_SECONDS", 0.0)
    make_forecasts(tmp_path, hours=2)
    root = DataRoot(tmp_path)
    kept = KeptTiles(root, MEMORY)
    request = PointRequest(root, model="hrrr", variables=("t2m",), units="si")
    forecasts([place_at(LAT, LON)], request, kept)
    make_tile(tmp_path, {**fields(HRRR, 1), "t2m": (300.0, {})}, run=RUN, minutes=60)
    (found,) = forecasts([place_at(LAT, LON)], request, kept)
    assert not isinstance(found, Exception)
    assert found.columns["t2m"].values[1] == 300.0


def test_a_damaged_hour_is_an_empty_row_with_a_note(tmp_path: Path) -> None:
    make_forecasts(tmp_path, hours=3)
    broken = tmp_path / f"tiles/hrrr/{RUN}/boston/001.npz"
    broken.write_bytes(broken.read_bytes()[:-40])
    root = DataRoot(tmp_path)
    request = PointRequest(root, model="hrrr", variables=("t2m",))
    place = place_at(LAT, LON)
    (found,) = forecasts([place], request, KeptTiles(root, MEMORY))
    assert not isinstance(found, Exception)
    assert np.isnan(found.columns["t2m"].values[1])
    assert repr([found]) == repr(forecasts([place], request))


def test_seamless_forecast_whose_runs_were_all_removed_is_refused(tmp_path: Path) -> None:
    for hour in range(2):
        make_forecasts(tmp_path, f"20260901_{12 + hour}", hours=1)
    root = DataRoot(tmp_path)
    request = PointRequest(root, model="hrrr", run="seamless")
    kept = KeptTiles(root, MEMORY)
    (chosen,) = kept.candidates(request)
    assert len(chosen.choice.folders) == 2
    shutil.rmtree(tmp_path / "tiles" / "hrrr")
    with pytest.raises(TileError, match="the run was removed"):
        forecasts([place_at(LAT, LON)], request, kept)


def test_cached_values_stay_below_their_limit(forecast_root: Path) -> None:
    root = DataRoot(forecast_root)
    kept = KeptTiles(root, limit_bytes=100_000)
    for lat in np.linspace(41.9, 42.9, 12):
        for variables in (("t2m",), ("sp",), ("tcc", "u10")):
            request = PointRequest(root, model="hrrr", variables=variables)
            place = place_at(float(lat), LON)
            assert repr(forecasts([place], request, kept)) == repr(forecasts([place], request))
    assert 0 < kept.bytes_kept <= 100_000


def test_layouts_stay_below_their_limit_whatever_columns_clients_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_tiles, "MOST_LAYOUTS", 3)
    for hour in range(2):
        make_forecasts(tmp_path, f"20260901_{12 + hour}", hours=1)
    root = DataRoot(tmp_path)
    kept = KeptTiles(root, MEMORY)
    for run in ("20260901_12", "20260901_13"):
        for variables in itertools.permutations(("t2m", "sp", "tcc")):
            request = PointRequest(root, model="hrrr", run=run, variables=variables)
            assert repr(forecasts([place_at(LAT, LON)], request, kept)) == repr(
                forecasts([place_at(LAT, LON)], request)
            )
            assert 0 < kept.layouts_kept <= 3


def test_without_a_cache_every_response_is_read_and_correct(forecast_root: Path) -> None:
    root = DataRoot(forecast_root)
    kept = KeptTiles(root, limit_bytes=0)
    request = PointRequest(root, model="hrrr", variables=("t2m", "tp"))
    for _ in range(2):
        assert repr(forecasts([place_at(LAT, LON)], request, kept)) == repr(forecasts([place_at(LAT, LON)], request))
    assert kept.bytes_kept == 0


def test_least_recently_opened_folders_are_evicted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_tiles, "LEAST_TILES", 4)
    for hour in range(4):
        make_forecasts(tmp_path, f"20260901_{12 + hour}", hours=2)
    root = DataRoot(tmp_path)
    kept = KeptTiles(root, limit_bytes=0)
    states = [kept.folder(one) for one in root.tile_folders("hrrr")]
    assert len(states) == 4
    assert kept.open_tiles == 4
    assert kept.folder(next(iter(root.tile_folders("hrrr")))) is not states[0]
