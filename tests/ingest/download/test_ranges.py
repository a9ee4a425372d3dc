"""Byte ranges become requests for every wanted byte, none twice, and few others."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gribmill.ingest.download.download_plan import Cost, RangeRequest, merge
from gribmill.ingest.errors import IngestError
from gribmill.ingest.index.entry import ByteRange

PIECES = st.lists(st.tuples(st.integers(0, 3_000_000), st.integers(1, 3_000_000)), min_size=1, max_size=60)


def ranges_of(pieces: list[tuple[int, int]]) -> list[ByteRange]:
    found, place = [], 0
    for gap, length in pieces:
        found.append(ByteRange(place + gap, place + gap + length))
        place += gap + length
    return found


def size(part: ByteRange | RangeRequest) -> int:
    """Bytes of a range whose end is known."""
    assert part.end is not None
    return part.end - part.start


@given(PIECES, st.randoms())
def test_requests_bring_every_wanted_byte_once_and_little_else(pieces: list[tuple[int, int]], random: object) -> None:
    ranges = ranges_of(pieces)
    shuffled = list(ranges)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    cost = Cost()
    fetches = merge(shuffled, cost)
    assert [part for fetch in fetches for part in fetch.parts] == ranges
    assert len(fetches) <= len(ranges)
    for fetch in fetches:
        assert (fetch.start, fetch.end) == (fetch.parts[0].start, fetch.parts[-1].end)
        assert len(fetch.parts) == 1 or size(fetch) <= cost.most_bytes
    for before, after in pairwise(fetches):
        assert before.start + size(before) <= after.start
    assert sum(map(size, fetches)) <= sum(map(size, ranges)) * (1 + cost.waste)


def test_neighbours_are_fetched_together_and_far_ones_apart() -> None:
    near = [ByteRange(0, 1_000_000), ByteRange(1_000_000, 2_000_000), ByteRange(2_050_000, 3_000_000)]
    far = ByteRange(30_000_000, 30_500_000)
    fetches = merge([*near, far])
    assert [fetch[:2] for fetch in fetches] == [ByteRange(0, 3_000_000), far]
    assert fetches[0].parts == tuple(near)


def test_a_gap_that_costs_more_than_a_request_stays_open() -> None:
    cost = Cost(request_seconds=0.1, bytes_per_second=1e6, waste=1e6)
    assert cost.largest_gap == 100_000
    assert len(merge([ByteRange(0, 10), ByteRange(100_010, 100_020)], cost)) == 1
    assert len(merge([ByteRange(0, 10), ByteRange(100_011, 100_020)], cost)) == 2


def test_the_smallest_gaps_are_closed_first() -> None:
    ranges = [ByteRange(0, 1000), ByteRange(1090, 2000), ByteRange(2010, 3000), ByteRange(3080, 4000)]
    fetches = merge(ranges, Cost(waste=0.025))
    assert [fetch[:2] for fetch in fetches] == [ByteRange(0, 1000), ByteRange(1090, 4000)]


def test_a_long_row_of_messages_is_split_so_that_connections_share_it() -> None:
    ranges = [ByteRange(n * 10**6, (n + 1) * 10**6) for n in range(40)]
    assert [len(fetch.parts) for fetch in merge(ranges, Cost(most_bytes=16 * 10**6))] == [16, 16, 8]
    huge = [ByteRange(0, 10**9), ByteRange(10**9, 10**9 + 10)]
    assert [fetch[:2] for fetch in merge(huge)] == huge


def test_a_range_given_twice_is_fetched_once_and_the_last_may_be_open() -> None:
    fetches = merge([ByteRange(0, 100), ByteRange(0, 100), ByteRange(100, None)])
    assert [fetch[:2] for fetch in fetches] == [ByteRange(0, 100), ByteRange(100, None)]


@pytest.mark.parametrize(
    "ranges",
    [
        [ByteRange(0, 100), ByteRange(50, 150)],
        [ByteRange(0, None), ByteRange(50, 150)],
        [ByteRange(-1, 100)],
        [ByteRange(100, 100)],
        [ByteRange(0, 5 * 2**30)],
        [ByteRange(n * 10, n * 10 + 5) for n in range(20_001)],
    ],
)
def test_invalid_ranges_are_refused(ranges: list[ByteRange]) -> None:
    with pytest.raises(IngestError):
        merge(ranges)


def test_nothing_wanted_needs_no_request() -> None:
    assert merge([]) == []
