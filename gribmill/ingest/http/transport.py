"""Requests over HTTP: pooled connections, limits on time and size, and every failure sorted into an outcome."""

from __future__ import annotations

import http.client
import ipaddress
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.cookiejar import DefaultCookiePolicy
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import requests
import urllib3

from gribmill.ingest.http.deadline import Deadline, DeadlineAdapter
from gribmill.ingest.http.digest import ContentDigest
from gribmill.ingest.http.errors import Broken, NoRanges, TooLarge, Untrusted
from gribmill.ingest.http.object_head import Head, checked_range, content_length, head_of
from gribmill.ingest.http.rate_limit import RateLimit
from gribmill.ingest.http.status import check_status
from gribmill.ingest.http.timeouts import Timeouts
from gribmill.ingest.mirrors.host import Host
from gribmill.version import __version__

if TYPE_CHECKING:
    from requests.models import PreparedRequest

CHUNK_BYTES = 1 << 17
MOST_REDIRECTS = 3
FAULTS = (requests.RequestException, urllib3.exceptions.HTTPError, http.client.HTTPException, OSError, ValueError)
Sink = Callable[[bytes], None]
# Told before the first byte whether a checksum will be compared after the last.
Begin = Callable[[bool], None]


class Http:
    """One for a process; its methods may be called from several threads."""

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
        """How many requests were sent so far."""
        return self._count

    def close(self) -> None:
        """Closes all connections."""
        with self._lock:
            for pool in self._pools.values():
                pool.close()
            self._pools.clear()

    def head(self, url: str, host: Host) -> Head:
        """What the host says of an object."""
        with self._answer("HEAD", url, host, {}) as (answer, _):
            check_status(answer, url, host)
            return head_of(url, answer.headers, size=content_length(answer.headers))

    def get(self, url: str, host: Host, sink: Sink, *, limit_bytes: int) -> Head:
        """A whole object into the sink; TooLarge beyond the limit."""
        with self._answer("GET", url, host, {}) as (answer, deadline):
            check_status(answer, url, host)
            size = content_length(answer.headers)
            if answer.status_code != 200:
                raise Untrusted(url, f"answered {answer.status_code} where 200 was expected")
            if size is not None and size > limit_bytes:
                raise TooLarge(url, f"{size} bytes, more than the limit of {limit_bytes}")
            came = self._pour(answer, url, sink, deadline, size, limit_bytes)
            return head_of(url, answer.headers, size=came)

    def get_range(
        self,
        url: str,
        host: Host,
        start: int,
        end: int | None,
        sink: Sink,
        *,
        pin: Head | None,
        begin: Begin | None = None,
    ) -> Head:
        """Exactly these bytes of the pinned object into the sink; a 206 is required."""
        headers = {"Range": f"bytes={start}-{'' if end is None else end - 1}"}
        if pin and pin.strong_etag:
            headers["If-Match"] = pin.strong_etag
        with self._answer("GET", url, host, headers) as (answer, deadline):
            check_status(answer, url, host)
            if answer.status_code != 206:
                raise NoRanges(url, f"answered {answer.status_code} to a request for bytes {start} on; 206 is needed")
            last, size = checked_range(url, answer.headers, start, end)
            head = head_of(url, answer.headers, size=size)
            if pin:
                pin.check_same(head)
            announced = content_length(answer.headers)
            if announced is not None and announced != last - start:
                raise Untrusted(url, f"{announced} bytes announced for a range of {last - start}")
            if begin:
                begin(ContentDigest.announced(answer.headers).expected)
            self._pour(answer, url, sink, deadline, last - start, last - start)
            return head

    def _pour(
        self, answer: requests.Response, url: str, sink: Sink, deadline: Deadline, size: int | None, limit: int
    ) -> int:
        """The body into the sink, counted; short and endless ones are refused."""
        if answer.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise Untrusted(
                url, f"compressed ({answer.headers['Content-Encoding'][:20]}) though that was not asked for"
            )
        most = limit if size is None else size
        deadline.allow(self.timeouts.total(most))
        digest = ContentDigest.announced(answer.headers)
        came = 0
        while chunk := _read(answer, url, deadline):
            came += len(chunk)
            if came > most:
                raise TooLarge(url, f"more than the {most} bytes that it may have")
            digest.add(chunk)
            sink(chunk)
        if size is not None and came != size:
            raise Broken(url, f"cut off after {came} of {size} bytes")
        digest.check(url)
        return came

    @contextmanager
    def _answer(
        self, method: str, url: str, host: Host, headers: dict[str, str]
    ) -> Iterator[tuple[requests.Response, Deadline]]:
        """The answer to a request, and when it has to end. Redirects are followed on the same host alone."""
        target = url
        with Deadline(self.timeouts.base, self._clock).held() as deadline:
            for _ in range(MOST_REDIRECTS + 1):
                with self._send(method, target, host, headers, deadline) as answer:
                    if not answer.is_redirect or answer.status_code in host.retry_statuses:
                        yield answer, deadline
                        return
                    to = urljoin(target, answer.headers["Location"])
                if urlsplit(to)[:2] != urlsplit(target)[:2]:
                    raise Broken(url, f"redirects to another host ({to[:200]}), which may be a page for robots")
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


def _session(connections: int, *, direct: bool) -> requests.Session:
    session = requests.Session()
    adapter = DeadlineAdapter(pool_connections=1, pool_maxsize=connections, max_retries=0, pool_block=True)
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    # Bytes as they lie: an offset into a compressed body means nothing.
    session.headers.update({"User-Agent": f"gribmill/{__version__}", "Accept": "*/*", "Accept-Encoding": "identity"})
    # No host here needs a cookie or a password, and none shall be sent from a file of the user's.
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    session.auth = _nobody
    session.trust_env = not direct
    return session


def _read(answer: requests.Response, url: str, deadline: Deadline) -> bytes:
    """What has arrived, at least a byte; nothing at the end. Reading in full would let a slow host hold us."""
    try:
        return answer.raw.read1(CHUNK_BYTES, decode_content=False) or b""
    except FAULTS as error:
        raise Broken(url, f"the connection failed: {_reason(error, deadline)}") from None


def _nobody(request: PreparedRequest) -> PreparedRequest:
    return request


def _is_loopback(name: str) -> bool:
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _reason(error: Exception, deadline: Deadline) -> str:
    """In a few words; the libraries' own texts hold addresses of objects in memory."""
    if deadline.passed:
        return (
            f"too slow: not done in {deadline.seconds:.0f} s" if deadline.seconds > 0 else "too slow: no time is left"
        )
    if isinstance(error, requests.exceptions.SSLError | urllib3.exceptions.SSLError):
        return "the certificate or the TLS connection is bad"
    if isinstance(error, requests.exceptions.ConnectTimeout):
        return "no connection in time"
    if isinstance(error, requests.Timeout | urllib3.exceptions.TimeoutError | TimeoutError):
        return "no answer in time"
    text = str(error)
    if "NameResolution" in text or "Name or service" in text or "getaddrinfo" in text:
        return "there is no such host (DNS)"
    if "refused" in text:
        return "the connection was refused"
    if isinstance(error, requests.exceptions.InvalidURL | requests.exceptions.MissingSchema):
        return "this is no address"
    return f"the connection broke ({type(error).__name__})"
