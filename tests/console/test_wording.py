"""Numbers and times on the pages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gribmill.console.render import environment, pretty_json, query, static_url, when
from gribmill.console.wording import counted, duration, percent, relative, size

NOW = datetime(2026, 11, 18, 8, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "–"), (0.085, "85 ms"), (4.2, "4.2 s"), (59.4, "59 s"), (200, "3 min 20 s"), (1260, "21 min"),
     (7500, "2 h 05 min"), (273_600, "3 d 4 h"), (-5, "−5.0 s"), (float("nan"), "–")],
)  # fmt: skip
def test_durations_are_short(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("ago", "text"),
    [(0, "just now"), (3, "3 s ago"), (-3, "in 3 s"), (90, "1 min 30 s ago"), (-7200, "in 2 h 00 min")],
)
def test_times_are_relative(ago: float, text: str) -> None:
    assert relative(NOW - timedelta(seconds=ago), NOW) == text


def test_a_failure_rate_is_never_rounded_to_none_or_all() -> None:
    assert [percent(share) for share in (None, 0.0, 0.0002, 0.025, 0.5, 0.9999, 1.0)] == [
        "–", "0 %", "< 0.1 %", "2.5 %", "50 %", "99.9 %", "100 %",
    ]  # fmt: skip


def test_sizes_and_counts() -> None:
    assert [size(None), size(12), size(112_800), size(3e12)] == ["–", "12 B", "112.8 kB", "3.0 TB"]
    assert [size(999), size(999_949), size(999_950)] == ["999 B", "999.9 kB", "1.0 MB"]
    assert [counted(1, "job"), counted(1200, "job")] == ["1 job", "1,200 jobs"]


def test_a_time_carries_the_exact_moment() -> None:
    shown = str(when(NOW))
    assert 'datetime="2026-11-18T08:00:00Z"' in shown
    assert 'title="2026-11-18 08:00:00 UTC"' in shown
    assert str(when(None, "<never>")) == "&lt;never&gt;"


def test_filters_stay_in_the_url() -> None:
    assert query({"status": "failed", "q": "type:sleep", "before": 12}, before=None) == "?status=failed&q=type%3Asleep"
    assert query({}, q="") == "?"


def test_values_are_escaped_in_templates() -> None:
    template = environment().from_string("<p title='{{ x }}'>{{ x }}{{ x | pretty }}</p>")
    shown = template.render(x="<script>alert('1')</script>")
    assert "<script" not in shown
    assert "'1'" not in shown


def test_json_is_sorted_and_other_text_is_unchanged() -> None:
    assert pretty_json({"b": 1, "a": "é"}) == '{\n  "a": "é",\n  "b": 1\n}'
    assert pretty_json("{not json") == "{not json"


def test_urls_of_files_change_with_their_content() -> None:
    assert static_url("console.css").startswith("/static/console.css?v=")
    assert static_url("console.css") != static_url("live.js").replace("live.js", "console.css")
