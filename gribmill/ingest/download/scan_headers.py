"""A file read by its own headers, where no index can be used."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from gribmill.grib.header import MAGIC, BadMessage, FieldHead, MessageHead, ReadAt, read_message
from gribmill.ingest.download.check_index_entry import same_table
from gribmill.ingest.download.download_plan import Piece, Plan, Way, plan_by_pieces
from gribmill.ingest.download.fetch import Traffic
from gribmill.ingest.download.verify_message import Expected
from gribmill.ingest.http.client import Session
from gribmill.ingest.http.object_head import Head
from gribmill.ingest.index.wanted import Wanted
from gribmill.ingest.mirrors.host import Host

# Sections 0 to 6 of nearly every message fit: one request for each.
WINDOW_BYTES = 640
WINDOWS_KEPT = 4
# Bytes between messages (padding, a bulletin's heading) are never more.
LONGEST_GAP = 4096


class RangeReader:
    """Reads anywhere in an object through small requests, each a bit longer than was asked for."""

    def __init__(self, session: Session, host: Host, head: Head, traffic: Traffic) -> None:
        self._session, self._host, self._head, self._traffic = session, host, head, traffic
        self._windows: list[tuple[int, bytes]] = []

    def read(self, offset: int, count: int) -> bytes:
        """The bytes from there on, fewer only at the end of the object."""
        size = self._head.size or 0
        count = min(count, size - offset)
        if count <= 0:
            return b""
        for start, data in self._windows:
            if start <= offset and offset + count <= start + len(data):
                return data[offset - start : offset - start + count]
        end = min(offset + max(count, WINDOW_BYTES), size)
        data = self._session.read_range(self._head.url, self._host, offset, end, pin=self._head).data
        self._traffic.came += len(data)
        self._traffic.requests += 1
        self._windows = [(offset, data), *self._windows[: WINDOWS_KEPT - 1]]
        return data[:count]


def walk(read: ReadAt, size: int, most: int) -> Iterator[MessageHead]:
    """Each message in turn; a BadMessage where one is damaged or cut off."""
    offset, count = _next_message(read, 0, size), 0
    while offset is not None:
        head = read_message(read, offset, size)
        yield head
        count += 1
        if count > most:
            raise BadMessage(f"more than {most} messages")
        offset = _next_message(read, offset + head.length, size)
    if not count:
        raise BadMessage(f"no GRIB message in the first {min(size, LONGEST_GAP)} bytes")


def plan_by_walk(
    heads: Sequence[MessageHead], head: Head, wanted: Sequence[Wanted], expected: Expected, member: int | None, way: Way
) -> Plan:
    """The messages that can be what is wanted: of its run, its time, its member and one of its parameters.

    The level is not looked at, so more may come than is needed, never less; the tiles tell them apart. Where the
    parameters of something wanted are not known, every message of the time comes.
    """
    known = {same_table(parameter) for want in wanted for parameter in want.parameters}
    choosy = bool(wanted) and all(want.parameters for want in wanted)
    pieces: list[Piece] = []
    seen: set[tuple[int, ...]] = set()
    for number, message in enumerate(heads, 1):
        fitting = [field for field in message.fields if _fits(field, expected, member)]
        chosen = [field for field in fitting if not choosy or same_table(field.parameter) in known]
        if chosen:
            seen |= {same_table(field.parameter) for field in chosen}
            pieces.append(Piece(number, message.offset, message.length, len(message.fields), len(chosen)))
    named = [want for want in wanted if want.parameters]
    found = [want.name for want in named if not seen.isdisjoint(map(same_table, want.parameters))]
    missing = [want.name for want in named if want.name not in found]
    return plan_by_pieces(head, pieces, found, missing, way)


def member_of(extras: Collection[str]) -> int | None:
    """The member that alone is wanted of a file with all of them: ECMWF's `pf:7`, and 0 for `cf`."""
    for extra in extras:
        kind, _, number = extra.partition(":")
        if kind == "pf" and number.isdigit():
            return int(number)
        if kind == "cf":
            return 0
    return None


def _fits(field: FieldHead, expected: Expected, member: int | None) -> bool:
    timed = expected.end is None or field.end is not None
    # A control run may be marked as member 0, or as no member at all.
    right_member = member is None or field.member == member or (member == 0 and field.member is None)
    return timed and right_member and expected.fits(field)


def _next_message(read: ReadAt, offset: int, size: int) -> int | None:
    """Where the next message begins; None where only a little that is no message follows."""
    if offset >= size:
        return None
    if read(offset, len(MAGIC)) == MAGIC:
        return offset
    found = read(offset, LONGEST_GAP + len(MAGIC)).find(MAGIC)
    if found >= 0:
        return offset + found
    if size - offset > LONGEST_GAP:
        raise BadMessage(f"no message follows at byte {offset}, though the file goes on to {size}")
    return None
