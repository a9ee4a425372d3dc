"""Reads objects by their address, over HTTP or from local files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from gribmill.ingest.http.deadline import Deadline, Timeouts
from gribmill.ingest.http.errors import Broken, NotThere, PastEnd, TooLarge, Untrusted
from gribmill.ingest.http.rate_limit import RateLimit
from gribmill.ingest.http.response import ObjectHead, Sink
from gribmill.ingest.http.transport import Begin, Http
from gribmill.ingest.mirrors.mirror import Host

CHUNK_BYTES = 1 << 20


def path_of(url: str) -> Path:
    """The path in a file:// address."""
    parts = urlsplit(url)
    path = unquote(parts.path)
    if parts.scheme != "file" or parts.netloc or not path.startswith("/") or "\0" in path:
        raise Untrusted(url, "not a valid file address; write file:///folder/file")
    return Path(path)


def is_local(url: str) -> bool:
    """Whether the address refers to a local file."""
    return url.startswith("file:")


class LocalFiles:
    """Reads local files, with the same methods as Http."""

    def head(self, url: str) -> ObjectHead:
        """Size and identity of a file."""
        with _opened(url) as (_, head):
            return head

    def get(self, url: str, sink: Sink, *, limit_bytes: int) -> ObjectHead:
        """Copies a whole file into the sink."""
        with _opened(url) as (place, head):
            if (head.size or 0) > limit_bytes:
                raise TooLarge(url, f"{head.size} bytes, more than the limit of {limit_bytes}")
            _copy(place, url, 0, head.size or 0, sink)
            return head

    def get_range(self, url: str, start: int, end: int | None, sink: Sink, *, pin: ObjectHead | None) -> ObjectHead:
        """Copies exactly these bytes of the pinned file into the sink."""
        with _opened(url) as (place, head):
            if pin:
                pin.check_same(head)
            size = head.size or 0
            stop = size if end is None else end
            if start >= size or stop > size:
                raise PastEnd(url, f"ends before the requested bytes (size {size})")
            _copy(place, url, start, stop, sink)
            return head


@contextmanager
def _opened(url: str) -> Iterator[tuple[int, ObjectHead]]:
    path = path_of(url)
    try:
        place = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise NotThere(url, "is not there") from None
    except OSError as error:
        raise Broken(url, f"cannot be read: {error.strerror}") from None
    try:
        facts = os.fstat(place)
        if not stat.S_ISREG(facts.st_mode):
            raise Broken(url, "is not a regular file")
        yield place, head_of_file(url, facts)
    finally:
        os.close(place)


def head_of_file(url: str, facts: os.stat_result) -> ObjectHead:
    """A file's size and identity; replacing or appending to the file changes the tag."""
    etag = f'"{facts.st_ino:x}-{facts.st_size:x}-{facts.st_mtime_ns:x}"'
    return ObjectHead(url, facts.st_size, etag, datetime.fromtimestamp(facts.st_mtime, UTC), ranges=True)


def _copy(place: int, url: str, start: int, end: int, sink: Sink) -> None:
    while start < end:
        try:
            chunk = os.pread(place, min(CHUNK_BYTES, end - start), start)
        except OSError as error:
            raise Broken(url, f"cannot be read: {error.strerror}") from None
        if not chunk:
            raise Broken(url, f"ends at {start}, before {end}")
        start += len(chunk)
        sink(chunk)


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
