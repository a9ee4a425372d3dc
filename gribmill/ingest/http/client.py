"""Reads objects by their address: over HTTP, with limits on time and size and a SourceError for every failure, or from
local files."""

from __future__ import annotations

import http.client
import ipaddress
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.cookiejar import DefaultCookiePolicy
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin, urlsplit

import requests
import urllib3

from gribmill.ingest.errors import Broken, NoRanges, TooLarge, Untrusted
from gribmill.ingest.http.deadline import Deadline, DeadlineAdapter, Timeouts
from gribmill.ingest.http.local_files import LocalFiles
from gribmill.ingest.http.rate_limit import RateLimit
from gribmill.ingest.http.response import (
    ContentDigest,
    ObjectHead,
    Sink,
    check_status,
    checked_range,
    content_length,
    object_head,
)
from gribmill.ingest.mirror import Host
from gribmill.version import __version__

if TYPE_CHECKING:
    from requests.models import PreparedRequest

CHUNK_BYTES = 1 << 17
MOST_REDIRECTS = 3
FAULTS = (requests.RequestException, urllib3.exceptions.HTTPError, http.client.HTTPException, OSError, ValueError)
# Called before the first byte, with whether a checksum will be verified after the last byte.
Begin = Callable[[bool], None]
# Method not allowed, not implemented.
NO_HEAD = (405, 501)


class Body(NamedTuple):
    """A small object in memory."""

    data: bytes
    head: ObjectHead


class SourceSession:
    """Reads objects by address. Keep one per process: connections are pooled per host. Threads may share it.

    `rate` enforces the publishers' request limits across processes and hosts; without it there is no limit.
    """

    def __init__(self, rate: RateLimit | None = None, timeouts: Timeouts | None = None) -> None:
        self._http = Http(rate, timeouts)
        self._files = LocalFiles()

    def __enter__(self) -> SourceSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes all connections; the session opens new ones if it is used again."""
        self._http.close()

    @property
    def timeouts(self) -> Timeouts:
        """The time limits of its requests."""
        return self._http.timeouts

    @property
    def requests(self) -> int:
        """The number of HTTP requests sent so far."""
        return self._http.sent

    def head(self, url: str, host: Host) -> ObjectHead:
        """An object's size and identity, from a HEAD request or, if the host does not support it, the first byte."""
        if is_local(url):
            return self._files.head(url)
        try:
            head = self._http.head(url, host)
            if head.size is not None:
                return head
        except Broken as error:
            if error.status not in NO_HEAD:
                raise
        return self.get_range(url, host, 0, 1, lambda chunk: None)

    def get(self, url: str, host: Host, *, limit_bytes: int) -> Body:
        """Reads a listing or an index into memory. Raises TooLarge beyond the limit."""
        parts: list[bytes] = []
        with Deadline(self._http.timeouts.page).held():
            head = self.get_into(url, host, parts.append, limit_bytes=limit_bytes)
        return Body(b"".join(parts), head)

    def get_into(self, url: str, host: Host, sink: Sink, *, limit_bytes: int) -> ObjectHead:
        """Reads a whole object into the sink."""
        if is_local(url):
            return self._files.get(url, sink, limit_bytes=limit_bytes)
        return self._http.get(url, host, sink, limit_bytes=limit_bytes)

    def get_range(
        self,
        url: str,
        host: Host,
        start: int,
        end: int | None,
        sink: Sink,
        *,
        pin: ObjectHead | None = None,
        begin: Begin | None = None,
    ) -> ObjectHead:
        """Reads exactly the bytes from `start` to before `end` of the pinned object into the sink.

        `begin` is called before the first byte, with whether the response has a checksum; if so, the bytes are
        unverified until this call returns.
        """
        if is_local(url):
            return self._files.get_range(url, start, end, sink, pin=pin)
        return self._http.get_range(url, host, start, end, sink, pin=pin, begin=begin)

    def read_range(self, url: str, host: Host, start: int, end: int, *, pin: ObjectHead | None = None) -> Body:
        """Reads a range into memory."""
        parts: list[bytes] = []
        head = self.get_range(url, host, start, end, parts.append, pin=pin)
        return Body(b"".join(parts), head)


def is_local(url: str) -> bool:
    """Whether the address refers to a local file."""
    return url.startswith("file:")


class Http:
    """Sends HTTP requests. Keep one per process; its methods may be called from several threads."""

    def __init__(
        self,
        rate: RateLimit | None = None,
        timeouts: Timeouts | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.timeouts = timeouts or Timeouts()
        self._rate, self._clock = rate, clock
        self._pools: dict[str, requests.Session] = {}
        self._lock = threading.Lock()
        self._count = 0

    @property
    def sent(self) -> int:
        """The number of requests sent so far."""
        return self._count

    def close(self) -> None:
        """Closes all connections."""
        with self._lock:
            for pool in self._pools.values():
                pool.close()
            self._pools.clear()

    def head(self, url: str, host: Host) -> ObjectHead:
        """An object's size and identity."""
        with self._response("HEAD", url, host, {}) as (response, _):
            check_status(response, url, host)
            return object_head(url, response.headers, size=content_length(response.headers))

    def get(self, url: str, host: Host, sink: Sink, *, limit_bytes: int) -> ObjectHead:
        """Reads a whole object into the sink. Raises TooLarge beyond the limit."""
        with self._response("GET", url, host, {}) as (response, deadline):
            check_status(response, url, host)
            size = content_length(response.headers)
            if response.status_code != 200:
                raise Untrusted(url, f"returned {response.status_code} instead of 200")
            if size is not None and size > limit_bytes:
                raise TooLarge(url, f"{size} bytes, more than the limit of {limit_bytes}")
            read = self._read_body(response, url, sink, deadline, size, limit_bytes)
            return object_head(url, response.headers, size=read)

    def get_range(
        self,
        url: str,
        host: Host,
        start: int,
        end: int | None,
        sink: Sink,
        *,
        pin: ObjectHead | None,
        begin: Begin | None = None,
    ) -> ObjectHead:
        """Reads exactly these bytes of the pinned object into the sink; the status must be 206."""
        headers = {"Range": f"bytes={start}-{'' if end is None else end - 1}"}
        if pin and pin.strong_etag:
            headers["If-Match"] = pin.strong_etag
        with self._response("GET", url, host, headers) as (response, deadline):
            check_status(response, url, host)
            if response.status_code != 206:
                raise NoRanges(url, f"returned {response.status_code} to a request for bytes from {start} on, not 206")
            last, size = checked_range(url, response.headers, start, end)
            head = object_head(url, response.headers, size=size)
            if pin:
                pin.check_same(head)
            announced = content_length(response.headers)
            if announced is not None and announced != last - start:
                raise Untrusted(url, f"Content-Length is {announced} for a range of {last - start} bytes")
            if begin:
                begin(ContentDigest.of_response(response.headers).expected)
            self._read_body(response, url, sink, deadline, last - start, last - start)
            return head

    def _read_body(
        self, response: requests.Response, url: str, sink: Sink, deadline: Deadline, size: int | None, limit: int
    ) -> int:
        """Reads the body into the sink and returns its size. Raises SourceError if it is too short or too long."""
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise Untrusted(
                url, f"compressed ({response.headers['Content-Encoding'][:20]}) although that was not requested"
            )
        most = limit if size is None else size
        deadline.allow(self.timeouts.total(most))
        digest = ContentDigest.of_response(response.headers)
        came = 0
        while chunk := _read(response, url, deadline):
            came += len(chunk)
            if came > most:
                raise TooLarge(url, f"more than the expected {most} bytes")
            digest.add(chunk)
            sink(chunk)
        if size is not None and came != size:
            raise Broken(url, f"cut off after {came} of {size} bytes")
        digest.check(url)
        return came

    @contextmanager
    def _response(
        self, method: str, url: str, host: Host, headers: dict[str, str]
    ) -> Iterator[tuple[requests.Response, Deadline]]:
        """The response to a request, and its deadline. Redirects are only followed on the same host."""
        target = url
        with Deadline(self.timeouts.base, self._clock).held() as deadline:
            for _ in range(MOST_REDIRECTS + 1):
                with self._send(method, target, host, headers, deadline) as response:
                    if not response.is_redirect or response.status_code in host.retry_statuses:
                        yield response, deadline
                        return
                    to = _redirected(target, response.headers["Location"])
                if urlsplit(to)[:2] != urlsplit(target)[:2]:
                    raise Broken(url, f"redirects to another host ({to[:200]}), possibly a page for bots")
                target = to
        raise Broken(url, f"more than {MOST_REDIRECTS} redirects")

    def _send(
        self, method: str, url: str, host: Host, headers: dict[str, str], deadline: Deadline
    ) -> requests.Response:
        if self._rate is not None:
            self._rate.take(host, url, self.timeouts.turn)
        try:
            pool = self._pool(url, host)
            with self._lock:
                self._count += 1
            limits = (min(self.timeouts.connect, deadline.left()), self.timeouts.read)
            return pool.request(method, url, headers=headers, stream=True, allow_redirects=False, timeout=limits)
        except FAULTS as error:
            raise Broken(url, _reason(error, deadline)) from None

    def _pool(self, url: str, host: Host) -> requests.Session:
        parts = urlsplit(url)
        key = f"{parts.scheme}://{parts.netloc}"
        with self._lock:
            if key not in self._pools:
                self._pools[key] = _session(host.connections, direct=_is_loopback(parts.hostname or ""))
            return self._pools[key]


class _Session(requests.Session):
    """Leaves redirects to `Http`. Even where it follows none, requests would read their bodies into memory."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        """None for every response."""


def _redirected(url: str, location: str) -> str:
    try:
        to = urljoin(url, location)
        urlsplit(to)
    except ValueError:
        raise Broken(url, "redirects to an address that is not valid") from None
    return to


def _session(connections: int, *, direct: bool) -> requests.Session:
    session = _Session()
    adapter = DeadlineAdapter(pool_connections=1, pool_maxsize=connections, max_retries=0, pool_block=True)
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    # Uncompressed: offsets into a compressed body are meaningless.
    session.headers.update({"User-Agent": f"gribmill/{__version__}", "Accept": "*/*", "Accept-Encoding": "identity"})
    # No host needs cookies or passwords, and passwords from the user's .netrc must not be sent.
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    session.auth = _no_auth
    session.trust_env = not direct
    return session


def _read(response: requests.Response, url: str, deadline: Deadline) -> bytes:
    """The bytes that have arrived, at least one; b"" at the end. Waiting for a full chunk would hide a slow host."""
    try:
        return response.raw.read1(CHUNK_BYTES, decode_content=False) or b""
    except FAULTS as error:
        raise Broken(url, f"the connection failed: {_reason(error, deadline)}") from None


def _no_auth(request: PreparedRequest) -> PreparedRequest:
    return request


def _is_loopback(name: str) -> bool:
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _reason(error: Exception, deadline: Deadline) -> str:
    """A short reason, because the libraries' messages contain memory addresses."""
    if deadline.passed:
        return (
            f"too slow: not finished in {deadline.seconds:.0f} s" if deadline.seconds > 0 else "too slow: no time left"
        )
    if isinstance(error, requests.exceptions.SSLError | urllib3.exceptions.SSLError):
        return "the TLS certificate or connection is invalid"
    if isinstance(error, requests.exceptions.ConnectTimeout):
        return "connecting timed out"
    if isinstance(error, requests.Timeout | urllib3.exceptions.TimeoutError | TimeoutError):
        return "the host did not respond in time"
    text = str(error)
    if "NameResolution" in text or "Name or service" in text or "getaddrinfo" in text:
        return "the host name cannot be resolved (DNS)"
    if "refused" in text:
        return "the connection was refused"
    if isinstance(error, requests.exceptions.InvalidURL | requests.exceptions.MissingSchema):
        return "the address is not valid"
    return f"the connection broke ({type(error).__name__})"
