"""Every way in which a request can end: the requested bytes, or an error that says what to do."""

from __future__ import annotations

import base64
import hashlib
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gribmill.ingest.errors import Broken, Changed, NoRanges, NotThere, PastEnd, RateLimited, TooLarge, Untrusted
from gribmill.ingest.http.client import Http, SourceSession
from gribmill.ingest.http.deadline import Timeouts, until
from gribmill.ingest.http.response import ObjectHead, http_date
from gribmill.ingest.mirror import Host, hosts
from gribmill.version import __version__
from tests.ingest.server import Publisher

HOST = hosts()["other"]
DATA = bytes(range(256)) * 40


@pytest.fixture
def url(publisher: Publisher) -> str:
    publisher.put("a/file.grib2", DATA)
    return f"{publisher.url}a/file.grib2"


def test_a_whole_object_and_its_metadata(publisher: Publisher, session: SourceSession, url: str) -> None:
    body = session.get(url, HOST, limit_bytes=len(DATA))
    assert body.data == DATA
    assert body.head == session.head(url, HOST)
    assert body.head.size == len(DATA)
    assert body.head.ranges
    assert body.head.etag == publisher.objects["a/file.grib2"].etag
    agent = publisher.requests[0].headers
    assert (agent["User-Agent"], agent["Accept-Encoding"]) == (f"gribmill/{__version__}", "identity")


def test_a_range_is_exact_and_pinned(publisher: Publisher, session: SourceSession, url: str) -> None:
    head = session.head(url, HOST)
    assert session.read_range(url, HOST, 100, 300, pin=head).data == DATA[100:300]
    assert publisher.requests[-1].headers["If-Match"] == head.etag


@pytest.mark.parametrize(
    "text", ["", "soon", "Fri, 31 Dec 9999 23:59:59 -1200", "Mon, 99 Jan 2026 00:00:00 GMT", "9" * 70]
)
def test_an_invalid_last_modified_is_ignored(text: str) -> None:
    assert http_date(text) is None


def test_connections_are_reused(publisher: Publisher, session: SourceSession, url: str) -> None:
    for _ in range(5):
        session.get(url, HOST, limit_bytes=10**6)
    assert len({request.port for request in publisher.requests}) == 1


def test_no_cookie_is_kept_and_no_password_sent(
    publisher: Publisher, session: SourceSession, url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setattr("gribmill.ingest.http.client._is_loopback", lambda name: False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    session.get(url, HOST, limit_bytes=10**6)
    assert "Authorization" not in publisher.requests[-1].headers


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (404, NotThere), (403, NotThere), (410, NotThere), (500, Broken), (502, Broken), (503, RateLimited),
        (429, RateLimited), (412, Changed), (401, Broken), (400, Broken), (408, Broken),
    ],
)  # fmt: skip
def test_a_status_becomes_its_outcome(
    publisher: Publisher, session: SourceSession, url: str, status: int, outcome: type[Exception]
) -> None:
    publisher.fault("retry", value=(status, None))
    with pytest.raises(outcome, match=r"file\.grib2"):
        session.get(url, HOST, limit_bytes=10**6)


def test_unavailable_without_slow_down_is_an_outage(publisher: Publisher, session: SourceSession, url: str) -> None:
    publisher.fault("status", value=503)
    with pytest.raises(Broken):
        session.get(url, HOST, limit_bytes=10**6)


@pytest.mark.parametrize(
    ("after", "seconds"), [("7", 7.0), ("999999", 3600.0), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0), ("soon", 30.0)]
)
def test_retry_after_is_read_and_capped(
    publisher: Publisher, session: SourceSession, url: str, after: str, seconds: float
) -> None:
    publisher.fault("retry", value=(429, after))
    with pytest.raises(RateLimited) as caught:
        session.get(url, HOST, limit_bytes=10**6)
    assert caught.value.retry_after_seconds == seconds


def test_statuses_with_a_host_specific_meaning(publisher: Publisher, session: SourceSession, url: str) -> None:
    publisher.fault("status", value=401)
    with pytest.raises(Broken):
        session.get(url, hosts()["ecmwf"], limit_bytes=10**6)


def test_a_range_past_the_end_and_an_empty_object(publisher: Publisher, session: SourceSession, url: str) -> None:
    with pytest.raises(PastEnd):
        session.read_range(url, HOST, 10**7, 10**7 + 5)
    publisher.put("a/empty", b"")
    with pytest.raises(NotThere, match="empty"):
        session.read_range(f"{publisher.url}a/empty", HOST, 0, 5)


def _range(session: SourceSession, url: str) -> bytes:
    return session.read_range(url, HOST, 100, 300, pin=session.head(url, HOST)).data


@pytest.mark.parametrize(
    ("kind", "value", "outcome"),
    [
        ("no206", None, NoRanges),
        ("html", None, NoRanges),
        ("range", "bytes 0-199/10240", Untrusted),
        ("range", "bytes 50-299/10240", Untrusted),
        ("range", "bytes 100-298/10240", Untrusted),
        ("range", "bytes 100-299/250", Untrusted),
        ("range", "bytes 100-299/10241", Changed),
        ("range", "nonsense", Untrusted),
        ("etag", '"another"', Changed),
        ("truncate", 50, Broken),
        ("unannounced", None, Broken),
        ("length", 5, Untrusted),
        ("length", -5, Untrusted),
        ("encoding", None, Untrusted),
        ("reset", None, Broken),
        ("endless", None, TooLarge),
        ("digest", "sha-256=:" + base64.b64encode(hashlib.sha256(b"x").digest()).decode() + ":", Untrusted),
    ],
)
def test_wrong_range_is_refused(
    publisher: Publisher, url: str, kind: str, value: object, outcome: type[Exception]
) -> None:
    publisher.fault(kind, value=value, ranged=True)
    if kind == "endless":
        publisher.put("a/file.grib2", DATA).etag = "x"
    with SourceSession() as session, pytest.raises(outcome) as caught:
        session.read_range(url, HOST, 100, 300) if kind == "endless" else _range(session, url)
    assert type(caught.value) is outcome


def test_correct_checksum_is_accepted(publisher: Publisher, session: SourceSession, url: str) -> None:
    digest = base64.b64encode(hashlib.sha256(DATA[100:300]).digest()).decode()
    publisher.fault("digest", value=f"md5=:AAAA:, sha-256=:{digest}:")
    assert _range(session, url) == DATA[100:300]


@pytest.mark.parametrize("kind", ["endless", "plain"])
def test_a_body_beyond_its_limit_is_not_read_on(publisher: Publisher, url: str, kind: str) -> None:
    publisher.fault(kind)
    got: list[bytes] = []
    with SourceSession() as session, pytest.raises(TooLarge):
        session.get_into(url, HOST, got.append, limit_bytes=1000)
    assert sum(map(len, got)) <= 1000


@pytest.mark.parametrize("kind", ["truncate", "length"])
def test_a_body_that_is_cut_off_is_broken(publisher: Publisher, session: SourceSession, url: str, kind: str) -> None:
    publisher.fault(kind, value=100)
    with pytest.raises(Broken, match=r"connection|cut off"):
        session.get(url, HOST, limit_bytes=10**6)


def test_a_host_that_sends_slowly_times_out(publisher: Publisher, url: str) -> None:
    publisher.fault("drip")
    ticks = iter(range(10**6))
    http = Http(timeouts=Timeouts(base=10.0, slowest_bytes_per_second=1e9), clock=lambda: float(next(ticks)))
    got: list[bytes] = []
    with pytest.raises(Broken, match="too slow"):
        http.get(url, HOST, got.append, limit_bytes=10**6)
    assert sum(map(len, got)) < len(DATA)
    http.close()


@pytest.mark.parametrize("kind", ["drip head", "continue", "drip trailers"])
def test_a_host_that_sends_headers_or_trailers_slowly_times_out(publisher: Publisher, url: str, kind: str) -> None:
    publisher.fault(kind)
    http = Http(timeouts=Timeouts(base=0.2, slowest_bytes_per_second=1e9))
    with pytest.raises(Broken, match="too slow"):
        http.get(url, HOST, lambda chunk: None, limit_bytes=10**6)
    http.close()


def test_a_slow_listing_times_out_earlier_than_a_file(publisher: Publisher, url: str) -> None:
    publisher.fault("drip trailers")
    with SourceSession(timeouts=Timeouts(base=30.0, page=0.2)) as session, pytest.raises(Broken, match="too slow"):
        session.get(url, HOST, limit_bytes=10**6)


def test_requests_end_with_the_enclosing_deadline(publisher: Publisher, session: SourceSession, url: str) -> None:
    publisher.fault("drip head")
    with until(time.monotonic() + 0.2), pytest.raises(Broken, match="too slow"):
        session.head(url, HOST)
    publisher.faults.clear()
    assert session.head(url, HOST).size == len(DATA)


def test_a_connection_is_used_again_after_a_request_that_had_little_time_left(
    publisher: Publisher, session: SourceSession, url: str
) -> None:
    with until(time.monotonic() + 50):
        session.get(url, HOST, limit_bytes=10**6)
    assert session.get(url, HOST, limit_bytes=10**6).data == DATA
    assert len({request.port for request in publisher.requests}) == 1


def test_a_silent_host_times_out(publisher: Publisher, url: str) -> None:
    publisher.fault("hold")
    with SourceSession(timeouts=Timeouts(read=0.05)) as session, pytest.raises(Broken, match=r"connection|in time"):
        session.get(url, HOST, limit_bytes=10**6)
    publisher.release.set()


def test_redirects_stay_on_the_host(publisher: Publisher, session: SourceSession, url: str) -> None:
    publisher.put("b/page.html", b"<html>robots")
    publisher.fault("redirect", match="a/file", times=1, value="/b/page.html")
    assert session.get(url, HOST, limit_bytes=10**6).data == b"<html>robots"
    publisher.fault(
        "redirect", match="a/file", times=1, value=publisher.url.replace("127.0.0.1", "localhost") + "b/page.html"
    )
    with pytest.raises(Broken, match="another host"):
        session.get(url, HOST, limit_bytes=10**6)
    publisher.fault("redirect", match="a/file", value="/a/file.grib2")
    with pytest.raises(Broken, match="redirects"):
        session.get(url, HOST, limit_bytes=10**6)


def test_the_body_of_a_redirect_is_not_read(
    publisher: Publisher, session: SourceSession, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> bytes:
        raise AssertionError("the body of a redirect may be endless")

    monkeypatch.setattr("requests.Response.iter_content", refuse)
    publisher.put("b/page.html", b"moved")
    publisher.fault("redirect", match="a/file", value="/b/page.html")
    assert session.get(url, HOST, limit_bytes=10**6).data == b"moved"


def test_a_size_beyond_63_bits_is_refused(publisher: Publisher, session: SourceSession, url: str) -> None:
    publisher.fault("range", match="a/file", value="bytes 0-0/9999999999999999999")
    with pytest.raises(Untrusted, match="206 without a range"):
        session.read_range(url, HOST, 0, 1)


def test_a_redirect_to_an_invalid_address_is_refused(publisher: Publisher, session: SourceSession, url: str) -> None:
    publisher.fault("redirect", match="a/file", value="http://[bad")
    with pytest.raises(Broken, match="redirects to an address that is not valid"):
        session.get(url, HOST, limit_bytes=10**6)


@pytest.mark.parametrize(("kind", "value"), [("phrase", "\x1b[2JOops\x07"), ("redirect", "http://a.b/\x1b[31m\x07")])
def test_control_characters_from_a_host_are_removed(
    publisher: Publisher, session: SourceSession, url: str, kind: str, value: str
) -> None:
    publisher.fault(kind, value=value)
    with pytest.raises(Broken, match=r"\\x1b\[.*\\x07") as caught:
        session.get(url, HOST, limit_bytes=10**6)
    assert str(caught.value).isprintable()


def test_the_bot_page_of_nomads_is_never_followed(publisher: Publisher, session: SourceSession, url: str) -> None:
    publisher.fault("redirect", match="a/file", value="/b/page.html")
    nomads = replace(hosts()["nomads"], requests_per_minute=None)
    with pytest.raises(Broken, match="302"):
        session.get(url, nomads, limit_bytes=10**6)
    assert len(publisher.requests) == 1


def _resolves_nothing(*_: object, **__: object) -> list[object]:
    raise socket.gaierror(-2, "Name or service not known")


def test_unresolvable_names_closed_ports_and_failing_tls(
    publisher: Publisher, session: SourceSession, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Broken, match="TLS"):
        session.head(url.replace("http:", "https:"), HOST)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(Broken, match="refused"):
            session.head(f"http://127.0.0.1:{unused.getsockname()[1]}/x", HOST)
    monkeypatch.setattr(socket, "getaddrinfo", _resolves_nothing)
    with pytest.raises(Broken, match="DNS"):
        session.head("http://publisher.invalid/x", HOST)


@pytest.mark.parametrize("bad", ["http://[::1/x", "http:///x", "nonsense"])
def test_invalid_urls_are_refused(session: SourceSession, bad: str) -> None:
    with pytest.raises(Broken):
        session.get(bad, HOST, limit_bytes=10)


def test_host_without_head_gets_a_one_byte_request(publisher: Publisher, session: SourceSession, url: str) -> None:
    publisher.heads = False
    assert session.head(url, HOST).size == len(DATA)


def test_weak_etags_are_compared_but_not_sent(publisher: Publisher, session: SourceSession, url: str) -> None:
    publisher.objects["a/file.grib2"].etag = 'W/"1"'
    assert _range(session, url) == DATA[100:300]
    assert "If-Match" not in publisher.requests[-1].headers
    with pytest.raises(Changed):
        session.read_range(url, HOST, 0, 10, pin=ObjectHead(url, len(DATA), 'W/"2"'))


def test_without_etags_a_new_modification_time_is_a_new_object(
    publisher: Publisher, session: SourceSession, url: str
) -> None:
    publisher.etags = False
    head = session.head(url, HOST)
    publisher.objects["a/file.grib2"].modified = publisher.objects["a/file.grib2"].modified.replace(hour=20)
    with pytest.raises(Changed):
        session.read_range(url, HOST, 0, 10, pin=head)


def test_threads_share_a_session(publisher: Publisher, session: SourceSession, url: str) -> None:
    from concurrent.futures import ThreadPoolExecutor

    host: Host = replace(HOST, connections=2)
    read: Callable[[int], bytes] = lambda at: session.read_range(url, host, at, at + 50).data  # noqa: E731
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(read, range(0, 2000, 50))) == [DATA[at : at + 50] for at in range(0, 2000, 50)]
