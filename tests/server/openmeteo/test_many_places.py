"""`/v1/forecast` for many places: each gets what it would get alone, although they are read together."""

from __future__ import annotations

import json
import math
import random
import re
import shutil
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from openmeteo_sdk.WeatherApiResponse import WeatherApiResponse

from gribmill.kernel import native
from gribmill.server.openmeteo import answer, binary, routes
from gribmill.server.openmeteo.answer import AnswerColumn
from gribmill.server.openmeteo.json_text import number_rows
from gribmill.server.openmeteo.rounded import rounded
from gribmill.server.openmeteo.variables import hourly_variable
from gribmill.settings.schema import Settings
from gribmill.storage.layout import DataRoot
from gribmill.tiles.read.point import kept_tiles
from gribmill.tiles.read.point.kept_tiles import KeptTiles, NotKept, OnlyKept
from gribmill.tiles.read.point.place import Place
from gribmill.tiles.read.point.point import PointRequest, forecasts
from tests.kernel.both_decoders import needs_kernel
from tests.server.data.forecast_root import NEW_ENGLAND, RUN, SUM, fields, make_forecasts
from tests.server.live_server import serving
from tests.tiles.make_tile import GFS, Fields, make_tile

HOURLY = "temperature_2m,relative_humidity_2m,wind_speed_10m,wind_direction_10m,precipitation,cloud_cover,is_day,rain"
DAILY = "temperature_2m_max,precipitation_sum,wind_direction_10m_dominant,sunrise"
# Some are only in the coarser model, two have the same grid point.
PLACES = [(42.36, -71.06), (44.5, -73.2), (42.5, -71.3), (41.9, -70.9), (40.5, -69.0), (42.36, -71.061), (45.0, -74.0)]
SPENT = re.compile(r'"(generationtime_ms|location_id)":[^,]+,')


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of two models; one more with steps of three hours, holes, and sums of several lengths."""
    found = tmp_path_factory.mktemp("forecasts")
    make_forecasts(found, "20260901_09")
    make_forecasts(found, RUN)
    for hour in (1, 2, 3, 6, 9, 12):
        random_numbers = np.random.default_rng(hour)
        holes = np.where(random_numbers.uniform(size=GFS.shape) < 0.3, np.nan, hour).astype(np.float32)
        bucket = {**SUM, "step_minutes": ((hour - 1) // 6 * 360, 60 * hour)}
        more: Fields = {"tp_bucket": (holes, bucket), "orog": (100 * holes, {"units": "m", "long_name": "Orography"})}
        make_tile(found, {**fields(GFS, hour), **more}, grid=GFS, region=NEW_ENGLAND, model="gefs", minutes=60 * hour)
    return found


@pytest.fixture(scope="module")
def client(root: Path) -> Iterator[httpx.Client]:
    with serving(Settings(data=root)) as server, server.client() as found:
        yield found


def ask(client: httpx.Client, places: list[tuple[float, float]], **query: str) -> str:
    lat, lon = (",".join(str(place[axis]) for place in places) for axis in (0, 1))
    answer = client.get("/v1/forecast", params={"latitude": lat, "longitude": lon, **query})
    assert answer.status_code == 200, answer.text
    return SPENT.sub("", answer.text)


@pytest.mark.parametrize(
    "query",
    [
        {"hourly": HOURLY, "start_date": "2026-09-01", "end_date": "2026-09-02"},
        {"hourly": HOURLY, "daily": DAILY, "start_date": "2026-09-01", "end_date": "2026-09-01", "timezone": "auto"},
        {"minutely_15": "temperature_2m,precipitation", "start_date": "2026-09-01", "end_date": "2026-09-01"},
        {"hourly": HOURLY, "models": "gefs", "start_date": "2023-07-22", "end_date": "2023-07-22", "elevation": "50"},
    ],
)
def test_many_places_get_the_same_as_one_at_a_time(client: httpx.Client, query: dict[str, str]) -> None:
    together = ask(client, PLACES, **query)
    assert together == f"[{','.join(ask(client, [place], **query) for place in PLACES)}]"


def test_several_models_are_read_for_places_in_parts(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer, "MOST_TOGETHER", 2)
    inside = [PLACES[number] for number in (0, 2, 3, 5, 0)]
    query = {"hourly": HOURLY, "daily": DAILY, "models": "hrrr,gfs", "timezone": "America/St_Johns"}
    query |= {"start_date": "2026-08-31", "end_date": "2026-09-02"}
    together = ask(client, inside, **query)
    assert together == f"[{','.join(ask(client, [place], **query) for place in inside)}]"


def test_large_responses_are_made_in_a_thread(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    threads, make = list[threading.Thread](), answer.place_answers

    def making(*given: Any) -> Any:
        threads.append(threading.current_thread())
        return make(*given)

    monkeypatch.setattr(routes, "place_answers", making)
    query = {"hourly": HOURLY, "start_date": "2026-09-01", "end_date": "2026-09-02"}
    alone = [ask(client, [place], **query) for place in PLACES * 2]
    # The last one may have been made in a thread, because the listing of the tiles was too old.
    of_server = threads[0]
    assert ask(client, PLACES * 8, **query) == f"[{','.join(alone * 4)}]"
    assert threads[-1] is not of_server


def test_tiles_under_wrong_names_do_not_hide_others(tmp_path: Path) -> None:
    make_forecasts(tmp_path)
    folder = tmp_path / f"tiles/hrrr/{RUN}/boston"
    query = {"hourly": "temperature_2m", "start_hour": "2026-09-01T13:00", "end_hour": "2026-09-01T14:00"}
    with serving(Settings(data=tmp_path)) as server, server.client() as client:
        expected = ask(client, PLACES[:1], **query)
    for path in folder.glob("00[3-6].npz"):
        path.unlink()
    shutil.copy(folder / "002.npz", folder / "000.npz")
    with serving(Settings(data=tmp_path)) as server, server.client() as client:
        assert hourly(ask(client, PLACES[:1], **query)) == hourly(expected)


def hourly(text: str) -> Any:
    return json.loads(text)["hourly"]


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_infinite_values_are_missing_in_every_format(tmp_path: Path, value: float) -> None:
    facts = {name: one for name, (_, one) in fields(GFS, 0).items()}
    facts["orog"] = {"units": "m", "long_name": "Orography"}
    infinite: Fields = {name: (np.full(GFS.shape, value), one) for name, one in facts.items()}
    make_tile(tmp_path, infinite, grid=GFS, region=NEW_ENGLAND, model="gfs", run=RUN, minutes=0)
    query = {"hourly": "temperature_2m,cloud_cover", "start_hour": "2026-09-01T12:00", "end_hour": "2026-09-01T12:00"}
    place: dict[str, Any] = {"latitude": PLACES[0][0], "longitude": PLACES[0][1], **query}
    with serving(Settings(data=tmp_path)) as server, server.client() as client:
        found = json.loads(ask(client, PLACES[:1], **query))
        table = client.get("/v1/forecast", params={**place, "format": "csv"}).text
        message = client.get("/v1/forecast", params={**place, "format": "flatbuffers"}).content
    assert found["hourly"]["temperature_2m"] == found["hourly"]["cloud_cover"] == [None]
    assert (found["elevation"], found["gribmill"]["elevation_known"]) == (0.0, False)
    head, cells = (part.splitlines()[1] for part in table.split("\n\n"))
    assert head.split(",")[2] == "NaN"
    assert cells.split(",")[1:] == ["NaN", "NaN"]
    decoded = WeatherApiResponse.GetRootAs(message, 4)
    assert math.isnan(decoded.Elevation())
    columns = decoded.Hourly()
    assert [math.isnan(columns.Variables(number).Values(0)) for number in range(2)] == [True, True]


def test_value_beyond_32_bits_is_missing_in_flatbuffers() -> None:
    column = AnswerColumn(hourly_variable("temperature_2m", "hourly"), "°F", np.array([1e39, 5.0]))
    assert binary._numbers(column).tolist() == pytest.approx([math.nan, 5.0], nan_ok=True)


def test_values_too_large_for_an_integer_are_not_changed_into_others(tmp_path: Path) -> None:
    large: Fields = {name: (np.full(GFS.shape, 1e19), facts) for name, (_, facts) in fields(GFS, 0).items()}
    make_tile(tmp_path, large, grid=GFS, region=NEW_ENGLAND, model="gfs", run=RUN, minutes=0)
    query = {"hourly": "cloud_cover", "start_hour": "2026-09-01T12:00", "end_hour": "2026-09-01T12:00"}
    with serving(Settings(data=tmp_path)) as server, server.client() as client:
        found = hourly(ask(client, PLACES[:1], **query))
    assert found["cloud_cover"] == [np.float32(1e19)]


def test_blocks_are_not_held_while_the_next_are_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_tiles, "READ_BYTES", 1)
    monkeypatch.setattr(kept_tiles, "BLOCK_POINTS", 100)
    read, held, alive = kept_tiles._read_blocks, list[weakref.ref[Any]](), list[int]()

    def reading(*given: Any) -> Any:
        alive.append(sum(one() is not None for one in held))
        found = read(*given)
        held.extend(weakref.ref(block) for blocks in found.values() for block in blocks.values())
        return found

    monkeypatch.setattr(kept_tiles, "_read_blocks", reading)
    places = [Place("", 41.9 + number / 50, -71.9 + number / 30) for number in range(40)]
    forecasts(places, PointRequest(DataRoot(root), model="hrrr"), KeptTiles(DataRoot(root), 0))
    assert len(alive) > 5
    assert not any(alive)


def test_a_damaged_tile_changes_nothing_for_places_in_others(tmp_path: Path) -> None:
    make_forecasts(tmp_path)
    broken = tmp_path / f"tiles/hrrr/{RUN}/boston/002.npz"
    broken.write_bytes(broken.read_bytes()[:-40])
    query = {"hourly": "temperature_2m,precipitation", "start_date": "2026-09-01", "end_date": "2026-09-01"}
    with serving(Settings(data=tmp_path)) as server, server.client() as client:
        together = ask(client, PLACES, **query)
        assert together == f"[{','.join(ask(client, [place], **query) for place in PLACES)}]"
        assert '"notes":["' in together


@pytest.mark.parametrize("limit_bytes", [0, 50_000, 2**25])
@pytest.mark.parametrize("read_bytes", [1, 2**25])
def test_places_in_many_blocks_are_read_in_parts(
    root: Path, monkeypatch: pytest.MonkeyPatch, limit_bytes: int, read_bytes: int
) -> None:
    monkeypatch.setattr(kept_tiles, "READ_BYTES", read_bytes)
    monkeypatch.setattr(kept_tiles, "BLOCK_POINTS", 100)
    monkeypatch.setattr(kept_tiles, "LOOK_SECONDS", 600.0)
    choose = random.Random(4)
    places = [Place("", choose.uniform(41.9, 42.9), choose.uniform(-71.9, -70.5)) for _ in range(40)]
    request = PointRequest(DataRoot(root), model="hrrr")
    expected = repr(forecasts(places, request))
    kept = KeptTiles(DataRoot(root), limit_bytes)
    with pytest.raises(NotKept):
        forecasts(places, request, OnlyKept(kept))
    assert repr(forecasts(places[:3], PointRequest(DataRoot(root), model="hrrr", variables=("t2m",)), kept))
    for _ in range(2):
        assert repr(forecasts(places, request, kept)) == expected
        assert kept.bytes_kept <= limit_bytes
    if limit_bytes > 2**20:
        assert repr(forecasts(places, request, OnlyKept(kept))) == expected


def test_arrays_are_rounded_like_numbers() -> None:
    halves = [number / 8 for number in range(-40, 41)]
    close = [2.675, 1.005, 0.285, -0.285, 1e15 + 0.3, 2.0**52 + 1, 5e-324, -1e-9, 0.0, -0.0, 123456.785]
    neighbours = [math.nextafter(value, side) for value in (*halves, *close) for side in (-math.inf, math.inf)]
    values = [*halves, *close, *neighbours, *(random.Random(1).gauss(0, 100) for _ in range(2000))]
    # Those below 2**30 have a shorter way, which arrays with larger ones do not take.
    small = [value for value in values if abs(value) < 2**20]
    for digits in range(4):
        for some in (values, small):
            found = rounded(np.array(some), digits).tolist()
            assert [repr(one) for one in found] == [repr(round(one, digits) + 0.0) for one in some]
    assert rounded(np.array([math.nan, math.inf, -math.inf]), 1).tolist() == pytest.approx(
        [math.nan, math.inf, -math.inf], nan_ok=True
    )


@needs_kernel
@pytest.mark.parametrize("decimals", range(4))
@pytest.mark.parametrize("last", [math.nan, -math.inf, -0.04, 1e14, 1e17, 1e22])
def test_numbers_are_the_same_text_without_the_kernel(
    decimals: int, last: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose = random.Random(decimals)
    values = np.array([[choose.gauss(0, 50) for _ in range(30)] for _ in range(4)])
    values[2, -1] = last
    found = number_rows(values, decimals)
    monkeypatch.setattr(native, "available", lambda: False)
    assert number_rows(values, decimals) == found
    assert number_rows(np.empty((2, 0)), decimals) == [b"", b""]
