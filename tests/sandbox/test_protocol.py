"""Objects over HTTP as S3 serves them, requested by plain clients."""

from __future__ import annotations

import base64
import hashlib
import http.client
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
import requests

from gribmill.sandbox.errors import SandboxError
from gribmill.sandbox.publisher.byte_range import Unsatisfiable, parse_range, parse_ranges
from gribmill.sandbox.publisher.server import MOST_CONNECTIONS, Server
from tests.waiting import wait_until

DATA = bytes(range(256)) * 40


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder that is served."""
    return tmp_path / "served"


@pytest.fixture
def server(tmp_path: Path, root: Path) -> Iterator[Server]:
    (root / "bucket" / "run").mkdir(parents=True)
    (root / "bucket" / "run" / "a.grib2").write_bytes(DATA)
    (root / "bucket" / "run" / "empty").write_bytes(b"")
    (tmp_path / "secret").write_text("outside")
    with Server(root) as server:
        yield server


@pytest.fixture
def url(server: Server) -> str:
    return f"{server.url}bucket/run/a.grib2"


def test_a_whole_object_has_its_metadata_headers(url: str) -> None:
    answer = requests.get(url, timeout=10)
    assert answer.status_code == 200 and answer.content == DATA
    assert answer.headers["ETag"] == f'"{hashlib.md5(DATA).hexdigest()}"'
    assert answer.headers["Accept-Ranges"] == "bytes"
    assert answer.headers["Last-Modified"].endswith("GMT")
    digest = base64.b64encode(hashlib.sha256(DATA).digest()).decode()
    assert answer.headers["Content-Digest"] == f"sha-256=:{digest}:"


def test_head_has_the_same_headers_and_no_body(url: str) -> None:
    head, whole = requests.head(url, timeout=10), requests.get(url, timeout=10)
    assert head.status_code == 200 and head.content == b""
    for name in ("ETag", "Content-Length", "Last-Modified", "Accept-Ranges", "Content-Type"):
        assert head.headers[name] == whole.headers[name]


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [("0-0", 0, 1), ("5-14", 5, 15), ("10000-", 10000, 10240), ("-7", 10233, 10240), ("10000-99999", 10000, 10240)],
)
def test_a_range_is_answered_with_206(url: str, asked: str, start: int, end: int) -> None:
    answer = requests.get(url, headers={"Range": f"bytes={asked}"}, timeout=10)
    assert answer.status_code == 206 and answer.content == DATA[start:end]
    assert answer.headers["Content-Range"] == f"bytes {start}-{end - 1}/{len(DATA)}"
    digest = base64.b64encode(hashlib.sha256(DATA[start:end]).digest()).decode()
    assert answer.headers["Content-Digest"] == f"sha-256=:{digest}:"


@pytest.mark.parametrize("asked", ["bytes=0-3,8-9", "bytes=9-3", "lines=1-2", "bytes=x-", "bytes=-"])
def test_several_or_invalid_ranges_return_the_whole_object_as_on_s3(url: str, asked: str) -> None:
    answer = requests.get(url, headers={"Range": asked}, timeout=10)
    assert answer.status_code == 200 and answer.content == DATA


@pytest.mark.parametrize(("name", "asked", "size"), [("a.grib2", "10240-", 10240), ("empty", "0-9", 0)])
def test_a_range_beyond_the_end_returns_416_with_the_size(server: Server, name: str, asked: str, size: int) -> None:
    answer = requests.get(f"{server.url}bucket/run/{name}", headers={"Range": f"bytes={asked}"}, timeout=10)
    assert answer.status_code == 416
    assert answer.headers["Content-Range"] == f"bytes */{size}"
    error = ElementTree.fromstring(answer.text)
    assert error.findtext("Code") == "InvalidRange" and error.findtext("ActualObjectSize") == str(size)


def test_conditional_requests_compare_the_etag(url: str) -> None:
    etag = requests.head(url, timeout=10).headers["ETag"]
    get = {name: requests.get(url, headers={name: tag}, timeout=10) for name, tag in [("If-Match", '"other"')]}
    assert get["If-Match"].status_code == 412
    assert ElementTree.fromstring(get["If-Match"].text).findtext("Code") == "PreconditionFailed"
    assert requests.get(url, headers={"If-Match": etag, "Range": "bytes=0-3"}, timeout=10).status_code == 206
    unchanged = requests.get(url, headers={"If-None-Match": etag}, timeout=10)
    assert unchanged.status_code == 304 and unchanged.content == b""
    assert requests.get(url, headers={"If-None-Match": '"other"'}, timeout=10).status_code == 200
    modified = requests.head(url, timeout=10).headers["Last-Modified"]
    assert requests.get(url, headers={"If-Modified-Since": modified}, timeout=10).status_code == 304
    assert requests.get(url, headers={"If-Range": '"other"', "Range": "bytes=0-3"}, timeout=10).status_code == 200
    assert requests.get(url, headers={"If-Range": etag, "Range": "bytes=0-3"}, timeout=10).status_code == 206


def test_a_replaced_file_has_another_etag(server: Server, root: Path, url: str) -> None:
    before = requests.head(url, timeout=10).headers["ETag"]
    path = root / "bucket/run/a.grib2"
    facts = path.stat()
    new = path.with_name("new")
    new.write_bytes(DATA[::-1])
    os.utime(new, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    new.replace(path)
    answer = requests.get(url, headers={"If-Match": before}, timeout=10)
    assert answer.status_code == 412
    assert requests.get(url, timeout=10).content == DATA[::-1]


def test_a_missing_key_returns_404_in_xml(server: Server) -> None:
    answer = requests.get(f"{server.url}bucket/run/b.grib2", timeout=10)
    error = ElementTree.fromstring(answer.text)
    assert answer.status_code == 404
    assert (error.tag, error.findtext("Code"), error.findtext("Key")) == ("Error", "NoSuchKey", "bucket/run/b.grib2")
    assert requests.put(f"{server.url}bucket/new", data=b"x", timeout=10).status_code == 405


@pytest.mark.parametrize(
    "target",
    [
        "/../secret", "/bucket/../../secret", "/%2e%2e/secret", "/bucket/%2e%2e/%2e%2e/secret", "//secret",
        "/bucket/..%2f..%2fsecret", "/bucket\\..\\..\\secret", "/link", "/folder/secret", "/bucket/.hidden",
        "/bucket/%00", "/etc/passwd", "/?prefix=../", "/../?list-type=2", "/" + "a" * 5000, "/%ff%fe",
    ],
)  # fmt: skip
def test_no_path_escapes_the_folder(server: Server, root: Path, target: str) -> None:
    (root / "link").symlink_to(root.parent / "secret")
    (root / "folder").symlink_to(root.parent)
    (root / "bucket" / ".hidden").write_text("outside")
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)
    connection.request("GET", target)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    assert b"outside" not in body
    assert answer.status in (400, 404) or b"secret" not in body


def test_one_connection_carries_many_requests(server: Server) -> None:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)
    connection.connect()
    port = connection.sock.getsockname()[1]
    for place in range(5):
        connection.request("GET", "/bucket/run/a.grib2", headers={"Range": f"bytes={place}-{place}"})
        assert connection.getresponse().read() == DATA[place : place + 1]
        assert connection.sock.getsockname()[1] == port
    connection.request("GET", "/bucket/nothing")
    assert connection.getresponse().read()
    connection.request("HEAD", "/bucket/run/a.grib2")
    assert connection.getresponse().status == 200
    connection.close()


def test_a_request_with_a_body_cannot_smuggle_in_another(server: Server) -> None:
    with socket.create_connection((urlsplit(server.url).hostname, urlsplit(server.url).port), timeout=10) as raw:
        raw.sendall(b"GET /bucket/run/empty HTTP/1.1\r\nHost: x\r\nContent-Length: 44\r\n\r\n"
                    b"GET /bucket/run/a.grib2 HTTP/1.1\r\nHost: x\r\n\r\n")  # fmt: skip
        answers = b"".join(iter(lambda: raw.recv(65536), b""))
    assert answers.count(b"HTTP/1.1 ") == 1 and b"Connection: close" in answers


@pytest.mark.slow
def test_many_concurrent_readers_get_correct_bytes(url: str) -> None:
    wrong: list[int] = []

    def read(start: int) -> None:
        with requests.Session() as session:
            for place in range(start, start + 20):
                body = session.get(url, headers={"Range": f"bytes={place}-{place + 999}"}, timeout=30).content
                if body != DATA[place : place + 1000]:
                    wrong.append(place)

    readers = [threading.Thread(target=read, args=(100 * number,)) for number in range(8)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert wrong == []


def test_too_many_connections_get_slow_down(server: Server, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gribmill.sandbox.publisher.server.MOST_CONNECTIONS", 0)
    answer = requests.get(url, timeout=10)
    assert MOST_CONNECTIONS > 0 and answer.status_code == 503
    assert ElementTree.fromstring(answer.text).findtext("Code") == "SlowDown"


def test_the_server_stops_with_open_connections_and_frees_its_port(tmp_path: Path) -> None:
    threads = threading.active_count()
    server = Server(tmp_path)
    server.start()
    address = (urlsplit(server.url).hostname, urlsplit(server.url).port)
    idle = socket.create_connection(address, timeout=10)
    wait_until(lambda: threading.active_count() >= threads + 2, what="the connection's thread")
    server.stop()
    assert idle.recv(10) == b""
    idle.close()
    wait_until(lambda: threading.active_count() <= threads, what="all threads to end")
    with Server(tmp_path, port=int(address[1] or 0)) as again:
        assert requests.get(again.url, timeout=10).status_code == 200


def test_a_port_in_use_or_a_missing_folder_is_reported(server: Server, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="cannot listen on"):
        Server(tmp_path, port=int(urlsplit(server.url).port or 0))
    with pytest.raises(SandboxError, match="there is no folder"):
        Server(tmp_path / "nowhere")


def test_requests_are_recorded_with_the_bytes_sent(server: Server, url: str) -> None:
    # A request is recorded after its response is sent, each by the thread of its connection.
    requests.get(url, headers={"Range": "bytes=0-9"}, timeout=10)
    wait_until(lambda: len(server.seen) == 1, what="the first request")
    requests.head(url, timeout=10)
    wait_until(lambda: len(server.seen) == 2, what="the second request")
    first, second = server.seen
    assert (first.method, first.key, first.range, first.status, first.sent) == (
        "GET", "bucket/run/a.grib2", "bytes=0-9", 206, 10,
    )  # fmt: skip
    assert (second.method, second.sent) == ("HEAD", 0)


def test_several_ranges_are_returned_as_multipart_if_enabled(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(DATA)
    with Server(tmp_path, multi_range=True) as server:
        answer = requests.get(f"{server.url}a", headers={"Range": "bytes=0-3, 8-9,-2"}, timeout=10)
        single = requests.get(f"{server.url}a", headers={"Range": "bytes=8-9"}, timeout=10)
    assert answer.status_code == 206 and answer.headers["Content-Type"].startswith("multipart/byteranges")
    boundary = answer.headers["Content-Type"].partition("boundary=")[2].encode()
    parts = [part.partition(b"\r\n\r\n") for part in answer.content.split(b"\r\n--" + boundary)[1:-1]]
    assert [body for _, _, body in parts] == [DATA[0:4], DATA[8:10], DATA[-2:]]
    assert b"Content-Range: bytes 8-9/10240" in parts[1][0]
    assert len(answer.content) == int(answer.headers["Content-Length"])
    assert single.status_code == 206 and single.content == DATA[8:10]


def test_ranges_are_parsed_as_rfc_9110_says() -> None:
    assert parse_range(None, 10) is None
    assert parse_range("bytes=-20", 10).length == 10  # type: ignore[union-attr]
    for beyond in ("bytes=10-", "bytes=-0", "bytes=99-100"):
        with pytest.raises(Unsatisfiable):
            parse_range(beyond, 10)
    assert [span.start for span in parse_ranges("bytes=0-1,4-5,90-", 10)] == [0, 4]
    assert parse_ranges("bytes=0-1", 10) == [] and parse_ranges("bytes=" + "0-1," * 1000 + "2-3", 10) == []
