"""Tiles over HTTP: the file's bytes, conditional requests, ranges, and other formats."""

from __future__ import annotations

import contextlib
import email
import threading
from concurrent.futures import ThreadPoolExecutor
from email.message import Message
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import httpx
import numpy as np
import pyarrow
import pyarrow.ipc
import pytest

from gribmill.server.data import point_routes, tile_routes, tile_shapes
from gribmill.server.edr import query_routes
from gribmill.server.http_protocol import LimitedProtocol
from gribmill.settings.schema import ServerSettings, Settings
from gribmill.tiles.read.tile import read_tile
from tests.server.data.forecast_root import RUN, make_forecasts
from tests.server.hostile.raw_connection import connected
from tests.server.live_server import serving
from tests.waiting import wait_until

ADDRESS = f"/api/v1/tiles/hrrr/{RUN}/boston/003.npz"
EDR = "/edr/collections/hrrr:boston"


@pytest.fixture(scope="module")
def content(forecast_root: Path) -> bytes:
    return (forecast_root / f"tiles/hrrr/{RUN}/boston/003.npz").read_bytes()


def test_file_is_sent_unchanged_and_304_on_revalidation(client: httpx.Client, content: bytes) -> None:
    whole = client.get(ADDRESS)
    assert (whole.status_code, whole.content) == (200, content)
    assert whole.headers["content-length"] == str(len(content))
    assert whole.headers["cache-control"] == "private, no-cache"
    for tag in (whole.headers["etag"], f'W/{whole.headers["etag"]}, "other"', "*"):
        again = client.get(ADDRESS, headers={"If-None-Match": tag})
        assert (again.status_code, again.content) == (304, b"")
    assert client.get(ADDRESS, headers={"If-None-Match": '"other"'}).status_code == 200
    assert client.get(ADDRESS, headers={"If-Match": '"other"'}).status_code == 412


def test_conditions_may_have_several_lines_and_weak_tags_do_not_match_bytes(client: httpx.Client) -> None:
    tag = client.head(ADDRESS).headers["etag"]
    lines = [("If-None-Match", '"other"'), ("If-None-Match", f'"another", {tag}')]
    assert client.get(ADDRESS, headers=lines).status_code == 304
    assert client.get(ADDRESS, headers={"If-Match": f"W/{tag}"}).status_code == 412
    for match in (f'"other", {tag}', "*"):
        assert client.get(ADDRESS, headers={"If-Match": match}).status_code == 200


@pytest.mark.parametrize(
    ("asked", "begin", "end"),
    [("bytes=0-9", 0, 10), ("bytes=100-", 100, None), ("bytes=-7", -7, None), ("bytes=5-99999999", 5, None)],
)
def test_range_returns_that_part(client: httpx.Client, content: bytes, asked: str, begin: int, end: int | None) -> None:
    answer = client.get(ADDRESS, headers={"Range": asked})
    expected = content[begin:end]
    first = len(content) + begin if begin < 0 else begin
    assert (answer.status_code, answer.content) == (206, expected)
    assert answer.headers["content-range"] == f"bytes {first}-{first + len(expected) - 1}/{len(content)}"


def test_ranges_outside_the_file_are_416_and_invalid_ranges_are_ignored(client: httpx.Client, content: bytes) -> None:
    for asked in (f"bytes={len(content)}-", "bytes=-0"):
        answer = client.get(ADDRESS, headers={"Range": asked})
        assert (answer.status_code, answer.headers["content-range"]) == (416, f"bytes */{len(content)}")
    for asked in (
        "bytes=0-9,5-12",
        f"bytes={'0-1,' * 16}2-3",
        "bytes=0-1,9-5",
        "bytes=9-5",
        "lines=1-2",
        "bytes=",
        "bytes=x-",
    ):
        answer = client.get(ADDRESS, headers={"Range": asked})
        assert (answer.status_code, len(answer.content)) == (200, len(content))
    stale = client.get(ADDRESS, headers={"Range": "bytes=0-9", "If-Range": '"other"'})
    assert (stale.status_code, len(stale.content)) == (200, len(content))


def test_several_ranges_are_parts_of_one_response(client: httpx.Client, content: bytes) -> None:
    size = len(content)
    answer = client.get(ADDRESS, headers={"Range": f"bytes=100-199, 0-9, -5, {size}-"})
    assert answer.status_code == 206
    assert answer.headers["content-length"] == str(len(answer.content))
    head = f"Content-Type: {answer.headers['content-type']}\r\n\r\n".encode()
    parts = email.message_from_bytes(head + answer.content).get_payload()
    found = [(part["Content-Range"], part.get_payload(decode=True)) for part in cast("list[Message]", parts)]
    assert found == [
        (f"bytes 100-199/{size}", content[100:200]),
        (f"bytes 0-9/{size}", content[:10]),
        (f"bytes {size - 5}-{size - 1}/{size}", content[-5:]),
    ]


def test_range_is_partial_only_while_the_tile_is_unchanged(client: httpx.Client, content: bytes) -> None:
    tag = client.head(ADDRESS).headers["etag"]
    same = client.get(ADDRESS, headers={"Range": "bytes=0-9", "If-Range": tag})
    assert (same.status_code, same.content) == (206, content[:10])
    weak = client.get(ADDRESS, headers={"Range": "bytes=0-9", "If-Range": f"W/{tag}"})
    assert (weak.status_code, weak.content) == (200, content)


def test_versioned_url_is_immutable_and_ends_with_its_content(tmp_path: Path) -> None:
    make_forecasts(tmp_path, hours=2)
    with serving(Settings(data=tmp_path)) as server, server.client() as client:
        (latest,) = client.get("/api/v1/runs/latest", params={"model": "hrrr"}).json()
        address = latest["tiles"][1]
        answer = client.get(address)
        assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
        path = tmp_path / f"tiles/hrrr/{RUN}/boston/001.npz"
        assert answer.content == path.read_bytes()
        path.write_bytes(path.read_bytes() + b"x")
        assert client.get(address).status_code == 404


def test_head_has_the_size_without_the_bytes(client: httpx.Client, content: bytes) -> None:
    answer = client.head(ADDRESS)
    assert (answer.status_code, answer.headers["content-length"], answer.content) == (200, str(len(content)), b"")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"hrrr/{RUN}/boston/099.npz", 404),
        (f"hrrr/{RUN}/texas/003.npz", 404),
        ("hrrr/20260230_12/boston/003.npz", 422),
        (f"hrrr/{RUN}/boston/..%2f..%2flatest.npz", 404),
        (f"..%2f..%2f/{RUN}/boston/003.npz", 404),
        (f"hrrr/{RUN}/boston/003.zip", 404),
        (f"HRRR/{RUN}/boston/003.npz", 422),
        (f"hrrr/{RUN}/boston/003%00.npz", 422),
    ],
)
def test_names_that_are_not_tiles_are_not_found(client: httpx.Client, path: str, status: int) -> None:
    answer = client.get(f"/api/v1/tiles/{path}")
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"


def test_tile_metadata_contains_no_server_path(client: httpx.Client, forecast_root: Path) -> None:
    answer = client.get(ADDRESS.replace(".npz", ".json"))
    found = answer.json()
    assert (found["model"], found["run"], found["minutes"]) == ("hrrr", RUN, 180)
    assert found["path"] == f"hrrr/{RUN}/boston/003.npz"
    assert {"t2m", "d2m", "tp"} <= found["variables"].keys()
    assert str(forecast_root) not in answer.text


def test_json_values_equal_the_tile_and_are_null_where_missing(client: httpx.Client, forecast_root: Path) -> None:
    tile = read_tile(forecast_root / f"tiles/hrrr/{RUN}/boston/003.npz")
    found = client.get(ADDRESS.replace(".npz", ".json"), params={"vars": "t2m,d2m"}).json()
    np.testing.assert_array_equal(np.array(found["values"]["t2m"], np.float32), tile.read("t2m"))
    np.testing.assert_array_equal(np.array([found["lat"], found["lon"]]), np.array(tile.latlon()))
    assert {value for row in found["values"]["d2m"] for value in row} == {None}
    assert found["values"].keys() == {"t2m", "d2m"}
    every = client.get(ADDRESS.replace(".npz", ".json"), params={"values": "true"}).json()
    assert [*every["values"]] == tile.names
    lacking = client.get(ADDRESS.replace(".npz", ".json"), params={"vars": "t2m,nothing"})
    assert (lacking.status_code, "it has d2m" in lacking.json()["detail"]) == (404, True)


def test_arrow_has_the_points_and_values_of_the_tile(client: httpx.Client, forecast_root: Path) -> None:
    tile = read_tile(forecast_root / f"tiles/hrrr/{RUN}/boston/003.npz")
    answer = client.get(ADDRESS.replace(".npz", ".arrow"))
    assert answer.headers["content-type"] == "application/vnd.apache.arrow.stream"
    table = pyarrow.ipc.open_stream(answer.content).read_all()
    table.validate(full=True)
    assert table.column_names == ["lat", "lon", *tile.names]
    for name, values in zip(("lat", "lon"), tile.latlon(), strict=True):
        np.testing.assert_array_equal(table[name].to_numpy(), values.reshape(-1))
    for name in ("t2m", "u10", "tp"):
        np.testing.assert_array_equal(table[name].to_numpy(), tile.read(name).reshape(-1))
    assert table["d2m"].null_count == table.num_rows == tile.shape[0] * tile.shape[1]
    facts = table.schema.metadata
    assert (facts[b"run"], facts[b"minutes"], facts[b"rows"]) == (RUN.encode(), b"180", str(tile.shape[0]).encode())
    assert table.schema.field("tp").metadata[b"window_minutes"] == b"0,180"
    some = client.get(ADDRESS.replace(".npz", ".arrow"), params={"vars": "t2m"})
    assert pyarrow.ipc.open_stream(some.content).read_all().column_names == ["lat", "lon", "t2m"]


@pytest.mark.parametrize("shape", ["npz", "json", "arrow"])
def test_every_format_names_its_run_and_is_304_on_revalidation(client: httpx.Client, shape: str) -> None:
    address = ADDRESS.replace("npz", shape)
    first = client.get(address)
    assert (first.headers["gribmill-model"], first.headers["gribmill-run"]) == ("hrrr", RUN)
    assert first.headers["gribmill-built-at"].endswith("Z")
    again = client.get(address, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    if shape != "npz":
        other = client.get(address, params={"vars": "t2m"}, headers={"If-None-Match": first.headers["etag"]})
        assert other.status_code == 200


def test_tile_is_available_as_a_picture(client: httpx.Client) -> None:
    pytest.importorskip("matplotlib")
    answer = client.get(ADDRESS.replace(".npz", ".png"), params={"var": "t2m", "dpi": 40})
    assert answer.headers["content-type"] == "image/png"
    assert answer.content.startswith(b"\x89PNG")
    assert client.get(ADDRESS.replace(".npz", ".png"), params={"var": "nothing"}).status_code == 404
    assert client.get(ADDRESS.replace(".npz", ".png"), params={"dpi": 5000}).status_code == 422


@pytest.mark.parametrize(
    ("address", "module", "worker"),
    [
        (ADDRESS.replace(".npz", ".png"), tile_shapes, "_draw"),
        (ADDRESS.replace(".npz", ".arrow"), tile_routes, "tile_arrow"),
        (ADDRESS.replace(".npz", ".json?values=true"), tile_routes, "tile_json"),
        ("/api/v1/area?vars=t2m&region=boston", point_routes, "area"),
        (f"{EDR}/cube?bbox=-71.4,42.1,-71,42.4", query_routes, "cube"),
        (f"{EDR}/area?coords=POLYGON((-71.4 42.1,-71 42.1,-71 42.4,-71.4 42.1))", query_routes, "cube"),
    ],
)
def test_slow_requests_leave_threads_to_other_requests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, module: ModuleType, worker: str
) -> None:
    work, began, go_on = getattr(module, worker), threading.Event(), threading.Event()

    def slow(*args: Any, **options: Any) -> Any:
        began.set()
        go_on.wait()
        return b"picture" if worker == "_draw" else work(*args, **options)

    monkeypatch.setattr(module, worker, slow)
    make_forecasts(tmp_path, hours=4)
    settings = Settings(data=tmp_path, server=ServerSettings(threads=1))
    with serving(settings) as server, server.client() as client, ThreadPoolExecutor(2) as pool:
        slow_ones = [pool.submit(client.get, address) for _ in range(2)]
        try:
            wait_until(began.is_set)
            assert client.get("/api/v1/jobs").status_code == 200
        finally:
            go_on.set()
        assert [one.result().status_code for one in slow_ones] == [200, 200]


def test_client_that_stops_reading_is_disconnected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LimitedProtocol, "stalled_seconds", 0.3)
    make_forecasts(tmp_path, hours=1)
    size = 30_000_000
    with (tmp_path / f"tiles/hrrr/{RUN}/boston/099.npz").open("wb") as file:
        file.truncate(size)
    path = ADDRESS.replace("003", "099")
    with serving(Settings(data=tmp_path)) as server, server.client() as client:
        with connected(server.url) as stalled:
            stalled.send(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            wait_until(lambda: path_is_open("boston/099.npz"), 30)
            wait_until(lambda: not path_is_open("boston/099.npz"), 30)
            assert len(stalled.read_to_end()) < size
        assert len(client.get(path).content) == size


def path_is_open(ending: str) -> bool:
    """Whether this process, which runs the server, has the file open."""
    for one in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            if str(one.readlink()).endswith(ending):
                return True
    return False
