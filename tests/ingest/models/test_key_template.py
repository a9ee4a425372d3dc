"""Key templates: expanded, parsed back, and safe."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gribmill.identity import IdentityError
from gribmill.ingest.errors import ModelError
from gribmill.ingest.models.hour_ranges import parse_steps, write_steps
from gribmill.ingest.models.model import KeyTemplate

HRRR = KeyTemplate("hrrr.{Ymd}/conus/hrrr.t{HH}z.wrfsfcf{ff}.grib2")
GFS = KeyTemplate("gfs.{Ymd}/{HH}/atmos/gfs.t{HH}z.pgrb2.0p25.f{fff}")
IFS = KeyTemplate("{Ymd}/{HH}z/ifs/0p25/oper/{Ymd}{HH}0000-{f}h-oper-fc.grib2")
RUN = datetime(2026, 9, 1, 6, tzinfo=UTC)
RUNS = st.integers(0, 24 * 36500).map(lambda hours: datetime(2000, 1, 1, tzinfo=UTC) + timedelta(hours=hours))


def test_placeholders_are_filled_in() -> None:
    assert HRRR.fill(RUN, 8) == "hrrr.20260901/conus/hrrr.t06z.wrfsfcf08.grib2"
    assert GFS.fill(RUN, 8) == "gfs.20260901/06/atmos/gfs.t06z.pgrb2.0p25.f008"
    assert IFS.fill(RUN, 8) == "20260901/06z/ifs/0p25/oper/20260901060000-8h-oper-fc.grib2"


def test_the_prefix_ends_before_the_hour() -> None:
    assert HRRR.prefix(RUN) == "hrrr.20260901/conus/hrrr.t06z.wrfsfcf"
    assert IFS.prefix(RUN) == "20260901/06z/ifs/0p25/oper/20260901060000-"


@given(st.sampled_from([HRRR, GFS, IFS]), RUNS, st.integers(0, 99))
def test_any_key_reads_back(template: KeyTemplate, run: datetime, hour: int) -> None:
    key = template.fill(run, hour)
    assert template.read(key) == (run, hour)
    assert key.startswith(template.prefix(run))


@pytest.mark.parametrize(
    "key",
    [
        "hrrr.20260901/conus/hrrr.t06z.wrfsfcf08.grib2.idx",
        "x/hrrr.20260901/conus/hrrr.t06z.wrfsfcf08.grib2",
        "hrrr.20260901/conus/hrrr.t06z.wrfsfcf8.grib2",
        "hrrr.20260901/conus/hrrr.t06z.wrfsfcf008.grib2",
        "hrrr.20261301/conus/hrrr.t06z.wrfsfcf08.grib2",
        "hrrr.20260901/conus/hrrr.t24z.wrfsfcf08.grib2",
        "hrrr.20260901/conus/hrrr.t06z.wrfsfcf08xgrib2",
        "hrrr.20260901/conus/hrrr.t06z.wrfsfcf08.grib2\n",
        "hrrr.２0260901/conus/hrrr.t06z.wrfsfcf08.grib2",
        "",
    ],
)
def test_other_keys_are_not_read(key: str) -> None:
    assert HRRR.read(key) is None


def test_a_placeholder_that_comes_again_holds_the_same() -> None:
    assert IFS.read("20260901/06z/ifs/0p25/oper/20260902060000-8h-oper-fc.grib2") is None
    assert IFS.read("20260901/06z/ifs/0p25/oper/20260901120000-8h-oper-fc.grib2") is None
    assert IFS.read("20260901/06z/ifs/0p25/oper/20260901060000-08h-oper-fc.grib2") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("../{Ymd}/{HH}/{ff}", "path below the mirror's root"),
        ("/{Ymd}/{HH}/{ff}", "path below the mirror's root"),
        ("a//{Ymd}{HH}{ff}", "path below the mirror's root"),
        ("{Ymd}/./{HH}/{ff}", "path below the mirror's root"),
        ("{Ymd}/{HH}/{ff}?x=1", "letters, digits"),
        ("{Ymd}/{HH}/{ff} ", "letters, digits"),
        ("{Ymd}/{HH}/{run}", "unknown placeholder {run}"),
        ("{Ymd}/{HH}/file", "needs the run"),
        ("{Ymd}/{ff}", "needs the run"),
        ("{Ymd}/{HH}/{ff}{fff}", "one form of the hour"),
        ("{Ymd}/{HH}/{ff}/{", "letters, digits"),
    ],
)
def test_unsafe_or_incomplete_templates_are_refused(text: str, words: str) -> None:
    with pytest.raises(ModelError) as caught:
        KeyTemplate(text)
    assert words in str(caught.value)


def test_an_hour_that_does_not_fit_is_refused() -> None:
    for hour in (100, -1):
        with pytest.raises(ModelError, match="too few digits for hour"):
            HRRR.fill(RUN, hour)


def test_runs_that_do_not_begin_on_the_hour_have_no_key() -> None:
    for wrong in (RUN.replace(tzinfo=None), RUN.replace(minute=30)):
        with pytest.raises(IdentityError):
            HRRR.fill(wrong, 0)


def test_hours_are_written_short() -> None:
    assert parse_steps("0-6/3, 12, 24-26") == (0, 3, 6, 12, 24, 25, 26)
    assert len(parse_steps("0-120, 123-384/3")) == 209
    assert write_steps(parse_steps("0-120, 123-384/3")) == "0-120, 123-384/3"
    assert write_steps((0, 6, 12, 18)) == "0-18/6"
    assert write_steps((5,)) == "5"


@given(st.sets(st.integers(0, 900), min_size=1, max_size=50))
def test_short_hours_read_back(hours: set[int]) -> None:
    assert parse_steps(write_steps(tuple(sorted(hours)))) == tuple(sorted(hours))


@pytest.mark.parametrize("text", ["", "a", "5-3", "0-10/3", "3, 3", "5, 1", "0-9999", "0-6/0", "1-2-3", "0-6/", "-1"])
def test_hours_that_do_not_rise_by_whole_steps_are_refused(text: str) -> None:
    with pytest.raises(ModelError):
        parse_steps(text)
