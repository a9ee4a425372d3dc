"""Reads and identifies local files, given as file:// addresses."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

from gribmill.ingest.errors import Broken, NotThere, PastEnd, TooLarge, Untrusted
from gribmill.ingest.http.response import ObjectHead, Sink

CHUNK_BYTES = 1 << 20


def path_of(url: str) -> Path:
    """The path in a file:// address."""
    parts = urlsplit(url)
    path = unquote(parts.path)
    if parts.scheme != "file" or parts.netloc or not path.startswith("/") or "\0" in path:
        raise Untrusted(url, "not a valid file address; write file:///folder/file")
    return Path(path)


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
