"""Which bytes of a file to fetch, and where each message comes to lie in the spool."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from gribmill.ingest.download.check_index_entry import Claim, claim_of
from gribmill.ingest.download.ranges import ByteRange
from gribmill.ingest.errors import BadIndex
from gribmill.ingest.http.object_head import Head
from gribmill.ingest.index.entry import Inventory
from gribmill.ingest.index.select import Selection
from gribmill.ingest.index.wanted import Wanted

# By the index; by the file's own headers; the whole file fetched first.
Way = Literal["index", "walk", "whole"]


@dataclass(frozen=True, slots=True)
class Piece:
    """One message of the source. `fields` is how many it has (None: not known), `fitting` how many are wanted.

    `claims` is what the index says of these.
    """

    number: int
    start: int
    length: int
    fields: int | None = None
    fitting: int = 1
    claims: tuple[Claim, ...] = ()

    @property
    def range(self) -> ByteRange:
        """Its bytes in the source."""
        return ByteRange(self.start, self.start + self.length)


@dataclass(frozen=True, slots=True)
class Plan:
    """The pieces in the source's order, one after the other in the spool, all of one object."""

    head: Head
    pieces: tuple[Piece, ...]
    found: tuple[str, ...]
    missing: tuple[str, ...]
    way: Way
    index_sha256: str = ""

    @property
    def places(self) -> list[int]:
        """Where each piece begins in the spool, and at the end where the spool ends."""
        return list(accumulate((piece.length for piece in self.pieces), initial=0))

    @property
    def total(self) -> int:
        """The bytes of the spool."""
        return sum(piece.length for piece in self.pieces)

    @property
    def identity(self) -> str | None:
        """The same for the same bytes of the same object; None where the host does not say which object it is."""
        head = self.head
        if head.etag is None and head.last_modified is None:
            return None
        modified = None if head.etag or not head.last_modified else head.last_modified.isoformat()
        pieces = hashlib.sha256(repr([(piece.start, piece.length) for piece in self.pieces]).encode()).hexdigest()
        return json.dumps([2, head.url, head.etag, modified, head.size, self.index_sha256, pieces])


def plan_by_index(
    inventory: Inventory, selection: Selection, wanted: Sequence[Wanted], head: Head, index: bytes
) -> Plan:
    """From what the index says. Its last message ends where the file does."""
    in_message = Counter(entry.offset for entry in inventory)
    chosen = Counter(entry.offset for entry in selection.entries)
    numbers = {entry.offset: entry.number for entry in selection.entries}
    claims: dict[int, list[Claim]] = defaultdict(list)
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
    return Plan(head, pieces, tuple(selection.found), selection.missing, "index", hashlib.sha256(index).hexdigest())


def plan_by_pieces(head: Head, pieces: Sequence[Piece], found: Sequence[str], missing: Sequence[str], way: Way) -> Plan:
    """From what was found in the file itself."""
    return Plan(head, tuple(pieces), tuple(found), tuple(missing), way)


def _end(inventory: Inventory, end: int | None, head: Head) -> int:
    end = head.size if end is None else end
    if end is None:
        raise BadIndex(inventory.source, None, "the size of the file is not known, so its last message has no end")
    return end
