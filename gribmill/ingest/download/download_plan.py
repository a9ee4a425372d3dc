"""A download's plan and result: its limits, which bytes to fetch and where they go, and what it returned."""

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
from gribmill.ingest.download.verify_message import IndexClaim, claim_of
from gribmill.ingest.errors import BadIndex
from gribmill.ingest.http.response import ObjectHead
from gribmill.ingest.index.entry import ByteRange, Inventory
from gribmill.ingest.index.select import Selection, Wanted
from gribmill.ingest.mirrors.circuit_breaker import Observation

# By the index; by the file's own headers, through small requests; the whole file first.
Way = Literal["index", "walk", "whole"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a download may cost. Anything more is an error: a GFS hour has 540 MB in 743 messages.

    A local file may contain years, and reading its headers costs no requests.
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
    """One message of the source. `fields` is how many it has (None: not known), `fitting` how many are wanted.

    `claims` is what the index says about these.
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
    """Pieces of one object in the order of the source; in the spool they follow each other without gaps."""

    head: ObjectHead
    pieces: tuple[Piece, ...]
    found: tuple[str, ...]
    missing: tuple[str, ...]
    way: Way
    index_sha256: str = ""

    @property
    def places(self) -> list[int]:
        """Where each piece begins in the spool, and finally where the spool ends."""
        return list(accumulate((piece.length for piece in self.pieces), initial=0))

    @property
    def total(self) -> int:
        """The size of the spool in bytes."""
        return sum(piece.length for piece in self.pieces)

    @property
    def identity(self) -> str | None:
        """Equal for the same bytes of the same object; None where the host does not identify the object."""
        head = self.head
        if head.etag is None and head.last_modified is None:
            return None
        modified = None if head.etag or not head.last_modified else head.last_modified.isoformat()
        pieces = hashlib.sha256(repr([(piece.start, piece.length) for piece in self.pieces]).encode()).hexdigest()
        return json.dumps([2, head.url, head.etag, modified, head.size, self.index_sha256, pieces])


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A whole, verified spool file. `requested_bytes` came over the network, index and gaps included.

    By `index`, `found` and `missing` are exact; by `walk` and `whole`, a time range may be another one.
    `messages` have their number in the source and their place in the spool.
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
    """The selected messages, as the index describes them. The last message ends where the file does."""
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
