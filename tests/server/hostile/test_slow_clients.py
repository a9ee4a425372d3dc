"""Clients that read or send slowly, or not at all: they are cut off, and hold no memory until then."""

from __future__ import annotations

import asyncio
import gc
import select
import socket
import threading
import weakref
from collections.abc import Iterator

import httpx
import pytest

from gribmill.server.http_protocol import LimitedProtocol
from gribmill.settings.schema import Settings
from tests.server.hostile.raw_connection import connected, statuses
from tests.server.live_server import LiveServer, serving
from tests.waiting import wait_until

TILE = "/api/v1/tiles/hrrr/20260901_12/boston/000.npz"
TILE_BYTES = 32 * 2**20
HEAD = b"Host: localhost\r\n\r\n"
POST = b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"
MOST_BUFFERED = 2**20


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A server with a tile file larger than any connection buffer; its content is not a real tile."""
    data = tmp_path_factory.mktemp("data")
    path = data / "tiles/hrrr/20260901_12/boston/000.npz"
    path.parent.mkdir(parents=True)
    path.write_bytes(bytes(range(256)) * (TILE_BYTES // 256))
    with serving(Settings(data=data), dev=True) as found:
        yield found


@pytest.fixture
def lost(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set when the server drops a connection; fails the test if the connection held much memory."""
    given_up = threading.Event()
    lose = LimitedProtocol.connection_lost
    held: list[int] = []

    def noted(self: LimitedProtocol, error: Exception | None) -> None:
        lose(self, error)
        given_up.set()

    pause = LimitedProtocol.pause_writing

    def paused(self: LimitedProtocol) -> None:
        held.append(self.transport.get_write_buffer_size())
        assert held[-1] < MOST_BUFFERED
        pause(self)

    monkeypatch.setattr(LimitedProtocol, "connection_lost", noted)
    monkeypatch.setattr(LimitedProtocol, "pause_writing", paused)
    monkeypatch.setattr(LimitedProtocol, "stalled_seconds", 0.3)
    return given_up


@pytest.mark.parametrize("by_file", [True, False], ids=["sendfile", "chunks"])
def test_a_client_that_does_not_read_is_cut_off(
    server: LiveServer, lost: threading.Event, monkeypatch: pytest.MonkeyPatch, by_file: bool
) -> None:
    monkeypatch.setattr("gribmill.server.http_protocol.CAN_SEND_FILES", by_file)
    with connected(server.url) as connection:
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.send(f"GET {TILE} HTTP/1.1\r\n".encode() + HEAD)
        assert lost.wait(60)


@pytest.mark.parametrize("by_file", [True, False], ids=["sendfile", "chunks"])
def test_a_client_that_reads_slowly_gets_every_byte(
    server: LiveServer, monkeypatch: pytest.MonkeyPatch, by_file: bool
) -> None:
    monkeypatch.setattr("gribmill.server.http_protocol.CAN_SEND_FILES", by_file)
    with connected(server.url) as connection:
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        connection.send(f"GET {TILE} HTTP/1.1\r\nConnection: close\r\n".encode() + HEAD)
        body = connection.read_to_end().partition(b"\r\n\r\n")[2]
    assert body == bytes(range(256)) * (TILE_BYTES // 256)


def test_a_download_that_its_client_resets_is_not_an_error(
    server: LiveServer, lost: threading.Event, caplog: pytest.LogCaptureFixture
) -> None:
    """A client could otherwise fill the log."""
    with connected(server.url) as connection:
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.send(f"GET {TILE} HTTP/1.1\r\n".encode() + HEAD)
        connection.read_until(b"\r\n\r\n")
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")  # close is a reset
    assert lost.wait(60)
    assert httpx.get(f"{server.url}/healthz").status_code == 200
    assert not [one for one in caplog.records if one.levelname == "ERROR"]


def test_a_connection_that_its_client_resets_is_forgotten(
    server: LiveServer, lost: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[weakref.ref[LimitedProtocol]] = []
    make = LimitedProtocol.connection_made

    def noted(self: LimitedProtocol, transport: asyncio.Transport) -> None:
        made.append(weakref.ref(self))
        make(self, transport)
        self.timeout_keep_alive = 3600

    monkeypatch.setattr(LimitedProtocol, "connection_made", noted)
    with connected(server.url) as connection:
        connection.send(b"GET /healthz HTTP/1.1\r\n" + HEAD)
        connection.read_until(b"\r\n\r\n")
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")  # close is a reset
    assert lost.wait(60)

    def forgotten() -> bool:
        gc.collect()
        return [one() for one in made] == [None]

    wait_until(forgotten)


def test_connection_stays_usable_after_a_file(server: LiveServer) -> None:
    """Files and other responses alternate on one connection, even when the requests are pipelined."""
    with server.client() as client:
        for _ in range(3):
            part = client.get(TILE, headers={"Range": "bytes=1000000-1999999"})
            assert (part.status_code, len(part.content), part.content[0]) == (206, 1_000_000, 1_000_000 % 256)
            assert client.get("/healthz").status_code == 200
    asked = f"GET {TILE} HTTP/1.1\r\nRange: bytes=0-99999,200000-200009\r\n".encode() + HEAD
    with connected(server.url) as connection:
        connection.send(asked, b"GET /healthz HTTP/1.1\r\n" + HEAD, asked)
        connection.send(b"GET /healthz HTTP/1.1\r\nConnection: close\r\n" + HEAD)
        assert statuses(connection.read_to_end()) == [206, 200, 206, 200]


@pytest.mark.parametrize(("begin", "piece"), [(b"GET / HTTP/1.1\r\nX: ", b"a"), (POST, b" ")], ids=["head", "body"])
def test_trickling_request_is_cut_off(
    server: LiveServer, monkeypatch: pytest.MonkeyPatch, begin: bytes, piece: bytes
) -> None:
    """Each byte is progress, but the whole has a limit."""
    monkeypatch.setattr(LimitedProtocol, "head_seconds", 0.5)
    monkeypatch.setattr(LimitedProtocol, "body_seconds", 0.5)
    with connected(server.url) as connection:
        connection.send(begin)
        sent = 0
        while not select.select([connection.socket], [], [], 0.05)[0]:
            connection.send(piece)
            sent += 1
        assert statuses(connection.read_to_end()) == [408]
    assert 1 <= sent < 1000


def test_other_clients_are_served_meanwhile(server: LiveServer, lost: threading.Event) -> None:
    with connected(server.url) as connection:
        connection.send(f"GET {TILE} HTTP/1.1\r\n".encode() + HEAD)
        assert httpx.get(f"{server.url}/healthz").status_code == 200
        assert httpx.head(f"{server.url}{TILE}").headers["content-length"] == str(TILE_BYTES)
        assert lost.wait(60)
