"""NOAA's .idx: what is read from it, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gribmill.ingest.errors import BadIndex, WrongRun
from gribmill.ingest.index.entry import SHORTEST_MESSAGE
from gribmill.ingest.index.parse import parse_noaa
from tests.ingest.make_index import noaa_lines, noaa_messages

RUN = datetime(2025, 8, 1, tzinfo=UTC)
WORDS = st.text(st.sampled_from("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -_().=>%^/"), min_size=1, max_size=30)
TEXT = WORDS.map(str.strip).filter(bool)


def refusal(data: bytes, size: int | None = None) -> str:
    with pytest.raises(BadIndex) as caught:
        parse_noaa(data, "x.idx", RUN, size)
    return str(caught.value)


def test_a_line_becomes_its_texts_and_the_bytes_up_to_the_next_message() -> None:
    data = noaa_lines(["TMP:2 m above ground:8 hour fcst:", "APCP:surface:0-1 day acc fcst:"])
    first, last = parse_noaa(data, "x.idx", RUN, 1700).entries
    assert (first.number, first.sub, first.offset, first.end) == (1, 0, 0, 1000)
    assert (first.element, first.level, first.window, first.extra) == ("TMP", "2 m above ground", "8 hour fcst", "")
    assert first.reference == RUN
    assert (last.offset, last.end) == (1000, 1700)


def test_the_last_message_has_no_end_without_the_size_of_the_file() -> None:
    assert [entry.end for entry in parse_noaa(noaa_lines(["A:b:anl:", "C:d:anl:"]), "x.idx").entries] == [1000, None]


def test_fields_of_one_message_share_its_bytes() -> None:
    data = noaa_messages([(500, ["HGT:1000 mb:anl:"]), (900, ["UGRD:10 m:anl:", "VGRD:10 m:anl:"]), (70, ["A:b:anl:"])])
    assert b"2.1:500:" in data and b"2.2:500:" in data
    entries = parse_noaa(data, "x.idx", RUN, 1470).entries
    assert [(e.number, e.sub, e.offset, e.end) for e in entries] == [
        (1, 0, 0, 500),
        (2, 1, 500, 1400),
        (2, 2, 500, 1400),
        (3, 0, 1400, 1470),
    ]


def test_fields_of_the_last_message_end_with_the_file() -> None:
    data = noaa_messages([(100, ["HGT:1000 mb:anl:"]), (100, ["UGRD:10 m:anl:", "VGRD:10 m:anl:"])])
    assert [entry.end for entry in parse_noaa(data, "x.idx", RUN, 250).entries] == [100, 250, 250]


@pytest.mark.parametrize(
    ("row", "extra"),
    [
        ("TMP:2 m above ground:anl", ""),
        ("TMP:2 m above ground:anl:", ""),
        ("APCP:surface:12-15 hour acc fcst:ENS=+1", "ENS=+1"),
        ("WEASD:surface:432 hour fcst:ENS=low-res ctl", "ENS=low-res ctl"),
        ("APCP:surface:12-24 hour acc fcst:prob >0.254:prob fcst 255/255", "prob >0.254:prob fcst 255/255"),
        ("MASSDEN:8 m:4 hour fcst:aerosol=Dust dry:aerosol_size <2.5e-06:", "aerosol=Dust dry:aerosol_size <2.5e-06"),
        ("AEMFLX:surface:4 hour fcst:aerosol=Dust dry::", "aerosol=Dust dry"),
    ],
)
def test_text_after_the_time_is_kept_except_trailing_colons(row: str, extra: str) -> None:
    (entry,) = parse_noaa(noaa_lines([row]), "x.idx", RUN).entries
    assert entry.extra == extra


def test_unnamed_parameters_and_blank_lines_and_windows_line_ends_are_read() -> None:
    row = "var discipline=0 center=7 local_table=1 parmcat=16 parm=201:entire atmosphere:24 hour fcst:"
    data = b"\r\n" + noaa_lines([row]).replace(b"\n", b"\r\n") + b"\n  \n"
    (entry,) = parse_noaa(data, "x.idx", RUN).entries
    assert entry.element == "var discipline=0 center=7 local_table=1 parmcat=16 parm=201"


def test_an_index_of_another_run_is_refused_with_both_dates() -> None:
    with pytest.raises(WrongRun, match=r"x\.idx, line 1: .*2025-07-31 18 UTC, not 2025-08-01 00"):
        parse_noaa(noaa_lines(["A:b:anl:"], date="2025073118"), "x.idx", RUN)


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"1:0:d=2025080100:A:b:anl:\n2:-2144868154:d=2025080100:A:b:anl:\n", 2, "negative offset"),
        (b"1:99999999999999999999:d=2025080100:A:b:anl:\n", 1, "beyond any file"),
        (b"1:1e5:d=2025080100:A:b:anl:\n", 1, "not an offset"),
        (b"1:0x10:d=2025080100:A:b:anl:\n", 1, "not an offset"),
        (b"x:0:d=2025080100:A:b:anl:\n", 1, "not a message number"),
        (b"1.5.2:0:d=2025080100:A:b:anl:\n", 1, "not a message number"),
        (b"1:0:d=20250801:A:b:anl:\n", 1, "not a date"),
        (b"1:0:d=2025083299:A:b:anl:\n", 1, "not a date"),
        (b"1:0:2025080100:A:b:anl:\n", 1, "not a date"),
        (b"1:0:d=2025080100:TMP\n", 1, "not of the form"),
        (b"1:0:d=2025080100::surface:anl:\n", 1, "has no element"),
        (b"1:0:d=2025080100:A:b:anl:\n2:0:d=2025080100:C:b:anl:\n", 2, "two messages begin at 0"),
        (b"1.1:0:d=2025080100:A:b:anl:\n1.1:0:d=2025080100:C:b:anl:\n", 2, "two messages begin at 0"),
        (b"1:500:d=2025080100:A:b:anl:\n2:100:d=2025080100:C:b:anl:\n", 2, "out of order"),
        (b"2:0:d=2025080100:A:b:anl:\n1:100:d=2025080100:C:b:anl:\n", 2, "out of order"),
        (b"1:0:d=2025080100:A:b:anl:\n2:7:d=2025080100:C:b:anl:\n", 2, "too short to end at 7"),
        ("1:0:d=2025080100:TMPé:b:anl:\n".encode(), 1, "not ASCII"),
        (b"1:0:d=2025080100:A\x07:b:anl:\n", 1, "control character"),
        (b"1:0:d=2025080100:" + b"A" * 5000 + b":b:anl:\n", 1, "a line of 5024 characters"),
        (b"not an index\n", 1, "not of the form"),
    ],
)
def test_an_impossible_line_is_refused_with_file_and_line(data: bytes, line: int, words: str) -> None:
    sentence = refusal(data)
    assert sentence.startswith(f"x.idx, line {line}: ")
    assert words in sentence


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b" \n\n", "empty"),
        (b"\x80\x04\x95\x10\x00", "pickle"),
        (b"GRIB\0\0\0\2", "GRIB file"),
        (b"!GFHDR!   1   1 1970", "grb2index"),
        (b"<!DOCTYPE html><html>", "web page"),
        (b'<?xml version="1.0"?><Error><Code>NoSuchKey', "web page or an error"),
        (b"\x1f\x8b\x08\0", "gzip"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
        (b"\x00\x00\x00\xac IX1FORM", "binary"),
        (b"1:0:d=2025080100:A:b:anl:\n" * 200_001, "more than 200000 lines"),
        (b"x" * 32_000_001, "larger than"),
    ],
)
def test_a_file_that_is_not_an_index_is_named(data: bytes, words: str) -> None:
    sentence = refusal(data)
    assert sentence.startswith("x.idx: ")
    assert words in sentence


def test_an_index_that_reaches_past_the_end_of_the_file_is_stale() -> None:
    assert "the file has 1500 bytes: the index is stale" in refusal(noaa_lines(["A:b:anl:"] * 3), size=1500)
    assert "line 3" in refusal(noaa_lines(["A:b:anl:"] * 3), size=2000)
    assert parse_noaa(noaa_lines(["A:b:anl:"] * 3), "x.idx", RUN, 2100).entries[-1].end == 2100


ROWS = st.lists(
    st.tuples(
        st.integers(SHORTEST_MESSAGE, 10**7), st.lists(st.tuples(TEXT, TEXT, TEXT, TEXT), min_size=1, max_size=3)
    ),
    min_size=1,
    max_size=30,
)


@pytest.mark.slow
@given(ROWS)
def test_any_inventory_written_out_reads_back(messages: list[tuple[int, list[tuple[str, ...]]]]) -> None:
    data = noaa_messages([(length, [":".join(row) for row in rows]) for length, rows in messages])
    size = sum(length for length, _ in messages)
    entries = parse_noaa(data, "x.idx", RUN, size).entries
    expected = []
    offset = 0
    for number, (length, rows) in enumerate(messages, 1):
        for sub, row in enumerate(rows, 1):
            expected.append((number, sub if len(rows) > 1 else 0, offset, offset + length, *row))
        offset += length
    assert [(e.number, e.sub, e.offset, e.end, e.element, e.level, e.window, e.extra) for e in entries] == expected


@given(st.binary(max_size=300), st.integers(0, 200))
def test_damage_gives_an_inventory_or_a_bad_index_error(junk: bytes, place: int) -> None:
    good = noaa_lines(["TMP:2 m above ground:8 hour fcst:", "APCP:surface:0-8 hour acc fcst:"] * 3)
    try:
        entries = parse_noaa(good[:place] + junk + good[place:], "x.idx", RUN, 6000).entries
    except BadIndex as error:
        assert str(error).startswith("x.idx")
    else:
        assert all(e.end is not None and 0 <= e.offset < e.end <= 6000 for e in entries)
