"""ECMWF's .index: what is read from it, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gribmill.ingest.errors import BadIndex, WrongRun
from gribmill.ingest.index.entry import SHORTEST_MESSAGE
from gribmill.ingest.index.parse import parse_ecmwf
from tests.ingest.make_index import ecmwf_line

RUN = datetime(2025, 3, 1, tzinfo=UTC)


def parse(*lines: str, size: int | None = None, run: datetime = RUN) -> list[tuple[object, ...]]:
    entries = parse_ecmwf("".join(lines).encode(), "x.index", run, size).entries
    return [(e.number, e.sub, e.offset, e.end, e.element, e.level, e.window, e.extra) for e in entries]


def test_offset_and_length_are_taken_from_the_line() -> None:
    assert parse(ecmwf_line("2t", 33029714, 572570)) == [(1, 0, 33029714, 33602284, "2t", "sfc", "6", "fc")]


def test_levels_soil_layers_and_members_are_distinguished() -> None:
    rows = parse(
        ecmwf_line("t", 0, levtype="pl", levelist="850"),
        ecmwf_line("sot", 1000, levtype="sol", levelist="1"),
        ecmwf_line("2t", 2000, type="pf", number="7"),
        ecmwf_line("2t", 3000, type="cf"),
        ecmwf_line("2t", 4000, type="cf", number="0"),
        ecmwf_line("2t", 5000, type="fc", number=0),
    )
    assert [row[4:] for row in rows] == [
        ("t", "pl 850", "6", "fc"),
        ("sot", "sol 1", "6", "fc"),
        ("2t", "sfc", "6", "pf:7"),
        ("2t", "sfc", "6", "cf"),
        ("2t", "sfc", "6", "cf"),
        ("2t", "sfc", "6", "fc"),
    ]


def test_lines_come_in_the_order_of_the_file_whatever_that_of_the_index() -> None:
    rows = parse(ecmwf_line("2d", 5000), ecmwf_line("2t", 0), ecmwf_line("sp", 1000))
    assert [(row[0], row[4]) for row in rows] == [(1, "2t"), (2, "sp"), (3, "2d")]


def test_two_lines_of_the_same_bytes_are_fields_of_one_message() -> None:
    rows = parse(ecmwf_line("10u", 0), ecmwf_line("10v", 0), ecmwf_line("2t", 1000))
    assert [row[:2] for row in rows] == [(1, 1), (1, 2), (2, 0)]


def test_numbers_and_texts_are_equivalent() -> None:
    assert parse(ecmwf_line("z", levtype="pl", levelist=500, step=6, date=20250301, time=0))[0][5] == "pl 500"


@pytest.mark.parametrize(
    ("time", "hour"), [("0600", 6), (600, 6), ("06", 6), ("6", 6), (6, 6), (0, 0), ("12", 12), (1200, 12)]
)
def test_times_may_be_hours_or_hours_and_minutes(time: object, hour: int) -> None:
    assert parse(ecmwf_line("2t", time=time), run=RUN.replace(hour=hour))


@pytest.mark.parametrize("date", [{"date": "20250228"}, {"time": "1200"}, {"date": None, "time": None}])
def test_another_run_or_none_is_refused(date: dict[str, Any]) -> None:
    with pytest.raises(WrongRun, match=r"x\.index, line 2: .*not of the run 2025-03-01 00"):
        parse(ecmwf_line("2t"), ecmwf_line("2d", 1000, **date))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nonsense\n", "not a JSON object"),
        ("[1, 2]\n", "not a JSON object"),
        ("[" * 3000 + "\n", "not a JSON object"),
        (ecmwf_line("2t", _offset=None), "not ECMWF's form"),
        (ecmwf_line(None), "lacks param"),
        (ecmwf_line("2t", step=True), "lacks step"),
        (ecmwf_line("2t", -1), "_offset is -1"),
        (ecmwf_line("2t", 2**63), "_offset is 9223372036854775808"),
        (ecmwf_line("2t", _length=1.5), "_length is 1.5"),
        (ecmwf_line("2t", _length="1000"), "_length is 1000"),
        (ecmwf_line("2t", _offset=True), "_offset is True"),
        (ecmwf_line("2t", 0, 0), "a message of 0 bytes"),
        (ecmwf_line("2t", _path="/etc/passwd"), "points into another file"),
        (ecmwf_line("2t\nred"), "control character"),
        (ecmwf_line("2t", levtype="\x1b[31m"), "control character"),
        (ecmwf_line("2t", type="\u202e"), "control character"),
        (ecmwf_line("2t\ud800"), "control character"),
        (ecmwf_line("2t", date="2025-3-1"), "are not a valid time"),
        (ecmwf_line("2t", date="20250230"), "are not a valid time"),
        ('{"ensemble_member": 0, "lead_hours": 24, "offset": 0, "length": 58286}\n', "not ECMWF's form"),
    ],
)
def test_an_impossible_line_is_refused_with_file_and_line(line: str, words: str) -> None:
    with pytest.raises(BadIndex) as caught:
        parse(ecmwf_line("sp", 10**6), line)
    assert str(caught.value).startswith("x.index, line 2: ")
    assert words in str(caught.value)


def test_overlapping_messages_are_refused() -> None:
    with pytest.raises(BadIndex, match="line 1: the message at 999 overlaps the one at 0"):
        parse(ecmwf_line("2t", 999), ecmwf_line("2d", 0))
    with pytest.raises(BadIndex, match="overlaps"):
        parse(ecmwf_line("2t", 0), ecmwf_line("2d", 0, 500))


def test_a_message_beyond_the_end_of_the_file_is_stale() -> None:
    lines = (ecmwf_line("2t", 0), ecmwf_line("2d", 1000))
    assert len(parse(*lines, size=2000)) == 2
    with pytest.raises(BadIndex, match=r"line 2: .*the file has 1999 bytes: the index is stale"):
        parse(*lines, size=1999)


@pytest.mark.slow
@given(st.lists(st.integers(SHORTEST_MESSAGE, 10**6), min_size=1, max_size=40), st.randoms())
def test_any_inventory_reads_back_in_any_order(lengths: list[int], random: object) -> None:
    offsets = [sum(lengths[:place]) for place in range(len(lengths))]
    lines = [ecmwf_line(f"p{n}", *place) for n, place in enumerate(zip(offsets, lengths, strict=True))]
    random.shuffle(lines)  # type: ignore[attr-defined]
    rows = parse(*lines, size=sum(lengths))
    assert [(row[2], row[3], row[4]) for row in rows] == [
        (offset, offset + length, f"p{n}") for n, (offset, length) in enumerate(zip(offsets, lengths, strict=True))
    ]


@given(st.binary(max_size=200), st.integers(0, 400))
def test_damage_gives_an_inventory_or_a_bad_index_error(junk: bytes, place: int) -> None:
    good = (ecmwf_line("2t", 0) + ecmwf_line("2d", 1000)).encode()
    try:
        parse_ecmwf(good[:place] + junk + good[place:], "x.index", RUN, 2000)
    except BadIndex as error:
        assert str(error).startswith("x.index")
