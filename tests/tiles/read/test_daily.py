"""Extremes and sums by local day, and local time over a change of clocks."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

import gribmill
from gribmill.tiles.errors import TileError
from gribmill.tiles.read.point.series import Column, Series
from gribmill.tiles.read.time_zone import time_zone
from tests.tiles.read.test_point import LAT, LON, run_of_rain


def series_of(
    run: str, steps: list[int], columns: dict[str, tuple[list[float], list[int] | None]], zone: str = "UTC"
) -> Series:
    made = {}
    for name, (values, lengths) in columns.items():
        ends = [step * 60 for step in steps]
        windows = lengths and tuple(
            (end - each, end) if each else None for end, each in zip(ends, lengths, strict=True)
        )
        statistic = "accum" if lengths else "instant"
        made[name] = Column(name, name, "mm" if lengths else "°C", tuple(values), windows or None, statistic)
    hours = tuple(step * 60 for step in steps)
    return Series("hrrr", run, "ne", LAT, LON, LAT, LON, 0.0, "nearest", hours, made, zone=time_zone(zone))


def hourly(run: str, last: int, zone: str = "UTC", without: tuple[int, ...] = ()) -> Series:
    """Temperature is the hour; 1 mm an hour."""
    steps = [hour for hour in range(last + 1) if hour not in without]
    after_gap = {after for before, after in pairwise(steps) if after - before > 1}
    rain = [math.nan if step == 0 or step in after_gap else 1.0 for step in steps]
    lengths = [60 if step else 0 for step in steps]
    return series_of(run, steps, {"t2m": ([float(step) for step in steps], None), "tp": (rain, lengths)}, zone)


def test_a_whole_day_has_extremes_and_a_sum() -> None:
    days = hourly("20261117_00", 47).daily()
    assert days.days == (date(2026, 11, 17), date(2026, 11, 18))
    assert (days.hours, days.lengths) == ((24.0, 24.0), (24.0, 24.0))
    first, second = days.columns["t2m"].days
    assert (first.low, first.high, first.whole) == (0.0, 23.0, True)
    assert (second.low, second.high, second.whole) == (24.0, 47.0, True)
    # The amount that ends at midnight belongs to the previous day; the last hour of the second day is missing.
    total, partial = days.columns["tp"].days
    assert (total.total, total.whole) == (24.0, True)
    assert math.isnan(partial.total) and not partial.whole


@pytest.mark.parametrize("missing", [5, 12, 22])
def test_a_day_with_a_missing_hour_is_marked_and_has_no_sum(missing: int) -> None:
    days = hourly("20261117_00", 30, without=(missing,)).daily()
    assert days.hours[0] == 23.0
    assert not days.columns["t2m"].days[0].whole
    assert math.isnan(days.columns["tp"].days[0].total)


def test_a_day_that_windows_do_not_tile_has_no_sum() -> None:
    steps = list(range(0, 61, 3))
    amounts = [math.nan, *[3.0] * 20]
    columns: dict[str, tuple[list[float], list[int] | None]] = {"tp": (amounts, [0, *[180] * 20])}
    utc = series_of("20261117_00", steps, columns).daily().columns["tp"].days
    assert [day.total for day in utc][:2] == [24.0, 24.0]
    # Midnight in New York is 05 UTC, within the window from 03 to 06.
    local = series_of("20261117_00", steps, columns, "America/New_York").daily().columns["tp"].days
    assert all(math.isnan(day.total) and not day.whole for day in local)


def test_overlapping_windows_are_not_added_up() -> None:
    steps = list(range(25))
    values = [math.nan, *[1.0] * 23, 3.0]
    columns: dict[str, tuple[list[float], list[int] | None]] = {"tp": (values, [0, *[60] * 23, 180])}
    (day, *_) = series_of("20261117_00", steps, columns).daily().columns["tp"].days
    assert math.isnan(day.total)


@pytest.mark.parametrize(
    ("run", "day", "hours"), [("20261101_00", date(2026, 11, 1), 25), ("20260308_00", date(2026, 3, 8), 23)]
)
def test_days_on_which_clocks_change_have_25_or_23_hours(run: str, day: date, hours: int) -> None:
    days = hourly(run, 40, "America/New_York").daily()
    place = days.days.index(day)
    assert days.lengths[place] == days.hours[place] == hours
    assert days.columns["tp"].days[place].total == hours


def test_times_are_local_and_unambiguous_over_a_change_of_clocks() -> None:
    series = hourly("20261101_04", 4, "America/New_York")
    assert [row["time"] for row in series.to_dict()["hours"]] == [
        "2026-11-01T00:00:00-04:00",
        "2026-11-01T01:00:00-04:00",
        "2026-11-01T01:00:00-05:00",
        "2026-11-01T02:00:00-05:00",
        "2026-11-01T03:00:00-05:00",
    ]
    frame = series.to_dataframe()
    assert str(frame.index.tz) == "America/New_York"
    assert list(frame.index.tz_convert("UTC").hour) == [4, 5, 6, 7, 8]


def test_directions_have_no_extremes(tmp_path: Path) -> None:
    run_of_rain(tmp_path, {1: 1.0, 2: 3.0})
    series = gribmill.point(LAT, LON, data=tmp_path)
    angle = Column("wdir10", "direction", "°", (350.0, 10.0))
    assert (
        "wdir10"
        not in Series("hrrr", series.run, "ne", LAT, LON, LAT, LON, 0.0, "nearest", series.steps, {"wdir10": angle})
        .daily()
        .columns
    )


def test_days_as_plain_values_and_as_a_data_frame() -> None:
    days = hourly("20261117_00", 30).daily()
    first, second = json.loads(json.dumps(days.to_list(), allow_nan=False))
    assert first == {
        "day": "2026-11-17", "hours": 24.0, "day_hours": 24.0, "whole": True,
        "t2m": {"min": 0.0, "max": 23.0, "whole": True}, "tp": {"sum": 24.0, "whole": True},
    }  # fmt: skip
    assert (second["whole"], second["tp"]["sum"]) == (False, None)
    frame = days.to_dataframe()
    assert frame["t2m", "max"].tolist() == [23.0, 30.0]
    assert frame["tp", "sum"].iloc[0] == 24.0 and math.isnan(frame["tp", "sum"].iloc[1])


def test_the_zone_of_the_machine_is_that_of_its_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", ":Europe/Zurich")
    moment = datetime(2026, 7, 1, 12, tzinfo=UTC).astimezone(time_zone("local"))
    assert moment.utcoffset() == timedelta(hours=2)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("America/New_Yrok", "did you mean America/New_York"),
        ("new york", "did you mean America/New_York"),
        ("../../etc/passwd", "use a name such as"),
        ("Mars/Olympus", "time zone 'Mars/Olympus'"),
        ("America", "time zone 'America'"),
    ],
)
def test_an_unknown_zone_is_named(name: str, hint: str) -> None:
    with pytest.raises(TileError, match=hint):
        time_zone(name)
