"""Slots of schedules, on ordinary days and when clocks change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile

import pytest

from gribmill.queue.cron import CronSchedule
from gribmill.queue.errors import BadTrigger


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def slots(cron: str, zone: str, since: str, count: int) -> list[str]:
    return [f"{slot:%m-%d %H:%M}" for slot in islice(CronSchedule(cron, zone).since(utc(since)), count)]


def test_slots_are_consecutive_and_include_the_start() -> None:
    assert slots("*/20 6 * * *", "UTC", "2026-01-01 06:20", 3) == ["01-01 06:20", "01-01 06:40", "01-02 06:00"]


def test_slots_follow_the_time_zone() -> None:
    assert slots("0 9 * * 1", "Asia/Tokyo", "2026-01-01", 1) == ["01-05 00:00"]


def test_a_slot_in_a_skipped_hour_fires_right_after_it() -> None:
    """On 8 March 2026 New York has no 2:30."""
    assert slots("30 2 * * *", "America/New_York", "2026-03-07 08:00", 2) == ["03-08 07:00", "03-09 06:30"]


def test_a_slot_in_a_repeated_hour_fires_once() -> None:
    """On 1 November 2026 New York has 1:30 twice; hourly schedules fire in both."""
    assert slots("30 1 * * *", "America/New_York", "2026-11-01 00:00", 2) == ["11-01 05:30", "11-02 06:30"]
    assert slots("30 * * * *", "America/New_York", "2026-11-01 05:00", 3) == [
        "11-01 05:30",
        "11-01 06:30",
        "11-01 07:30",
    ]


@pytest.mark.parametrize(
    ("now", "latest"),
    [("12:00:00", "12:00"), ("12:00:00.4", "12:00"), ("11:59:59.9", "11:50"), ("12:09:59.999", "12:00")],
)
def test_latest_slot_is_never_in_the_future(now: str, latest: str) -> None:
    found = CronSchedule("*/10 * * * *", "UTC").latest(utc(f"2026-01-01 {now}"))
    assert found == utc(f"2026-01-01 {latest}")


def test_after_returns_a_later_slot() -> None:
    schedule = CronSchedule("*/10 * * * *", "UTC")
    assert schedule.after(utc("2026-01-01 12:00")) == utc("2026-01-01 12:10")
    assert schedule.after(utc("2026-01-01 11:59:59.9")) == utc("2026-01-01 12:00")


@pytest.mark.slow
@pytest.mark.parametrize("cron", ["30 1 * * *", "30 2 * * *", "*/20 * * * *", "15 1-3 * * *", "0 * * * *"])
@pytest.mark.parametrize(
    ("zone", "night"),
    [
        ("America/New_York", "2026-11-01"),
        ("America/New_York", "2026-03-08"),
        ("Europe/Berlin", "2026-10-25"),
        ("Europe/Berlin", "2026-03-29"),
        ("Australia/Lord_Howe", "2026-04-05"),
        ("Australia/Lord_Howe", "2026-10-04"),
    ],
)
def test_forward_and_backward_slots_agree_when_clocks_change(cron: str, zone: str, night: str) -> None:
    schedule, began = CronSchedule(cron, zone), utc(night) - timedelta(days=1, hours=12)
    every = list(takewhile(lambda slot: slot < began + timedelta(days=4), schedule.since(began - timedelta(days=2))))
    assert every == sorted(set(every))
    for minutes in range(0, 48 * 60, 7):
        moment = began + timedelta(minutes=minutes)
        assert schedule.after(moment) == next(slot for slot in every if slot > moment)
        assert schedule.latest(moment) == max(slot for slot in every if slot <= moment)


@pytest.mark.parametrize(
    ("cron", "zone", "reason"),
    [
        ("* * * *", "UTC", "needs five fields"),
        ("* * * * * *", "UTC", "needs five fields"),
        ("@daily", "UTC", "needs five fields"),
        ("", "UTC", "needs five fields"),
        ("1," * 200 + "1 * * * *", "UTC", "needs five fields"),
        ("61 * * * *", "UTC", "its minute is wrong"),
        ("0 0 30 2 *", "UTC", "its day of month is wrong"),
        ("* * * * *", "Mars", "no time zone 'Mars'"),
        ("* * * * *", "../../etc/passwd", "no time zone"),
        ("* * * * *", "", "no time zone"),
        ("* * * * *", "a\0b", "no time zone"),
    ],
)
def test_an_invalid_schedule_is_refused_with_the_reason(cron: str, zone: str, reason: str) -> None:
    with pytest.raises(BadTrigger, match=reason):
        CronSchedule(cron, zone)
