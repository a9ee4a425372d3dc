"""The sandbox's publisher with objects in memory, and faults that tests aim at single requests."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from gribmill.sandbox.publisher import request as served
from gribmill.sandbox.publisher.damaged_body import cut_off, flipped
from gribmill.sandbox.publisher.faults import BOT_PAGE, Proceed
from gribmill.sandbox.publisher.response import RawResponse, Response, from_bytes
from gribmill.sandbox.publisher.server import Server
from gribmill.sandbox.publisher.stored_object import BytesObject, ObjectStore, StoredObject
from tests.ingest.memory_store import MemoryStore

PUBLISHED_AT = datetime(2026, 9, 1, 13, 0, tzinfo=UTC)
SLOW_DOWN = b"<Error><Code>SlowDown</Code></Error>"
# What is sent first, and what is repeated.
DRIPS = {
    "drip head": (b"HTTP/1.1 200 OK\r\nX: ", b"a"),
    "continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "drip trailers": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n", b"X: a\r\n"),
}


@dataclass
class Fault:
    """Applies to the next `times` requests whose path contains `match` (and that ask for a range, if `ranged`)."""

    kind: str
    match: str = ""
    times: int = 10**9
    ranged: bool | None = None
    skip: int = 0
    value: Any = None


@dataclass(frozen=True)
class Request:
    """A request as the publisher received it."""

    served: served.Request

    @property
    def method(self) -> str:
        return self.served.method

    @property
    def path(self) -> str:
        return unquote(self.served.target)

    @property
    def range(self) -> tuple[int, int] | None:
        """The first byte and the one after the last; -1 if the end is open."""
        found = re.fullmatch(r"bytes=(\d+)-(\d*)", self.served.range or "")
        return (int(found[1]), int(found[2]) + 1 if found[2] else -1) if found else None

    @property
    def headers(self) -> dict[str, str]:
        return dict(self.served.headers)

    @property
    def port(self) -> int:
        return self.served.port

    @property
    def sent(self) -> int:
        return self.served.sent


@dataclass
class Publisher:
    """The objects by path (`aws/hrrr.20260901/…`), the requests so far, and the faults to come."""

    url: str = ""
    store: MemoryStore = field(default_factory=MemoryStore)
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

    @property
    def objects(self) -> dict[str, BytesObject]:
        return self.store.objects

    def put(self, path: str, data: bytes, modified: datetime = PUBLISHED_AT) -> BytesObject:
        with self.lock:
            return self.store.put(path, data, modified)

    def fault(self, kind: str, match: str = "", **options: Any) -> Fault:
        fault = Fault(kind, match, **options)
        self.faults.append(fault)
        return fault

    def asked(self, match: str = "", method: str = "GET") -> list[Request]:
        with self.lock:
            return [one for one in self.requests if match in one.path and one.method == method]

    def version(self, store: ObjectStore, stored: StoredObject) -> StoredObject:
        return stored

    def respond(self, request: served.Request, proceed: Proceed) -> Response | RawResponse:
        received = Request(request)
        with self.lock:
            self.requests.append(received)
        if self.on_request:
            self.on_request(received)
        fault = self._take_fault(received)
        if fault is None:
            return self._proceed(request, proceed)
        return self._replaced(fault, request, proceed) or self._changed(fault, request, proceed)

    def _take_fault(self, request: Request) -> Fault | None:
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

    def _proceed(self, request: served.Request, proceed: Proceed) -> Response:
        """The correct response of a host with these capabilities."""
        if request.method == "HEAD" and not self.heads:
            return Response(405)
        removed = [*(["If-Match"] if not self.etags else []), *(["Range"] if not self.ranges else [])]
        asked = request.without(*removed)
        if "list-type" in asked.target:
            asked.target += f"&max-keys={self.page_size}"
        response = proceed(asked)
        hidden = {name for name, sent in self._optional_headers() if not sent}
        return replace(response, headers={k: v for k, v in response.headers.items() if k not in hidden})

    def _optional_headers(self) -> tuple[tuple[str, bool], ...]:
        return ("ETag", self.etags), ("Accept-Ranges", self.ranges), ("Content-Digest", self.digests)

    def _replaced(self, fault: Fault, request: served.Request, proceed: Proceed) -> Response | RawResponse | None:
        """A response in place of the correct one; None if the fault only alters it."""
        value = fault.value
        match fault.kind:
            case "status":
                return from_bytes(b"no", "text/plain", int(value))
            case "retry":
                status, after = value
                return from_bytes(SLOW_DOWN, "application/xml", status, {"Retry-After": after} if after else {})
            case "phrase":
                return Response(500, reason=str(value))
            case "redirect":
                return Response(302, {"Location": str(value)})
            case "html":
                return from_bytes(BOT_PAGE, "text/html")
            case "body":
                return from_bytes(bytes(value), "application/xml")
            case "reset":
                return RawResponse(reset=True)
            case "no end":  # chunked, without the last chunk
                data = b"".join(proceed(request).body)
                first, end = Request(request).range or (0, 0)
                head = f"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {first}-{end - 1}/*\r\n"
                chunk = f"Transfer-Encoding: chunked\r\n\r\n{len(data):x}\r\n"
                return RawResponse(((head + chunk).encode(), data, b"\r\n"))
            case "endless":
                first, end = Request(request).range or (0, 0)
                headers = {"Content-Range": f"bytes {first}-{end - 1}/999999999"} if end else {}
                return Response(206 if end else 200, headers, self._endless(), None)
            case "drip head" | "continue" | "drip trailers":
                return RawResponse(self._drip(*DRIPS[fault.kind]))
        return None

    def _changed(self, fault: Fault, request: served.Request, proceed: Proceed) -> Response:
        ignored = ["Range"] if fault.kind == "no206" else []
        response = self._proceed(request.without(*ignored), proceed)
        if response.status not in (200, 206) or not response.of_object or request.method == "HEAD":
            return response
        value, body, length = fault.value, b"".join(response.body), response.length or 0
        response = replace(response, body=(body,))
        match fault.kind:
            case "truncate":
                end = int(value) if value else length // 2
                return replace(response, body=cut_off((body,), end))
            case "length":
                return replace(response, length=length + int(value))
            case "cut flip":
                cut, place = value
                return replace(response, body=cut_off(flipped((body,), place), cut))
            case "flip":
                return replace(response, body=flipped((body,), int(value) % length))
            case "unannounced":
                return replace(response, body=cut_off((body,), length // 2), length=None)
            case "hold":
                return replace(response, body=self._held(body))
            case "drip":
                return replace(response, body=self._bytewise(body))
        named = {"range": "Content-Range", "etag": "ETag", "digest": "Content-Digest", "encoding": "Content-Encoding"}
        if name := named.get(fault.kind):
            return replace(response, headers={**response.headers, name: str(value or "gzip")})
        return response

    def _held(self, body: bytes) -> Iterator[bytes]:
        yield body[: len(body) // 2]
        self.release.wait(60)
        yield body[len(body) // 2 :]

    def _endless(self) -> Iterator[bytes]:
        while not self.release.is_set():
            yield b"GRIB" * 16384

    def _bytewise(self, body: bytes) -> Iterator[bytes]:
        """Send a byte at a time, so slowly that a client that was suspended does not find the rest buffered."""
        for one in body:
            if self.release.wait(0.02):
                return
            yield bytes([one])

    def _drip(self, begin: bytes, more: bytes) -> Iterator[bytes]:
        """Send a little at a time until the client disconnects."""
        yield begin
        while not self.release.wait(0.02):
            yield more


@contextmanager
def serving() -> Iterator[Publisher]:
    """A publisher on its own port."""
    publisher = Publisher()
    with Server(publisher.store, publisher) as server:
        publisher.url = server.url
        try:
            yield publisher
        finally:
            publisher.release.set()
