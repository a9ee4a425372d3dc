"""A small publisher on loopback for tests: ranges, tags, lists and folders, and faults on request."""

from __future__ import annotations

import base64
import hashlib
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

BOT_PAGE = b"<html><body>Prove that you are no robot</body></html>"
PUBLISHED_AT = datetime(2026, 9, 1, 13, 0, tzinfo=UTC)


@dataclass
class Stored:
    data: bytes
    etag: str
    modified: datetime = PUBLISHED_AT


@dataclass
class Fault:
    """What to do to the next `times` requests whose path holds `match` (and are for a range, if `ranged`)."""

    kind: str
    match: str = ""
    times: int = 10**9
    ranged: bool | None = None
    skip: int = 0
    value: object = None


@dataclass
class Request:
    method: str
    path: str
    range: tuple[int, int] | None
    headers: dict[str, str]
    port: int = 0
    status: int = 0
    sent: int = 0


@dataclass
class Publisher:
    """The objects by path (`aws/hrrr.20260901/…`), what was asked for, and what shall go wrong."""

    url: str
    objects: dict[str, Stored] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    page_size: int = 1000
    etags: bool = True
    ranges: bool = True
    heads: bool = True
    digests: bool = False
    lock: threading.RLock = field(default_factory=threading.RLock)
    on_request: Callable[[Request], None] | None = None
    release: threading.Event = field(default_factory=threading.Event)

    def put(self, path: str, data: bytes, modified: datetime = PUBLISHED_AT) -> Stored:
        stored = Stored(data, f'"{hashlib.md5(data).hexdigest()}"', modified)
        with self.lock:
            self.objects[path] = stored
        return stored

    def fault(self, kind: str, match: str = "", **options: object) -> Fault:
        fault = Fault(kind, match, **options)  # type: ignore[arg-type]
        self.faults.append(fault)
        return fault

    def asked(self, match: str = "", method: str = "GET") -> list[Request]:
        with self.lock:
            return [one for one in self.requests if match in one.path and one.method == method]

    def take_fault(self, request: Request) -> Fault | None:
        with self.lock:
            for fault in self.faults:
                right_kind = fault.ranged is None or fault.ranged == (request.range is not None)
                if fault.match in request.path and right_kind and fault.times > 0:
                    if fault.skip > 0:
                        fault.skip -= 1
                        continue
                    fault.times -= 1
                    return fault
        return None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    publisher: Publisher

    def do_HEAD(self) -> None:
        self._serve("HEAD")

    def do_GET(self) -> None:
        self._serve("GET")

    def log_message(self, *_: object) -> None:
        pass

    def _serve(self, method: str) -> None:
        found = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        wanted = (int(found[1]), int(found[2]) + 1 if found[2] else -1) if found else None
        request = Request(method, unquote(self.path), wanted, dict(self.headers), self.client_address[1])
        with self.publisher.lock:
            self.publisher.requests.append(request)
        if self.publisher.on_request:
            self.publisher.on_request(request)
        self.request_now = request
        with suppress(ConnectionError):
            fault = self.publisher.take_fault(request)
            if fault is None or not self._faulty(fault, request):
                self._answer(method, request, fault)

    def _faulty(self, fault: Fault, request: Request) -> bool:
        """Answers wrongly and says so; False where the right answer is only to be changed."""
        match fault.kind:
            case "status":
                self._send(int(fault.value), {}, b"no")  # type: ignore[call-overload]
            case "retry":
                status, after = fault.value  # type: ignore[misc]
                self._send(status, {"Retry-After": after} if after else {}, b"<Error><Code>SlowDown</Code></Error>")
            case "phrase":
                self.send_response(500, str(fault.value))
                self.send_header("Content-Length", "0")
                self.end_headers()
            case "redirect":
                self._send(302, {"Location": str(fault.value)}, b"")
            case "html":
                self._send(200, {"Content-Type": "text/html"}, BOT_PAGE)
            case "reset":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
                self.close_connection = True
                raise ConnectionResetError
            case "endless":
                self.send_response(206 if request.range else 200)
                if request.range:
                    first, end = request.range
                    self.send_header("Content-Range", f"bytes {first}-{end - 1}/999999999")
                self.send_header("Connection", "close")
                self.end_headers()
                self.close_connection = True
                while not self.publisher.release.is_set():
                    self.wfile.write(b"GRIB" * 16384)
            case "drip head" | "continue" | "drip trailers":
                self._drip(fault.kind)
            case _:
                return False
        return True

    def _drip(self, kind: str) -> None:
        """A little now and then, for as long as somebody listens."""
        begin, more = {
            "drip head": (b"HTTP/1.1 200 OK\r\nX: ", b"a"),
            "continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
            "drip trailers": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n", b"X: a\r\n"),
        }[kind]
        self.close_connection = True
        self.wfile.write(begin)
        while not self.publisher.release.wait(0.02):
            self.wfile.write(more)

    def _answer(self, method: str, request: Request, fault: Fault | None) -> None:
        parts = urlsplit(request.path)
        path = parts.path.lstrip("/")
        with self.publisher.lock:
            stored = self.publisher.objects.get(path)
        if "list-type" in parse_qs(parts.query):
            self._send(200, {"Content-Type": "application/xml"}, self._list(path, parse_qs(parts.query)))
        elif stored is not None:
            self._object(method, stored, request, fault)
        elif path.endswith("/") or not path:
            self._send(200, {"Content-Type": "text/html"}, self._folder(path))
        else:
            self._send(404, {}, b"<Error><Code>NoSuchKey</Code></Error>")

    def _object(self, method: str, stored: Stored, request: Request, fault: Fault | None) -> None:
        headers = {"Last-Modified": format_datetime(stored.modified, usegmt=True)}
        if self.publisher.ranges:
            headers["Accept-Ranges"] = "bytes"
        if self.publisher.etags:
            headers["ETag"] = stored.etag
        if method == "HEAD":
            if not self.publisher.heads:
                return self._send(405, {}, b"")
            return self._send(200, headers | {"Content-Length": str(len(stored.data))}, b"")
        match = self.headers.get("If-Match")
        if match and self.publisher.etags and match != stored.etag:
            return self._send(412, {}, b"")
        body, status, size = stored.data, 200, len(stored.data)
        if request.range and self.publisher.ranges and not (fault and fault.kind == "no206"):
            first, end = request.range
            end = size if end < 0 else min(end, size)
            if first >= size:
                return self._send(416, {"Content-Range": f"bytes */{size}"}, b"")
            body, status = body[first:end], 206
            headers["Content-Range"] = f"bytes {first}-{end - 1}/{size}"
        return self._bend(status, headers, body, fault)

    def _bend(self, status: int, headers: dict[str, str], body: bytes, fault: Fault | None) -> None:
        length = len(body)
        value = fault.value if fault else None
        if self.publisher.digests:
            digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
            headers["Content-Digest"] = f"sha-256=:{digest}:"
        match fault.kind if fault else "":
            case "truncate":
                body = body[: int(value)] if value else body[: length // 2]  # type: ignore[call-overload]
                self.close_connection = True
            case "length":
                length += int(value)  # type: ignore[call-overload]
                self.close_connection = True
            case "range":
                headers["Content-Range"] = str(value)
            case "cut flip":
                cut, place = value  # type: ignore[misc]
                body = (body[:place] + bytes([body[place] ^ 0x10]) + body[place + 1 :])[:cut]
                self.close_connection = True
            case "flip":
                place = int(value)  # type: ignore[call-overload]
                place %= len(body)
                body = body[:place] + bytes([body[place] ^ 0x10]) + body[place + 1 :]
            case "unannounced":
                self._send_head(status, headers | {"Connection": "close"})
                self.close_connection = True
                return self._write(body[: length // 2])
            case "etag":
                headers["ETag"] = str(value)
            case "encoding":
                headers["Content-Encoding"] = "gzip"
            case "digest":
                headers["Content-Digest"] = str(value)
            case "hold":
                self._send_head(status, headers | {"Content-Length": str(length)})
                self._write(body[: len(body) // 2])
                self.publisher.release.wait(60)
                return self._write(body[len(body) // 2 :])
            case "drip":
                self._send_head(status, headers | {"Content-Length": str(length)})
                for one in body:
                    self._write(bytes([one]))
                return None
        self._send_head(status, headers | {"Content-Length": str(length)})
        return self._write(body)

    def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self._send_head(status, {"Content-Length": str(len(body))} | headers)
        if self.command != "HEAD":
            self._write(body)

    def _send_head(self, status: int, headers: dict[str, str]) -> None:
        self.request_now.status = status
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _write(self, body: bytes) -> None:
        self.wfile.write(body)
        with self.publisher.lock:
            self.request_now.sent += len(body)

    def _list(self, bucket: str, query: dict[str, list[str]]) -> bytes:
        prefix = bucket + query.get("prefix", [""])[0]
        with self.publisher.lock:
            rows = sorted((path, one) for path, one in self.publisher.objects.items() if path.startswith(prefix))
        start = int(query.get("continuation-token", ["0"])[0])
        page, after = rows[start : start + self.publisher.page_size], start + self.publisher.page_size
        entries = "".join(
            f"<Contents><Key>{escape(path.removeprefix(bucket))}</Key>"
            f"<LastModified>{one.modified:%Y-%m-%dT%H:%M:%S.000Z}</LastModified>"
            f"<ETag>{escape(one.etag, {chr(34): '&quot;'})}</ETag><Size>{len(one.data)}</Size></Contents>"
            for path, one in page
        )
        more = after < len(rows)
        token = f"<NextContinuationToken>{after}</NextContinuationToken>" if more else ""
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"<Name>b</Name><Prefix>x</Prefix><IsTruncated>{str(more).lower()}</IsTruncated>{token}{entries}"
            "</ListBucketResult>"
        ).encode()

    def _folder(self, path: str) -> bytes:
        with self.publisher.lock:
            rows = sorted((name, one) for name, one in self.publisher.objects.items() if name.startswith(path))
        lines = [
            f'<a href="{name.removeprefix(path)}">{name.removeprefix(path)}</a>   '
            f"{one.modified:%d-%b-%Y %H:%M}  {_short(len(one.data))}"
            for name, one in rows
            if "/" not in name.removeprefix(path)
        ]
        return ('<html><h1>Index</h1><pre><a href="../">Parent</a>\n' + "\n".join(lines) + "</pre></html>").encode()


def _short(size: int) -> str:
    return f"{size / 1024:.0f}K" if size >= 1024 else str(size)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_: object) -> None:
        """Clients of tests go away in the middle on purpose."""


@contextmanager
def serving() -> Iterator[Publisher]:
    """A publisher on a port of its own."""
    server = _Server(("127.0.0.1", 0), _Handler)
    publisher = Publisher(f"http://127.0.0.1:{server.server_port}/")
    server.RequestHandlerClass = type("Handler", (_Handler,), {"publisher": publisher})
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield publisher
    finally:
        publisher.release.set()
        server.shutdown()
        server.server_close()
        thread.join()
