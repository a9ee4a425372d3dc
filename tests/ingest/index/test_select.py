"""Which messages are selected: exact names, the right time range, the right member."""

from __future__ import annotations

import pytest

from gribmill.ingest.errors import BadIndex
from gribmill.ingest.index.entry import ByteRange
from gribmill.ingest.index.parse import parse_ecmwf, parse_noaa
from gribmill.ingest.index.select import EcmwfSelector, NoaaSelector, Selection, Wanted, select, wanted
from tests.ingest.make_index import ecmwf_line, noaa_lines, noaa_messages

GROUND = ("2 m above ground",)
T2M = Wanted("t2m", NoaaSelector(("TMP",), GROUND), EcmwfSelector(("2t",)))
U10 = Wanted("u10", NoaaSelector(("UGRD",), ("10 m above ground",)))
V10 = Wanted("v10", NoaaSelector(("VGRD",), ("10 m above ground",)))
TP = Wanted("tp", NoaaSelector(("APCP",), ("surface",), "accum", "run"))
BUCKET = Wanted("tp_bucket", NoaaSelector(("APCP",), ("surface",), "accum", "bucket"))
MSLP = Wanted("mslp", NoaaSelector(("PRMSL", "MSLMA", "MSLET"), ("mean sea level",)))


def choose(rows: list[str], *wants: Wanted, hour: int = 8, **options: object) -> Selection:
    return select(parse_noaa(noaa_lines(rows), "x.idx", size=len(rows) * 1000), wants, hour, **options)  # type: ignore[arg-type]


def lines(selection: Selection) -> dict[str, int]:
    return {name: entry.number for name, entry in selection.found.items()}


def test_words_are_compared_whole() -> None:
    rows = [
        "APTMP:2 m above ground:8 hour fcst:",
        "TMP:2 mb:8 hour fcst:",
        "TMP:2 m above ground layer:8 hour fcst:",
        "TMP:12 m above ground:8 hour fcst:",
        "TMP:2 m above ground:18 hour fcst:",
        "TMP:2 m above ground:8 hour fcst:ens std dev",
        "TMP:2 m above ground:8 hour fcst:50% level",
        "TMP:2 m above ground:7-8 hour max fcst:",
        "TMP:2 m above ground:8 hour fcst:",
    ]
    chosen = choose(rows, T2M)
    assert lines(chosen) == {"t2m": 9}
    assert chosen.ranges == (ByteRange(8000, 9000),)
    assert chosen.duplicates == {}
    assert choose(rows[:-1], T2M).missing == ("t2m",)


@pytest.mark.parametrize(
    ("hour", "rows", "expected"),
    [
        (8, ["0-8 hour acc", "7-8 hour acc"], {"tp": 1, "tp_bucket": 2}),
        (7, ["6-7 hour acc", "0-7 hour acc"], {"tp": 2, "tp_bucket": 1}),
        (24, ["0-1 day acc", "23-24 hour acc"], {"tp": 1, "tp_bucket": 2}),
        (48, ["0-2 day acc", "47-48 hour acc"], {"tp": 1, "tp_bucket": 2}),
        (0, ["0-0 day acc"], {"tp": 1}),
        (15, ["12-15 hour acc"], {"tp_bucket": 1}),
        (3, ["0-3 hour acc"], {"tp": 1}),
        (24, ["0-24 hour acc", "12-24 hour acc", "18-24 hour acc", "23-24 hour acc"], {"tp": 1, "tp_bucket": 4}),
    ],
)
def test_a_sum_from_the_start_is_the_runs_and_one_from_a_later_hour_the_bucket(
    hour: int, rows: list[str], expected: dict[str, int]
) -> None:
    found = choose([f"APCP:surface:{row} fcst:" for row in rows], TP, BUCKET, hour=hour)
    assert lines(found) == expected
    assert found.duplicates == {}


def test_the_second_of_two_equal_sums_is_the_bucket_and_brings_the_first_along() -> None:
    rows = ["APCP:surface:0-1 hour acc fcst:", "TMP:surface:1 hour fcst:", "APCP:surface:0-1 hour acc fcst:"]
    both = choose(rows, TP, BUCKET, hour=1)
    assert lines(both) == {"tp": 1, "tp_bucket": 3}
    alone = choose(rows, BUCKET, hour=1)
    assert lines(alone) == {"tp_bucket": 3}
    assert alone.ranges == both.ranges == (ByteRange(0, 1000), ByteRange(2000, 3000))


def test_sums_of_two_lengths_are_both_selected() -> None:
    rows = [f"APCP:surface:{time} hour acc fcst:" for time in ("11-12", "6-12", "0-12")]
    names = wanted(["tp", "tp_bucket", "tp_6h", "tp_12h", "tp_3h"])
    chosen = choose(rows, *names, hour=12)
    assert lines(chosen) == {"tp": 3, "tp_bucket": 1, "tp_6h": 2, "tp_12h": 3}
    assert chosen.missing == ("tp_3h",)
    assert len(chosen.ranges) == 3
    # At hour 42 the bucket is the sum of six hours: one message under both names.
    later = choose(["APCP:surface:36-42 hour acc fcst:"], *names, hour=42)
    assert lines(later) == {"tp_bucket": 1, "tp_6h": 1}
    assert len(later.ranges) == 1


def test_the_first_quarter_of_an_hour_is_a_bucket_where_the_run_total_is_not_wanted() -> None:
    rows = ["APCP:surface:0-15 min acc fcst:", "TMP:2 m above ground:15 min fcst:"]
    assert lines(choose(rows, BUCKET, T2M, hour=1, offset_minutes=-45)) == {"tp_bucket": 1, "t2m": 2}
    assert lines(choose(rows, TP, BUCKET, hour=1, offset_minutes=-45)) == {"tp": 1}


def test_ecmwf_has_extremes_by_their_length_and_sums_only_since_the_run_began() -> None:
    (six,), (rain,) = wanted(["t2m_max_6h"]), wanted(["tp_6h"])
    assert six.ecmwf == EcmwfSelector(("mx2t6",))
    assert rain.ecmwf is None


def test_equal_lines_are_reported_and_the_first_is_taken() -> None:
    chosen = choose(["TMP:2 m above ground:8 hour fcst:"] * 3, T2M)
    assert lines(chosen) == {"t2m": 1}
    assert [entry.number for entry in chosen.duplicates["t2m"]] == [2, 3]
    assert chosen.ranges == (ByteRange(0, 1000),)


def test_averages_and_instants_at_the_same_level_are_distinguished() -> None:
    rows = [
        "UGRD:10 m above ground:490-495 min ave fcst:",
        "UGRD:10 m above ground:495 min fcst:",
        "UGRD:10 m above ground:540 min fcst:",
        "UGRD:10 m above ground:535-540 min ave fcst:",
    ]
    mean = Wanted("u10_avg", NoaaSelector(("UGRD",), ("10 m above ground",), "avg"))
    assert lines(choose(rows, U10, mean, hour=9)) == {"u10": 3, "u10_avg": 4}
    assert lines(choose(rows, U10, mean, hour=9, offset_minutes=-45)) == {"u10": 2, "u10_avg": 1}


def test_both_fields_of_one_message_are_found_with_one_range() -> None:
    winds = [f"{element}:10 m above ground:8 hour fcst:" for element in ("UGRD", "VGRD")]
    data = noaa_messages([(500, ["HGT:10 m:8 hour fcst:"]), (900, winds), (70, ["A:b:8 hour fcst:"])])
    chosen = select(parse_noaa(data, "x.idx", size=1470), (U10, V10), 8)
    assert chosen.ranges == (ByteRange(500, 1400),)
    assert [(e.number, e.sub) for e in chosen.entries] == [(2, 1), (2, 2)]


def test_the_best_element_of_several_is_taken() -> None:
    rows = ["MSLET:mean sea level:8 hour fcst:", "PRMSL:mean sea level:8 hour fcst:"]
    assert lines(choose(rows, MSLP)) == {"mslp": 2}
    assert lines(choose(rows[:1], MSLP)) == {"mslp": 1}
    assert choose(rows, MSLP).duplicates == {}


def test_members_means_and_probabilities_are_distinguished_by_the_end_of_the_line() -> None:
    rows = [f"TMP:2 m above ground:8 hour fcst:{extra}" for extra in ("ENS=+1", "ENS=+11", "ens mean", "")]
    assert lines(choose(rows, T2M, extras=("ENS=+1",))) == {"t2m": 1}
    assert lines(choose(rows, T2M, extras=("ENS=+11",))) == {"t2m": 2}
    assert lines(choose(rows, T2M, extras=("ens mean", "wt ens mean"))) == {"t2m": 3}
    assert lines(choose(rows, T2M)) == {"t2m": 4}
    assert choose(rows, T2M, extras=("ENS=+2",)).missing == ("t2m",)


def test_an_index_of_another_hour_belongs_to_another_file() -> None:
    with pytest.raises(BadIndex, match="no line is for hour 9"):
        choose(["TMP:2 m above ground:8 hour fcst:"], T2M, hour=9)


def test_ecmwf_params_levels_steps_and_members_are_compared_whole() -> None:
    rows = [
        ecmwf_line("2t", 0, type="pf", number="1"),
        ecmwf_line("2t", 1000, type="pf", number="11"),
        ecmwf_line("t", 2000, type="pf", number="1", levtype="pl", levelist="850"),
        ecmwf_line("t", 3000, type="pf", number="1", levtype="pl", levelist="85"),
        ecmwf_line("2t", 4000, type="pf", number="1", step="60"),
    ]
    inventory = parse_ecmwf("".join(rows).encode(), "x.index")
    t850 = Wanted("t_850", None, EcmwfSelector(("t",), "pl", "850"))
    chosen = select(inventory, (T2M, t850, U10), 6, extras=("pf:1",))
    assert {name: entry.offset for name, entry in chosen.found.items()} == {"t2m": 0, "t_850": 2000}
    assert chosen.missing == ("u10",)
    assert select(inventory, (T2M,), 60, extras=("pf:1",)).ranges == (ByteRange(4000, 5000),)


@pytest.mark.parametrize("step", ["6", "0-6", "6h", "0h-6h", "0-6h"])
def test_ecmwf_steps_may_be_ranges_and_have_a_unit(step: str) -> None:
    inventory = parse_ecmwf((ecmwf_line("2t", 0, step=step) + ecmwf_line("2d", 1000, step="16h")).encode(), "x.index")
    assert select(inventory, (T2M,), 6, extras=("fc",)).ranges == (ByteRange(0, 1000),)
