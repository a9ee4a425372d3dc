"""Reads objects over HTTP or from files of this machine, by their address."""

from __future__ import annotations

from types import TracebackType
from typing import NamedTuple

from gribmill.ingest.http.deadline import Deadline, Timeouts
from gribmill.ingest.http.errors import Broken
from gribmill.ingest.http.local_files import LocalFiles, is_local
from gribmill.ingest.http.rate_limit import RateLimit
from gribmill.ingest.http.response import ObjectHead, Sink
from gribmill.ingest.http.transport import Begin, Http
from gribmill.ingest.mirrors.mirror import Host

# Method not allowed, not implemented.
NO_HEAD = (405, 501)


class Body(NamedTuple):
    """A small object as a whole."""

    data: bytes
    head: ObjectHead


class SourceSession:
    """Keep one per process: connections are pooled per host. Threads may share it.

    `rate` enforces hosts' request limits across all processes; without it there is no limit.
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
        """An object's size and identity, by HEAD or, where the host does not support that, by its first byte."""
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
        """A listing or an index in memory; TooLarge beyond the limit."""
        parts: list[bytes] = []
        with Deadline(self._http.timeouts.page).held():
            head = self.get_into(url, host, parts.append, limit_bytes=limit_bytes)
        return Body(b"".join(parts), head)

    def get_into(self, url: str, host: Host, sink: Sink, *, limit_bytes: int) -> ObjectHead:
        """A whole object into the sink."""
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
        """Exactly the bytes from `start` to before `end` into the sink, of the object that `pin` describes.

        `begin` is called before the first byte, with whether a checksum follows: the bytes are then unverified until
        this call returns.
        """
        if is_local(url):
            return self._files.get_range(url, start, end, sink, pin=pin)
        return self._http.get_range(url, host, start, end, sink, pin=pin, begin=begin)

    def read_range(self, url: str, host: Host, start: int, end: int, *, pin: ObjectHead | None = None) -> Body:
        """A range in memory."""
        parts: list[bytes] = []
        head = self.get_range(url, host, start, end, parts.append, pin=pin)
        return Body(b"".join(parts), head)
