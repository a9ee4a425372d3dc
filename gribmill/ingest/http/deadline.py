"""Time limits of requests, enforced at every read from the socket, so that a slow host cannot exceed them."""

from __future__ import annotations

import http.client
import io
import math
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Time limits in seconds. A whole request may take `base` plus the time for its bytes at the slowest allowed rate.

    `base` alone covers everything before the body, `page` a whole listing or index, `turn` the wait for a rate limit.
    """

    connect: float = 10.0
    read: float = 30.0
    base: float = 60.0
    # The longest index, of ECMWF's ensemble, has about 2 MB.
    page: float = 60.0
    slowest_bytes_per_second: float = 50_000.0
    turn: float = 20.0

    def total(self, length: int) -> float:
        """The time limit for a body of that many bytes."""
        return self.base + length / self.slowest_bytes_per_second


class Deadline:
    """A number of seconds from now; never later than the enclosing deadline."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        outer = _current.get()
        self._clock, self._begun = clock, clock()
        self._latest = math.inf if outer is None else outer._begun + outer.seconds
        self.seconds: float
        self.allow(seconds)

    def allow(self, seconds: float) -> None:
        """Changes the time allowed since the start, once the size of the body is known."""
        self.seconds = min(seconds, self._latest - self._begun)

    @property
    def passed(self) -> bool:
        """Whether the time is up."""
        return self._clock() >= self._begun + self.seconds

    def left(self) -> float:
        """The seconds left, always positive. Raises TimeoutError if the deadline has passed."""
        left = self._begun + self.seconds - self._clock()
        if left <= 0:
            raise TimeoutError("the deadline has passed")
        return left

    @contextmanager
    def held(self) -> Iterator[Deadline]:
        """Within the context, requests of this thread end by the deadline."""
        before = _current.set(self)
        try:
            yield self
        finally:
            _current.reset(before)


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def until(moment: float | None) -> Iterator[None]:
    """Within the context, requests of this thread end by that time of the monotonic clock; None sets no limit."""
    if moment is None:
        yield
        return
    with Deadline(moment - time.monotonic()).held():
        yield


class DeadlineAdapter(HTTPAdapter):
    """Connections whose responses (headers, body and trailers) are read under the current deadline."""

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options)
        self.poolmanager.pool_classes_by_scheme = POOLS

    def proxy_manager_for(self, *args: Any, **options: Any) -> Any:
        manager = super().proxy_manager_for(*args, **options)
        manager.pool_classes_by_scheme = POOLS
        return manager


class _Reader(io.RawIOBase):
    """Reads a socket under a deadline. The socket's own timeout is per read, so a trickle would never time out."""

    def __init__(self, sock: socket.socket, deadline: Deadline | None) -> None:
        self._sock, self._deadline, self._pause = sock, deadline, sock.gettimeout()
        self._raw = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int | None:
        if self._deadline is not None:
            left = self._deadline.left()
            self._sock.settimeout(left if self._pause is None else min(left, self._pause))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Source:
    """Stands in for the socket in http.client, which only opens it as a file."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def makefile(self, *_: object) -> io.BufferedReader:
        return io.BufferedReader(_Reader(self._sock, _current.get()))


class DeadlineResponse(http.client.HTTPResponse):
    """A response that is read under the deadline in effect when it began."""

    def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(_Source(sock), *args, **options)  # type: ignore[arg-type]


class _Connection(HTTPConnection):
    response_class = DeadlineResponse


class _TlsConnection(HTTPSConnection):
    response_class = DeadlineResponse


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _TlsPool(HTTPSConnectionPool):
    ConnectionCls = _TlsConnection


POOLS = {"http": _Pool, "https": _TlsPool}
