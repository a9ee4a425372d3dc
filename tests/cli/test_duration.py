"""Durations as people write and read them."""

from __future__ import annotations

import pytest

from gribmill.cli.options.duration import parse_duration
from gribmill.cli.text.figures import format_duration, format_size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("0", 0),
        ("1.5", 1.5),
        ("20m", 1200),
        ("2h", 7200),
        ("1d 12h", 129_600),
        ("1d12h", 129_600),
        ("2 H", 7200),
        ("1w", 604_800),
        ("1h 30m 5s", 5405),
    ],
)
def test_durations_are_understood(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", " ", "x", "-5", "1h 30", "30 1h", "1y", "h", "1e9", "nan", "inf", "9" * 12 + "w"])
def test_an_invalid_duration_is_refused(text: str) -> None:
    assert parse_duration(text) is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, ""),
        (float("nan"), ""),
        (0, "0ms"),
        (0.085, "85ms"),
        (0.9996, "1.0s"),
        (4.2, "4.2s"),
        (9.96, "10s"),
        (59.4, "59s"),
        (59.6, "1m 00s"),
        (200, "3m 20s"),
        (3599.7, "1h 00m"),
        (7500, "2h 05m"),
        (86_399.9, "1d 0h"),
        (273_600, "3d 4h"),
        (-200, "-3m 20s"),
    ],
)
def test_durations_are_formatted_for_people(seconds: float | None, text: str) -> None:
    assert format_duration(seconds) == text


def test_sizes_are_rounded_to_the_next_unit() -> None:
    sizes = (999, 112_800, 999_949, 999_950, 3e12)
    assert [format_size(one) for one in sizes] == ["999 B", "112.8 kB", "999.9 kB", "1.0 MB", "3.0 TB"]
