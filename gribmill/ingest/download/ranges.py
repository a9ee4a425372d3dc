"""Merges the byte ranges of messages into requests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from gribmill.ingest.errors import IngestError
from gribmill.ingest.index.entry import ByteRange

# No message is larger: an index that says so is wrong or malicious.
LARGEST_RANGE = 4 * 2**30
MOST_RANGES = 20_000


class RangeRequest(NamedTuple):
    """One request, and the wanted ranges in it."""

    start: int
    end: int | None
    parts: tuple[ByteRange, ...]


@dataclass(frozen=True, slots=True)
class Cost:
    """What a request costs compared with the bytes of a gap.

    A request takes about `request_seconds` before its first byte, in which one connection transfers
    `bytes_per_second`: gaps smaller than that are cheaper to fetch than to skip. All gaps together stay below `waste`
    of the wanted bytes (the smallest are closed first, which saves the most requests), and no merged request is longer
    than `most_bytes`, so that several connections share a file and a dropped one costs little.
    """

    request_seconds: float = 0.1
    bytes_per_second: float = 20e6
    waste: float = 0.08
    most_bytes: int = 16 * 2**20

    @property
    def largest_gap(self) -> int:
        """Bytes that cost as much as a request."""
        return int(self.request_seconds * self.bytes_per_second)


def merge(ranges: Iterable[ByteRange], cost: Cost | None = None) -> list[RangeRequest]:
    """Requests for every wanted byte, each only once, in the file's order."""
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
    """Sorted and without duplicates; overlapping and invalid ranges are refused."""
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
