"""Downloads without an index: planned from the file's headers, or by fetching the whole file."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gribmill.grib.errors import GribError, damaged
from gribmill.grib.messages import MessageHeader, read_header, without_messages
from gribmill.grib.names.lexicon import lexicon
from gribmill.grib.names.time_range import base_name
from gribmill.grib.product.keys import Keys
from gribmill.grib.sections import MAGIC, ByteSource
from gribmill.ingest.download.download_plan import DownloadPlan, Limits, Piece, Way
from gribmill.ingest.download.fetch import DownloadProgress, Fetcher, Traffic
from gribmill.ingest.download.spool import Spool, whole_path
from gribmill.ingest.download.verify_message import Expected, same_table
from gribmill.ingest.errors import Broken, Changed, NoRanges, NotThere, TooLarge
from gribmill.ingest.http.client import SourceSession
from gribmill.ingest.http.response import ObjectHead
from gribmill.ingest.index.select import Wanted
from gribmill.ingest.mirror import Host

BLOCK_BYTES = 4 << 20
# Sections 0 to 6 of nearly every message fit, so that one request per message is enough.
WINDOW_BYTES = 640
WINDOWS_KEPT = 4
# Maximum length of padding or bulletin headings between messages.
LONGEST_GAP = 4096


def fetch_whole(
    session: SourceSession,
    host: Host,
    head: ObjectHead,
    target: Path,
    *,
    limits: Limits,
    traffic: Traffic,
    progress: DownloadProgress | None,
    deadline: float,
) -> Path:
    """Fetches the whole file, unverified, and returns its temporary path. The caller removes the file."""
    if head.size == 0:
        raise NotThere(head.url, "is still empty")
    if head.size is not None and head.size > limits.whole_bytes:
        raise TooLarge(head.url, f"{head.size} bytes, more than the limit of {limits.whole_bytes} for a whole file")
    with Spool(whole_path(target)) as spool:
        whole = _WholeFile(session, host, head, spool, limits, traffic, progress, deadline)
        if not whole.in_blocks():
            whole.in_one_go()
        spool.finish()
    return whole_path(target)


@dataclass(frozen=True, slots=True)
class _WholeFile:
    session: SourceSession
    host: Host
    head: ObjectHead
    spool: Spool
    limits: Limits
    traffic: Traffic
    progress: DownloadProgress | None
    deadline: float

    def in_blocks(self) -> bool:
        """Fetches the file in blocks, which can be resumed. False if the host does not send ranges."""
        size = self.head.size
        if not size or not self.head.ranges:
            return False
        starts = range(0, size, BLOCK_BYTES)
        pieces = [Piece(at, start, min(BLOCK_BYTES, size - start)) for at, start in enumerate(starts)]
        plan = DownloadPlan(self.head, tuple(pieces), (), (), "whole")
        fetcher = Fetcher(
            self.session, self.host, plan, self.spool, None,
            limits=self.limits, traffic=self.traffic, progress=self.progress, deadline=self.deadline,
        )  # fmt: skip
        try:
            fetcher.run()
        except NoRanges:
            return False
        return True

    def in_one_go(self) -> None:
        """Fetches the file in one request, which cannot be resumed."""
        self.spool.begin(None, [0])
        place = 0

        def take(chunk: bytes) -> None:
            nonlocal place
            if time.monotonic() > self.deadline:
                raise Broken(self.head.url, f"the file took longer than {self.limits.seconds:.0f} s")
            self.spool.write(place, chunk)
            place += len(chunk)
            self.traffic.received += len(chunk)
            if self.progress:
                self.progress(place, self.head.size or place)

        self.traffic.requests += 1
        size = self.head.size
        limit = self.limits.whole_bytes if size is None else size
        try:
            self.head.check_same(self.session.get_into(self.head.url, self.host, take, limit_bytes=limit))
        except TooLarge as error:
            if size is None:
                raise
            raise Changed(self.head.url, f"sends more than the {size} bytes that it had before") from error
        self.spool.grown(place)


class RangeReader:
    """The bytes of a remote object: each slice is fetched with a small request, slightly longer than the slice."""

    def __init__(self, session: SourceSession, host: Host, head: ObjectHead, traffic: Traffic) -> None:
        self._session, self._host, self._head, self._traffic = session, host, head, traffic
        self._windows: list[tuple[int, bytes]] = []

    def __len__(self) -> int:
        return self._head.size or 0

    def __getitem__(self, part: slice, /) -> bytes:
        offset, stop, _ = part.indices(len(self))
        if offset >= stop:
            return b""
        for start, data in self._windows:
            if start <= offset and stop <= start + len(data):
                return data[offset - start : stop - start]
        end = min(max(stop, offset + WINDOW_BYTES), len(self))
        data = self._session.read_range(self._head.url, self._host, offset, end, pin=self._head).data
        self._traffic.received += len(data)
        self._traffic.requests += 1
        self._windows = [(offset, data), *self._windows[: WINDOWS_KEPT - 1]]
        return data[: stop - offset]


def scan_headers(data: ByteSource, source: str, most: int) -> Iterator[MessageHeader]:
    """Yields the header of each message. Raises GribError if one is damaged or truncated."""
    offset, number = _next_message(data, 0, source), 0
    while offset is not None:
        number += 1
        if number > most:
            raise GribError(f"{source}: more than {most} messages")
        try:
            header = read_header(data, offset, number)
        except GribError as error:
            raise damaged(source, number, offset, str(error)) from None
        yield header
        offset = _next_message(data, offset + header.length, source)
    if not number:
        raise without_messages(data, source)


def plan_by_headers(
    headers: Iterable[MessageHeader],
    head: ObjectHead,
    wanted: Sequence[Wanted],
    expected: Expected,
    member: int | None,
    way: Way,
) -> DownloadPlan:
    """The plan for all messages that may contain a wanted quantity, by run, time, member and parameter.

    Levels are not compared, so more may be fetched than needed, but never less. If the parameters of a wanted quantity
    are unknown, all messages for that time are fetched. `found` of the plan does take levels into account.
    """
    known = {same_table(parameter) for want in wanted for parameter in want.parameters}
    choosy = bool(wanted) and all(want.parameters for want in wanted)
    pieces: list[Piece] = []
    seen: set[str] = set()
    for header in headers:
        fitting = [field.keys for field in header.fields if _fits(field.keys, expected, member)]
        chosen = [keys for keys in fitting if not choosy or same_table(keys.parameter) in known]
        if chosen:
            seen |= {name for keys in chosen for name in _quantities(keys)}
            number, offset, length = header.message.number, header.offset, header.length
            pieces.append(Piece(number, offset, length, len(header.fields), len(chosen)))
    named = [want for want in wanted if want.parameters]
    found = tuple(want.name for want in named if not seen.isdisjoint(_base_names(want)))
    missing = tuple(want.name for want in named if want.name not in found)
    return DownloadPlan(head, tuple(pieces), found, missing, way)


def _quantities(keys: Keys) -> Iterator[str]:
    """The names of all quantities that match a field, without the time range."""
    return (base_name(match.variable.name) for match in lexicon().matches(keys))


def _base_names(want: Wanted) -> set[str]:
    return {base_name(name) for name in (want.name, *lexicon().current_names(want.name))}


def _fits(keys: Keys, expected: Expected, member: int | None) -> bool:
    timed = expected.end is None or keys.end is not None
    # A control run may be marked as member 0, or not as a member at all.
    right_member = member is None or keys.member == member or (member == 0 and keys.member is None)
    return timed and right_member and expected.fits(keys)


def _next_message(data: ByteSource, offset: int, source: str) -> int | None:
    """The offset of the next message; None if only a few other bytes follow."""
    if offset >= len(data):
        return None
    if bytes(data[offset : offset + len(MAGIC)]) == MAGIC:
        return offset
    found = bytes(data[offset : offset + LONGEST_GAP + len(MAGIC)]).find(MAGIC)
    if found >= 0:
        return offset + found
    if len(data) - offset > LONGEST_GAP:
        if offset == 0:
            raise without_messages(data, source)
        raise GribError(f"{source}: no message follows at byte {offset}, but the file has {len(data)} bytes")
    return None
