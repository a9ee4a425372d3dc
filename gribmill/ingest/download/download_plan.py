"""The limits, plan and result of a download."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Literal

from gribmill.grib.messages import MessageHeader
from gribmill.ingest.circuit_breaker import Observation
from gribmill.ingest.download.verify_message import IndexClaim, claim_of
from gribmill.ingest.errors import BadIndex
from gribmill.ingest.http.response import ObjectHead
from gribmill.ingest.index.entry import ByteRange, Inventory
from gribmill.ingest.index.select import Selection, Wanted

# By the index; by the file's headers, read with small requests; or by fetching the whole file first.
Way = Literal["index", "walk", "whole"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a download, beyond which it fails. For comparison, a GFS hour has 540 MB in 743 messages.

    A local file may contain years of data, and reading its headers costs no requests.
    """

    spool_bytes: int = 4 * 2**30
    whole_bytes: int = 4 * 2**30
    index_bytes: int = 32_000_000
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
    in_message = Counter(entry.offset for entry in inventory)
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
