"""Tiles over HTTP: the bytes of the file, conditional requests and ranges, and other shapes."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from gribmill.settings.schema import Settings
from tests.server.data.forecast_root import RUN, make_forecasts
from tests.server.live_server import serving

ADDRESS = f"/api/v1/tiles/hrrr/{RUN}/boston/003.npz"


@pytest.fixture(scope="module")
def content(forecast_root: Path) -> bytes:
    return (forecast_root / f"tiles/hrrr/{RUN}/boston/003.npz").read_bytes()


def test_the_file_comes_as_it_is_and_is_not_sent_again(client: httpx.Client, content: bytes) -> None:
    whole = client.get(ADDRESS)
    assert (whole.status_code, whole.content) == (200, content)
    assert whole.headers["content-length"] == str(len(content))
    assert whole.headers["cache-control"] == "private, no-cache"
    for tag in (whole.headers["etag"], f'W/{whole.headers["etag"]}, "other"', "*"):
        again = client.get(ADDRESS, headers={"If-None-Match": tag})
        assert (again.status_code, again.content) == (304, b"")
    assert client.get(ADDRESS, headers={"If-None-Match": '"other"'}).status_code == 200
    assert client.get(ADDRESS, headers={"If-Match": '"other"'}).status_code == 412


@pytest.mark.parametrize(
    ("asked", "begin", "end"),
    [("bytes=0-9", 0, 10), ("bytes=100-", 100, None), ("bytes=-7", -7, None), ("bytes=5-99999999", 5, None)],
)
def test_a_range_is_that_part(client: httpx.Client, content: bytes, asked: str, begin: int, end: int | None) -> None:
    answer = client.get(ADDRESS, headers={"Range": asked})
    expected = content[begin:end]
    first = len(content) + begin if begin < 0 else begin
    assert (answer.status_code, answer.content) == (206, expected)
    assert answer.headers["content-range"] == f"bytes {first}-{first + len(expected) - 1}/{len(content)}"


def test_ranges_outside_the_file_are_416_and_ranges_that_are_not_understood_are_ignored(
    client: httpx.Client, content: bytes
) -> None:
    for asked in (f"bytes={len(content)}-", "bytes=-0"):
        answer = client.get(ADDRESS, headers={"Range": asked})
        assert (answer.status_code, answer.headers["content-range"]) == (416, f"bytes */{len(content)}")
    for asked in ("bytes=0-1,5-6", "bytes=9-5", "lines=1-2", "bytes=", "bytes=x-"):
        answer = client.get(ADDRESS, headers={"Range": asked})
        assert (answer.status_code, len(answer.content)) == (200, len(content))
    stale = client.get(ADDRESS, headers={"Range": "bytes=0-9", "If-Range": '"other"'})
    assert (stale.status_code, len(stale.content)) == (200, len(content))


def test_an_address_with_a_version_may_be_kept_for_ever_and_ends_with_the_content(tmp_path: Path) -> None:
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
        (f"hrrr/{RUN}/boston/003.arrow", 406),
    ],
)
def test_names_that_are_not_tiles_lead_nowhere(client: httpx.Client, path: str, status: int) -> None:
    answer = client.get(f"/api/v1/tiles/{path}")
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"


def test_the_metadata_of_a_tile_name_no_path_of_the_server(client: httpx.Client, forecast_root: Path) -> None:
    answer = client.get(ADDRESS.replace(".npz", ".json"))
    found = answer.json()
    assert (found["model"], found["run"], found["minutes"]) == ("hrrr", RUN, 180)
    assert found["path"] == f"hrrr/{RUN}/boston/003.npz"
    assert {"t2m", "d2m", "tp"} <= found["variables"].keys()
    assert str(forecast_root) not in answer.text


def test_a_tile_can_be_had_as_a_picture(client: httpx.Client) -> None:
    pytest.importorskip("matplotlib")
    answer = client.get(ADDRESS.replace(".npz", ".png"), params={"var": "t2m", "dpi": 40})
    assert answer.headers["content-type"] == "image/png"
    assert answer.content.startswith(b"\x89PNG")
    assert client.get(ADDRESS.replace(".npz", ".png"), params={"var": "nothing"}).status_code == 404
    assert client.get(ADDRESS.replace(".npz", ".png"), params={"dpi": 5000}).status_code == 422
