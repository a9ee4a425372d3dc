"""Clients that send too much, too slowly, nothing, or something other than HTTP."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from gribmill.access.audit import AuditTrail
from gribmill.server.http_protocol import MOST_HEAD_BYTES, MOST_HEADERS, LimitedProtocol
from gribmill.settings.schema import ServerSettings, Settings
from tests.server.hostile.raw_connection import connected, statuses
from tests.server.live_server import LiveServer, serving
from tests.waiting import wait_until

GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
LAST = GET + b"Connection: close\r\n\r\n"
POST = b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    settings = Settings(data=tmp_path_factory.mktemp("data"), server=ServerSettings(max_body_megabytes=0.1))
    with serving(settings, dev=True) as found:
        yield found


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LimitedProtocol, "head_seconds", 0.2)
    monkeypatch.setattr(LimitedProtocol, "body_seconds", 0.2)


def said(server: LiveServer, *parts: bytes) -> bytes:
    """What the server answers until it closes the connection."""
    with connected(server.url) as connection:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.send(*parts)
        return connection.read_to_end()


@pytest.mark.parametrize(
    "parts",
    [
        (b"GET / HTTP/1.1\r\nX: " + b"a" * (2 * MOST_HEAD_BYTES),),
        (b"GET /" + b"a" * (2 * MOST_HEAD_BYTES) + b" HTTP/1.1\r\n\r\n",),
        (GET, b"X: a\r\n" * (MOST_HEADERS + 1), b"\r\n"),
        (GET, *(b"X%d: %s\r\n" % (n, b"a" * 1000) for n in range(100)), b"\r\n"),
    ],
    ids=["endless header", "endless path", "many headers", "large headers"],
)
def test_a_head_that_is_too_large_is_refused(server: LiveServer, parts: tuple[bytes, ...]) -> None:
    answer = said(server, *parts)
    assert statuses(answer)[:1] in ([431], [])  # the connection may be reset before the answer is read
    assert statuses(said(server, LAST)) == [200]


def test_headers_of_many_requests_on_one_connection_do_not_add_up(server: LiveServer) -> None:
    with connected(server.url) as connection:
        for _ in range(5):
            connection.send(GET + b"X: " + b"a" * (MOST_HEAD_BYTES // 2) + b"\r\n\r\n")
            assert statuses(connection.read_until(b"}")) == [200]
        connection.send(*[GET + b"X: " + b"a" * (MOST_HEAD_BYTES // 2) + b"\r\n\r\n"] * 4, LAST)
        assert statuses(connection.read_to_end()) == [200] * 5


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((), [408]),
        ((b"GET / HT",), [408]),
        ((GET,), [408]),
        ((POST + b"Content-Length: 100\r\n\r\n", b"{"), [408]),
        ((POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{",), [408]),
        ((GET + b"\r\n" + b"GET / HT",), [200, 408]),
    ],
    ids=["nothing", "half a line", "half a head", "half a body", "half a chunk", "half of the next"],
)
def test_a_request_that_does_not_arrive_ends_the_connection(
    server: LiveServer, parts: tuple[bytes, ...], expected: list[int]
) -> None:
    answer = said(server, *parts)
    assert statuses(answer) == expected
    assert b"application/problem+json" in answer


@pytest.mark.usefixtures("impatient")
def test_client_that_leaves_during_its_request_is_not_a_server_error(
    server: LiveServer, caplog: pytest.LogCaptureFixture
) -> None:
    audit = AuditTrail(server.store.database)
    with connected(server.url) as connection:
        connection.send(b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\ntoken=")
    wait_until(lambda: any(one.operation == "log_in" and one.status for one in audit.list()))
    assert not caplog.records


def test_unwanted_body_does_not_hold_the_connection(server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The response is sent at once, without waiting for the rest of the body."""
    monkeypatch.setattr(LimitedProtocol, "body_seconds", 0.5)
    head = b"POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90000\r\n\r\n{"
    assert statuses(said(server, head)) == [405]


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"Content-Length: +2\r\n\r\n{}",
        b"Content-Length: 2,2\r\n\r\n{}",
        b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n2 \r\n{}\r\n0\r\n\r\n",
        b"X: a\r\n folded: b\r\nContent-Length: 2\r\n\r\n{}",
        b"X: a\x00b\r\nContent-Length: 2\r\n\r\n{}",
        b"X: a\rContent-Length: 2\r\n\r\n{}",
    ],
)
def test_ambiguous_requests_are_refused(server: LiveServer, head: bytes) -> None:
    """No part of them is taken for a second request (request smuggling)."""
    smuggled = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert statuses(said(server, POST + head, smuggled)) in ([400], [])


@pytest.mark.parametrize(
    "request_text",
    [b"\x16\x03\x01\x02\x00", b"SSH-2.0-x\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GE\x00 / HTTP/1.1\r\n\r\n"],
)
def test_input_other_than_http_is_refused(server: LiveServer, request_text: bytes) -> None:
    assert statuses(said(server, request_text)) in ([400], [505], [])


def test_two_host_headers_are_refused(server: LiveServer) -> None:
    answer = said(server, GET + b"Host: evil.example\r\nConnection: close\r\n\r\n")
    assert statuses(answer) == [400]


def test_error_of_a_pipelined_request_does_not_answer_the_first(server: LiveServer) -> None:
    """Both come in one packet: the first is answered, or the connection ends."""
    first = POST + b"Content-Length: 2\r\n\r\n{}"
    assert statuses(said(server, first + b"\x00\x01garbage\r\n\r\n"))[:1] in ([422], [])


def test_bodies_without_an_announced_length_are_limited_too(server: LiveServer) -> None:
    chunk = b"2710\r\n" + b" " * 10_000 + b"\r\n"
    answer = said(server, POST + b"Transfer-Encoding: chunked\r\n\r\n", *([chunk] * 20), b"0\r\n\r\n")
    assert statuses(answer)[:1] in ([413], [])


def test_many_connections_are_answered_or_refused_and_forgotten(server: LiveServer, tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, server=ServerSettings(max_connections=5))
    with serving(settings) as small:
        with connected(small.url), connected(small.url), connected(small.url), connected(small.url):
            assert statuses(said(small, LAST)) == [503]
        assert statuses(said(small, LAST)) == [200]
