"""Compression of text responses for clients that accept it, and never of responses that must stay unchanged."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import zstandard

from gribmill.server.middleware.compression import chosen_encoding
from gribmill.settings.schema import Settings
from tests.server.data.forecast_root import RUN, make_forecasts
from tests.server.live_server import LiveServer, serving

DOCUMENT = "/api/openapi.json"
TILE = f"/api/v1/tiles/hrrr/{RUN}/boston/001.npz"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    root = tmp_path_factory.mktemp("forecasts")
    make_forecasts(root, hours=2)
    with serving(Settings(data=root)) as found:
        yield found


@pytest.fixture
def client(server: LiveServer) -> Iterator[httpx.Client]:
    with server.client() as client:
        client.headers["Accept-Encoding"] = "identity"
        yield client


def raw(client: httpx.Client, path: str, **headers: str) -> tuple[httpx.Response, bytes]:
    """The response, and its bytes as received."""
    with client.stream("GET", path, headers=headers) as answer:
        return answer, b"".join(answer.iter_raw())


def test_text_is_compressed_as_the_client_accepts(client: httpx.Client) -> None:
    plain, content = raw(client, DOCUMENT)
    assert "content-encoding" not in plain.headers
    for accepted, expand in (("gzip", gzip.decompress), ("zstd", zstandard.ZstdDecompressor().decompress)):
        answer, small = raw(client, DOCUMENT, **{"Accept-Encoding": accepted})
        assert (answer.headers["content-encoding"], expand(small)) == (accepted, content)
        assert answer.headers["content-length"] == str(len(small))
        assert len(small) < len(content) / 4
    assert {one.headers["vary"] for one in (plain, answer)} == {"Accept-Encoding"}


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip", "gzip"),
        ("zstd;q=0.5, gzip;q=0.8", "gzip"),
        ("gzip;q=0, *", "zstd"),
        ("*;q=0", None),
        ("identity", None),
        ("br", None),
        ("gzip;q=x", None),
        ("", None),
    ],
)
def test_encoding_preferred_by_the_client_is_used(accepted: str, expected: str | None) -> None:
    assert chosen_encoding(accepted) == expected


def test_tiles_ranges_and_short_responses_are_not_compressed(server: LiveServer, client: httpx.Client) -> None:
    content = (server.settings.data_root / f"tiles/hrrr/{RUN}/boston/001.npz").read_bytes()
    both = {"Accept-Encoding": "gzip, zstd"}
    tile, bytes_of_tile = raw(client, TILE, **both)
    assert ("content-encoding" not in tile.headers, bytes_of_tile) == (True, content)
    part, some = raw(client, TILE, Range="bytes=10-19", **both)
    assert (part.status_code, "content-encoding" not in part.headers, some) == (206, True, content[10:20])
    short, _ = raw(client, "/healthz", **both)
    assert "content-encoding" not in short.headers


def test_compressed_file_is_304_on_revalidation(client: httpx.Client) -> None:
    both = {"Accept-Encoding": "gzip, zstd"}
    style, _ = raw(client, "/static/console.css", **both)
    assert (style.headers["content-encoding"], style.headers["etag"][:2]) == ("zstd", "W/")
    again, nothing = raw(client, "/static/console.css", **both, **{"If-None-Match": style.headers["etag"]})
    assert (again.status_code, nothing) == (304, b"")


def test_responses_with_secrets_are_not_compressed(server: LiveServer, tmp_path: Path) -> None:
    with server.client(server.token("super_admin")) as client:
        body = {"name": "n" * 100, "role": "worker", "scopes": ["jobs", "worker", "data", "audit", "console", "events"]}
        made = client.post("/api/v1/tokens", json=body, headers={"Accept-Encoding": "gzip, zstd"})
    assert made.status_code == 201
    assert "content-encoding" not in made.headers


def test_event_streams_are_not_held_back(server: LiveServer, client: httpx.Client) -> None:
    with client.stream("GET", "/api/v1/events/stream", headers={"Accept-Encoding": "gzip"}) as answer:
        assert "content-encoding" not in answer.headers
        assert next(answer.iter_lines()).startswith("retry:")
