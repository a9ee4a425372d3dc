"""Fetches the pieces of a plan into the spool in parallel, and verifies each as soon as it is complete."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass

from gribmill.grib.errors import GribError, damaged
from gribmill.grib.messages import MessageHeader, read_header
from gribmill.grib.sections import INDICATOR_BYTES
from gribmill.ingest.download.download_plan import DownloadPlan, Limits, RangeRequest, merge
from gribmill.ingest.download.spool import Spool
from gribmill.ingest.download.verify_message import Expected, verify_beginning, verify_message
from gribmill.ingest.errors import Broken
from gribmill.ingest.http.client import SourceSession
from gribmill.ingest.http.deadline import until
from gribmill.ingest.mirror import Host

# Dropped connections are common; after three in a row, the download from this host fails.
TRIES = 3
DownloadProgress = Callable[[int, int], None]


class FetchStopped(Exception):
    """Another request for the same file failed, so this one can stop."""


@dataclass(slots=True)
class Traffic:
    """The transfers so far, shared by the threads of one download."""

    received: int = 0
    requests: int = 0


class Fetcher:
    """Executes one plan. `expected` is None if the pieces are blocks of a file instead of messages."""

    def __init__(
        self,
        session: SourceSession,
        host: Host,
        plan: DownloadPlan,
        spool: Spool,
        expected: Expected | None,
        *,
        limits: Limits,
        traffic: Traffic,
        progress: DownloadProgress | None = None,
        deadline: float | None = None,
    ) -> None:
        self.session, self.host, self.plan, self.spool, self.expected = session, host, plan, spool, expected
        self.limits, self.traffic, self._progress, self._deadline = limits, traffic, progress, deadline
        self.places = plan.places
        self.numbers = {piece.start: number for number, piece in enumerate(plan.pieces)}
        self.headers: dict[int, MessageHeader] = {}
        self.lock = threading.Lock()
        self._stop = threading.Event()
        self._done = 0
        self._seconds = limits.seconds

    def run(self) -> None:
        """Fetches all pieces that the spool does not have yet; raises the first failure."""
        self.spool.begin(self.plan.identity, self.places)
        self._done = sum(self.plan.pieces[number].length for number in self.spool.verified)
        left = [piece.range for number, piece in enumerate(self.plan.pieces) if number not in self.spool.verified]
        requests = merge(left)
        # Each request has its own time limit; all together must not take much longer than a single one.
        self._seconds = self.session.timeouts.total(self.plan.total - self._done)
        latest = time.monotonic() + self._seconds
        self._deadline = latest if self._deadline is None else min(latest, self._deadline)
        self.report(0)
        workers = min(self.host.connections, self.limits.connections, len(requests))
        if workers <= 1:
            for request in requests:
                self._fetch(request)
            return
        with ThreadPoolExecutor(workers, thread_name_prefix="fetch") as pool:
            futures = [pool.submit(self._fetch, request) for request in requests]
            try:
                wait(futures, return_when=FIRST_EXCEPTION)
            finally:
                # After a failure, this stops the other requests; otherwise all are done.
                self._stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
        errors = [error for future in futures if not future.cancelled() and (error := future.exception())]
        for error in sorted(errors, key=lambda error: isinstance(error, FetchStopped)):
            raise error

    def all_headers(self) -> tuple[MessageHeader, ...]:
        """The header of each piece, including pieces that an earlier process has verified."""
        for number, piece in enumerate(self.plan.pieces):
            if number not in self.headers:
                place = self.places[number]
                with self.placed(number):
                    self.headers[number] = read_header(self.spool.until(place + piece.length), place, piece.number)
        return tuple(self.headers[number] for number in range(len(self.plan.pieces)))

    def report(self, count: int) -> None:
        """Reports `count` more bytes as stored (negative if they have to be fetched again)."""
        with self.lock:
            self._done += count
            if self._progress:
                self._progress(self._done, self.plan.total)

    def check_going(self) -> None:
        """Raises if another request has failed or the deadline has passed."""
        if self._stop.is_set():
            raise FetchStopped
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise Broken(self.plan.head.url, f"too slow: the file was not finished in {self._seconds:.0f} s")

    def verify(self, number: int) -> None:
        """Raise GribError unless the piece is the message in the plan. Blocks of a file are not verified."""
        if self.expected is None:
            return
        piece, place = self.plan.pieces[number], self.places[number]
        data = self.spool.until(place + piece.length)
        with self.placed(number):
            self.headers[number] = verify_message(
                data, place, piece.number, self.expected,
                fields=piece.fields, fitting=piece.fitting, claims=piece.claims,
            )  # fmt: skip

    @contextmanager
    def placed(self, number: int) -> Iterator[None]:
        """Adds the source and the message's number and offset to a GribError."""
        try:
            yield
        except GribError as error:
            piece = self.plan.pieces[number]
            raise damaged(self.plan.head.url, piece.number, piece.start, str(error)) from None

    def _fetch(self, request: RangeRequest) -> None:
        """Sends one request; after a dropped connection, requests the rest again."""
        writer = _PieceWriter(self, request)
        for attempt in range(1, TRIES + 1):
            self.check_going()
            with self.lock:
                self.traffic.requests += 1
            try:
                with until(self._deadline):
                    self.session.get_range(
                        self.plan.head.url, self.host, writer.place, request.end, writer.take,
                        pin=self.plan.head, begin=writer.begin,
                    )  # fmt: skip
                writer.finish()
                return
            except Broken:
                writer.forget_unchecked()
                if writer.complete:
                    return
                if attempt == TRIES:
                    raise
                self._stop.wait(self.limits.retry_pause_seconds * 2 ** (attempt - 1))


class _PieceWriter:
    """Receives the bytes of one request in order: writes each message to its place, and drops the gaps between them.

    If the host sends a checksum of the range, messages count as verified only after it matches; otherwise as soon as
    they are complete.
    """

    def __init__(self, fetcher: Fetcher, request: RangeRequest) -> None:
        self.fetcher, self.request = fetcher, request
        self.place = request.start
        self._parts = list(request.parts)
        self._digest = hashlib.sha256()
        self._first = b""
        self._checked = False
        self._unmarked: list[tuple[int, str]] = []
        self._written_since = 0
        self._safe = (self.place, list(self._parts), self._digest, self._first)

    def begin(self, checked: bool) -> None:
        """A response begins; everything before it is kept."""
        self._checked, self._written_since = checked, 0
        self._safe = (self.place, list(self._parts), self._digest.copy(), self._first)

    def take(self, chunk: bytes) -> None:
        """Takes the next bytes."""
        self.fetcher.check_going()
        with self.fetcher.lock:
            self.fetcher.traffic.received += len(chunk)
        view = memoryview(chunk)
        while view and self._parts:
            start, end = self._parts[0]
            assert end is not None
            if self.place < start:
                step = min(len(view), start - self.place)
            else:
                step = min(len(view), end - self.place)
                self._write(bytes(view[:step]), start)
            self.place += step
            view = view[step:]
            if self.place == end:
                self._complete(start)

    @property
    def complete(self) -> bool:
        """Whether all messages are verified; the connection may have failed after the last byte."""
        return not self._parts

    def finish(self) -> None:
        """The response was complete, and its checksum matched."""
        for number, digest in self._unmarked:
            self.fetcher.spool.mark(number, digest)
        self._unmarked = []
        if self._parts:
            raise Broken(self.fetcher.plan.head.url, f"the range ended before byte {self._parts[0].start}")

    def forget_unchecked(self) -> None:
        """The response was cut off before its checksum: its bytes have to be fetched again."""
        if self._checked:
            self.place, self._parts, self._digest, self._first = self._safe
            self._unmarked, self._checked = [], False
            self.fetcher.report(-self._written_since)

    def _write(self, data: bytes, start: int) -> None:
        fetcher, number = self.fetcher, self.fetcher.numbers[start]
        if fetcher.expected is not None and len(self._first) < INDICATOR_BYTES:
            before = len(self._first)
            self._first += data[: INDICATOR_BYTES - before]
            if len(self._first) == INDICATOR_BYTES:
                with fetcher.placed(number):
                    verify_beginning(self._first, fetcher.plan.pieces[number].length)
        fetcher.spool.write(fetcher.places[number] + self.place - start, data)
        self._digest.update(data)
        self._written_since += len(data)
        fetcher.report(len(data))

    def _complete(self, start: int) -> None:
        fetcher, number = self.fetcher, self.fetcher.numbers[start]
        fetcher.verify(number)
        self._unmarked.append((number, self._digest.hexdigest()))
        self._parts.pop(0)
        self._digest, self._first = hashlib.sha256(), b""
        if not self._checked:
            for one in self._unmarked:
                fetcher.spool.mark(*one)
            self._unmarked = []
