"""Merges the byte ranges of messages into requests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from gribmill.ingest.errors import IngestError
from gribmill.ingest.index.entry import ByteRange

# No message is larger: an index with a larger one is wrong or malicious.
LARGEST_RANGE = 4 * 2**30
MOST_RANGES = 20_000


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
