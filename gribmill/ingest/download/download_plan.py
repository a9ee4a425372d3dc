"""The limits and plan of a download: its pieces, and the requests that fetch them; and its result."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Literal, NamedTuple

from gribmill.grib.messages import MessageHeader
from gribmill.ingest.download.verify_message import IndexClaim, claim_of
from gribmill.ingest.errors import BadIndex, IngestError
from gribmill.ingest.http.response import ObjectHead
from gribmill.ingest.index.entry import INDEX_LIMIT_BYTES, ByteRange, Inventory
from gribmill.ingest.index.select import Selection, Wanted
from gribmill.ingest.mirror import Observation

# No message is larger: an index with a larger one is wrong or malicious.
LARGEST_RANGE = 4 * 2**30
MOST_RANGES = 20_000
# By the index; by the file's headers, read with small requests; or by fetching the whole file first.
Way = Literal["index", "walk", "whole"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a download, beyond which it fails. For comparison, a GFS hour has 540 MB in 743 messages.

    A local file may contain years of data, and reading its headers costs no requests.
    """

    spool_bytes: int = 4 * 2**30
    whole_bytes: int = 4 * 2**30
    index_bytes: int = INDEX_LIMIT_BYTES
    walked_messages: int = 3_000
    local_messages: int = 200_000
    seconds: float = 1_500.0
    connections: int = 8
    retry_pause_seconds: float = 0.25


@dataclass(frozen=True, slots=True)
class Piece:
    """One message of the source. `fields` is its number of fields (None: unknown), `fitting` how many are wanted.

    `claims` are the statements of the index about the wanted ones.
    """

    number: int
    start: int
    length: int
    fields: int | None = None
    fitting: int = 1
    claims: tuple[IndexClaim, ...] = ()

    @property
    def range(self) -> ByteRange:
        """Its bytes in the source."""
        return ByteRange(self.start, self.start + self.length)


@dataclass(frozen=True, slots=True)
class DownloadPlan:
    """Pieces of one object in the order of the source; in the spool they are stored without gaps."""

    head: ObjectHead
    pieces: tuple[Piece, ...]
    found: tuple[str, ...]
    missing: tuple[str, ...]
    way: Way
    index_sha256: str = ""

    @property
    def places(self) -> list[int]:
        """The offset of each piece in the spool, followed by the end of the spool."""
        return list(accumulate((piece.length for piece in self.pieces), initial=0))

    @property
    def total(self) -> int:
        """The size of the spool in bytes."""
        return sum(piece.length for piece in self.pieces)

    @property
    def identity(self) -> str | None:
        """Identifies the bytes of this object; None if the host provides neither an ETag nor a time."""
        head = self.head
        if head.etag is None and head.last_modified is None:
            return None
        modified = None if head.etag or not head.last_modified else head.last_modified.isoformat()
        pieces = hashlib.sha256(repr([(piece.start, piece.length) for piece in self.pieces]).encode()).hexdigest()
        return json.dumps([2, head.url, head.etag, modified, head.size, self.index_sha256, pieces])


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A complete, verified spool file. `requested_bytes` were received, including the index and gaps.

    By `index`, `found` and `missing` are exact; by `walk` and `whole`, a time range may differ.
    `messages` have their number in the source and their offset in the spool.
    """

    path: Path
    bytes: int
    requested_bytes: int
    requests: int
    sha256: str
    url: str
    etag: str | None
    source_size: int | None
    mirror: str
    way: Way
    found: tuple[str, ...]
    missing: tuple[str, ...]
    messages: tuple[MessageHeader, ...]
    health_updates: tuple[Observation, ...] = ()


def plan_by_index(
    inventory: Inventory, selection: Selection, wanted: Sequence[Wanted], head: ObjectHead, index: bytes
) -> DownloadPlan:
    """The plan for the selected messages, as the index describes them. The last message ends with the file."""
    in_message = Counter(entry.offset for entry in inventory.entries)
    chosen = Counter(entry.offset for entry in selection.entries)
    numbers = {entry.offset: entry.number for entry in selection.entries}
    claims: dict[int, list[IndexClaim]] = defaultdict(list)
    for want in wanted:
        if entry := selection.found.get(want.name):
            claims[entry.offset].append(claim_of(want, entry))
    pieces = tuple(
        Piece(
            numbers[start], start, _end(inventory, end, head) - start,
            in_message[start], chosen[start], tuple(claims[start]),
        )
        for start, end in selection.ranges
    )  # fmt: skip
    digest = hashlib.sha256(index).hexdigest()
    return DownloadPlan(head, pieces, tuple(selection.found), selection.missing, "index", digest)


def _end(inventory: Inventory, end: int | None, head: ObjectHead) -> int:
    end = head.size if end is None else end
    if end is None:
        raise BadIndex(inventory.source, None, "the end of its last message is not known: the host states no size")
    return end


class RangeRequest(NamedTuple):
    """One request and the wanted ranges in it."""

    start: int
    end: int | None
    parts: tuple[ByteRange, ...]


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a request compared with fetching the bytes of a gap.

    A request takes about `request_seconds` to its first byte, and a connection transfers `bytes_per_second`: gaps
    smaller than their product are cheaper to fetch than to skip. All gaps together stay below the share `waste` of the
    wanted bytes (the smallest are closed first, which saves the most requests). No merged request is longer than
    `most_bytes`, so that several connections share a file and a dropped one costs little.
    """

    request_seconds: float = 0.1
    bytes_per_second: float = 20e6
    waste: float = 0.08
    most_bytes: int = 16 * 2**20

    @property
    def largest_gap(self) -> int:
        """The number of bytes that take as long as a request."""
        return int(self.request_seconds * self.bytes_per_second)


def merge(ranges: Iterable[ByteRange], cost: Cost | None = None) -> list[RangeRequest]:
    """Requests that cover every wanted byte exactly once, in the order of the file."""
    cost = cost or Cost()
    parts = _checked(ranges)
    gaps = sorted(
        (after.start - before.end, place)
        for place, (before, after) in enumerate(pairwise(parts))
        if before.end is not None
    )
    budget = int(cost.waste * sum(part.end - part.start for part in parts if part.end is not None))
    closed: set[int] = set()
    for gap, place in gaps:
        if gap > cost.largest_gap or gap > budget:
            break
        budget -= gap
        closed.add(place)
    return _joined(parts, closed, cost.most_bytes)


def _checked(ranges: Iterable[ByteRange]) -> list[ByteRange]:
    """The ranges sorted and without duplicates. Raises IngestError for overlapping and invalid ranges."""
    parts = sorted(set(ranges), key=lambda part: part.start)
    if len(parts) > MOST_RANGES:
        raise IngestError(f"{len(parts)} byte ranges of one file exceed the limit of {MOST_RANGES}")
    for part in parts:
        if part.start < 0 or (part.end is not None and not 0 < part.end - part.start <= LARGEST_RANGE):
            raise IngestError(f"bytes {part.start} to {part.end} are not a valid range")
    for before, after in pairwise(parts):
        if before.end is None or after.start < before.end:
            raise IngestError(f"byte ranges overlap at {after.start}")
    return parts


def _joined(parts: list[ByteRange], closed: set[int], most_bytes: int) -> list[RangeRequest]:
    groups: list[list[ByteRange]] = []
    for place, part in enumerate(parts):
        fits = part.end is not None and groups and part.end - groups[-1][0].start <= most_bytes
        if fits and place - 1 in closed:
            groups[-1].append(part)
        else:
            groups.append([part])
    return [RangeRequest(group[0].start, group[-1].end, tuple(group)) for group in groups]
