"""Meteograms: panels, gaps, units, night."""

import io
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from gribmill.draw.errors import DrawError
from gribmill.draw.meteogram import png as meteogram
from gribmill.draw.meteogram.curves import Curves, bar_seconds, friendly, with_gaps
from gribmill.draw.meteogram.panels import knots, panels_of, with_wind
from gribmill.draw.meteogram.png import draw_meteogram
from gribmill.draw.meteogram.text import draw_meteogram_terminal
from gribmill.draw.meteogram.time_axis import is_night, nights
from gribmill.draw.terminal.braille import bars, braille, dots_of

pytestmark = pytest.mark.slow

START = datetime(2025, 3, 4, 12, tzinfo=UTC)
UNITS = {
    "t2m": "K",
    "d2m": "K",
    "u10": "m s-1",
    "v10": "m s-1",
    "gust": "m s-1",
    "tp": "kg m-2",
    "mslp": "Pa",
    "tcc": "%",
}


def curves(hours: list[int], **changes: Any) -> Curves:
    """A day and a half of generated weather at the given hours."""
    h = np.array(hours, dtype=float)
    values = {
        "t2m": 280 + 5 * np.sin(h / 4),
        "d2m": 276 + 3 * np.sin(h / 4),
        "u10": np.full(len(h), 3.0),
        "v10": np.full(len(h), 4.0),
        "gust": 9 + np.sin(h),
        "tp": np.where((h > 5) & (h < 9), 2.5, 0.0),
        "mslp": 101000 + 10 * h,
        "tcc": np.clip(50 + 60 * np.sin(h / 3), 0, 100),
    }
    values.update(changes.pop("values", {}))
    units = {**UNITS, **changes.pop("units", {})}
    return Curves([START + timedelta(hours=hour) for hour in hours], values, units, **changes)


def printed(data: Curves, width: int = 80, **options: Any) -> str:
    file = io.StringIO()
    draw_meteogram_terminal(data, Console(file=file, width=width, **options))
    return file.getvalue()


def drawn(data: Curves, path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The matplotlib figure behind a drawn meteogram."""
    figure_module = pytest.importorskip("matplotlib.figure", reason="the extra `plot` is not installed")
    made = []

    class Recording(figure_module.Figure):  # type: ignore[misc,name-defined]
        def savefig(self, *args: Any, **kwargs: Any) -> None:
            made.append(self)
            super().savefig(*args, **kwargs)

    monkeypatch.setattr(meteogram, "matplotlib_figure", lambda: Recording)
    draw_meteogram(data, path, dpi=30)
    return made[0]


def test_kelvins_pascals_and_components_become_what_people_read() -> None:
    data = friendly(with_wind(curves(list(range(5)))))
    assert data.units["t2m"] == "°C" and data.get("t2m")[0] == pytest.approx(6.85)
    assert data.units["mslp"] == "hPa" and data.get("mslp")[0] == pytest.approx(1010)
    assert data.get("ws10")[0] == pytest.approx(5)
    assert data.get("wdir10")[0] == pytest.approx(np.degrees(np.arctan2(-3, -4)) % 360)


def test_units_that_were_chosen_stay() -> None:
    data = friendly(curves([0, 1], values={"t2m": np.array([50.0, 51.0])}, units={"t2m": "°F"}))
    assert data.units["t2m"] == "°F" and data.get("t2m")[0] == 50


def test_an_hour_left_out_opens_a_gap() -> None:
    data = with_gaps(curves([0, 1, 2, 3, 6, 7, 8]))
    assert len(data.times) == 8 and np.isnan(data.get("t2m")[4]) and np.isfinite(np.delete(data.get("t2m"), 4)).all()


def test_longer_steps_later_in_a_run_are_not_a_gap() -> None:
    hours = [0, 1, 2, 3, 6, 9, 12]
    assert len(with_gaps(curves(hours)).times) == len(hours)


def test_lines_are_broken_where_values_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    t2m = np.full(12, 280.0)
    t2m[4:6] = np.nan
    figure = drawn(curves(list(range(12)), values={"t2m": t2m}), tmp_path / "a.png", monkeypatch)
    y = figure.axes[0].lines[0].get_ydata()
    assert np.isnan(y[4:6]).all() and np.isfinite(np.delete(y, [4, 5])).all()


def test_precipitation_falls_in_the_interval_before_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = curves([0, 3, 6, 9, 12], minutes={"tp": [0, 180, 180, 180, 180]})
    figure = drawn(data, tmp_path / "a.png", monkeypatch)
    panel = next(ax for ax in figure.axes if ax.get_title(loc="left").startswith("Precipitation"))
    bar = next(patch for patch in panel.patches if patch.get_height() == 2.5)
    end = (START + timedelta(hours=6)).timestamp()
    left, right = sorted((bar.get_x(), bar.get_x() + bar.get_width()))
    assert right == pytest.approx(end) and left == pytest.approx(end - 3 * 3600, abs=900)


def test_a_missing_amount_is_marked_and_never_drawn_as_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tp = np.full(6, 1.0)
    tp[2] = np.nan
    data = curves(list(range(6)), values={"tp": tp})
    figure = drawn(data, tmp_path / "a.png", monkeypatch)
    panel = next(ax for ax in figure.axes if ax.get_title(loc="left").startswith("Precipitation"))
    assert [patch.get_height() for patch in panel.patches if patch.get_height() == 1.0] == [1.0] * 5
    assert "x" in printed(data)


def test_barbs_show_knots_and_direction() -> None:
    data = with_wind(curves([0, 1]))
    wind = knots(data)
    assert wind and wind[0][0] == pytest.approx(3 * 3600 / 1852) and wind[1][0] == pytest.approx(4 * 3600 / 1852)
    mph = with_wind(curves([0, 1], units={"u10": "mph", "v10": "mph"}))
    slower = knots(mph)
    assert slower and slower[0][0] == pytest.approx(3 * 0.868976, abs=1e-4)


def test_panels_come_in_the_order_of_reading_and_unknown_ones_last() -> None:
    data = with_wind(curves([0, 1], values={"lftx": np.array([1.0, 2.0])}))
    panels, unseen = panels_of(data)
    titles = [panel.title for panel in panels]
    assert titles == ["Temperature", "Wind", "Precipitation", "Pressure", "Cloud", "lftx"] and not unseen
    assert panels[0].names == ("t2m", "d2m") and panels[1].names == ("ws10", "gust")


def test_quantities_in_other_units_do_not_share_an_axis() -> None:
    data = curves([0, 1], units={"d2m": "°F"})
    assert [panel.names for panel in panels_of(data)[0] if "t2m" in panel.names] == [("t2m",)]


def test_variables_without_a_panel_are_named() -> None:
    many = {f"extra{k:02d}": np.zeros(3) for k in range(12)}
    data = curves([0, 1, 2], values=many)
    assert "not drawn: extra05, extra06" in printed(data, width=200)


def test_the_terminal_names_extremes_sums_and_days() -> None:
    text = printed(curves(list(range(24))))
    assert "Temperature [°C]" in text and "1.9 to 11.8" in text
    assert "sum 7.5, most 2.5" in text and "1010.0 to 1012.3" in text
    assert "Tue 04 Mar" in text and "Wed 05 Mar" in text and "UTC" in text


def test_the_terminal_without_colours_has_no_escape_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in printed(curves(list(range(24))))
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in printed(curves(list(range(24))), force_terminal=True, color_system="truecolor")


def test_the_terminal_keeps_its_width() -> None:
    assert max(len(line) for line in printed(curves(list(range(49))), width=60).splitlines()) <= 60


def test_a_gap_in_the_terminal_is_blank() -> None:
    values = np.linspace(280, 281, 40)
    values[18:22] = np.nan
    rows = braille(dots_of(np.linspace(0, 1, 40), (values - 280), 40, 4))
    assert all(row[18:21].strip() == "" for row in rows) and any(row[:17].strip() for row in rows)


def test_rising_values_draw_a_rising_line() -> None:
    rows = braille(dots_of(np.array([0.0, 1.0]), np.array([0.0, 1.0]), 10, 3))
    assert rows[0][-1] != " " and rows[-1][0] != " " and rows[0][0] == " " == rows[-1][-1]


def test_bars_have_heights_and_a_trace_is_seen() -> None:
    rows = bars(np.array([1.0, 0.5, 0.001, 0.0, np.nan]), 2)
    assert rows == ["█    ", "██▁  "]


def test_without_minutes_an_amount_lasts_since_the_time_before() -> None:
    assert bar_seconds(curves([0, 1, 4]), "tp").tolist() == [3600, 3600, 3 * 3600]


@pytest.mark.parametrize("hours", [[0], [0, 1]])
def test_one_or_two_hours_with_nothing_but_gaps_are_drawn(hours: list[int], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    nothing = {name: np.full(len(hours), np.nan) for name in UNITS}
    data = curves(hours, values=nothing, lat=40.0, lon=-74.0)
    draw_meteogram(data, tmp_path / "a.png", dpi=30)
    assert (tmp_path / "a.png").stat().st_size > 1000
    assert "missing" in printed(data)


def test_series_that_do_not_fit_are_refused() -> None:
    with pytest.raises(DrawError, match="t2m has 2 values for 1 times"):
        Curves([START], {"t2m": [1.0, 2.0]}, {})
    with pytest.raises(DrawError, match="nothing to draw"):
        Curves([], {}, {})
    with pytest.raises(DrawError, match="must increase"):
        Curves([START, START], {"t2m": [1.0, 2.0]}, {})


def test_night_matches_the_almanac() -> None:
    """Greenwich at the equinox of 2025-03-20: sunrise about 06:04, sunset about 18:14 UTC."""
    day = datetime(2025, 3, 20, tzinfo=UTC).timestamp()
    (first, second) = nights(day, day + 86400, 51.48, 0.0)
    assert first[1] - day == pytest.approx(6 * 3600 + 4 * 60, abs=300)
    assert second[0] - day == pytest.approx(18 * 3600 + 14 * 60, abs=300)


def test_polar_summers_have_no_night() -> None:
    june = datetime(2025, 6, 21, tzinfo=UTC).timestamp() + np.arange(0, 86400, 3600.0)
    assert not is_night(june, 80.0, 20.0).any() and is_night(june, -80.0, 20.0).all()


def test_a_constant_line_runs_through_the_middle() -> None:
    lines = printed(curves(list(range(6)), values={"tcc": np.full(6, 40.0)})).splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("Cloud"))
    panel = lines[start + 1 : start + 5]
    assert [bool(line[10:].strip()) for line in panel] == [False, True, False, False] and "40.0" in panel[1]


def test_a_quantity_that_stays_zero_or_missing_has_no_panel_but_is_named() -> None:
    nothing = {"asnow": np.zeros(4), "snod": np.full(4, np.nan)}
    data = curves([0, 1, 2, 3], values=nothing, units={"asnow": "m", "snod": "m"}, minutes={"asnow": [60] * 4})
    titles = [panel.title for panel in panels_of(data)[0]]
    assert "Snowfall" not in titles and "snod" not in titles and "Precipitation" in titles
    text = printed(data, width=120)
    assert "zero throughout: asnow; no values: snod" in text and "Snowfall" not in text
    some = curves([0, 1, 2, 3], values={**nothing, "asnow": np.array([0, 0, 0.02, 0])}, minutes={"asnow": [60] * 4})
    assert "Snowfall" in [panel.title for panel in panels_of(some)[0]]


def test_dry_weather_keeps_its_panel() -> None:
    data = curves([0, 1, 2], values={"tp": np.zeros(3)}, minutes={"tp": [60] * 3})
    assert "Precipitation" in [panel.title for panel in panels_of(data)[0]]


def test_panels_in_the_same_units_are_adjacent() -> None:
    more = {"cape": np.arange(3.0), "sp": np.full(3, 99000.0), "skt": np.full(3, 283.0)}
    data = friendly(with_wind(curves([0, 1, 2], values=more, units={"cape": "J kg-1", "sp": "Pa", "skt": "K"})))
    names = [panel.names[0] for panel in panels_of(data)[0]]
    assert names == ["t2m", "skt", "ws10", "tp", "mslp", "sp", "tcc", "cape"]


def quarters(count: int = 9) -> Curves:
    """A series at steps of 15 minutes, each amount with its own 15 minutes."""
    times = [START + timedelta(minutes=15 * k) for k in range(1, count + 1)]
    values = {"t2m": 280 + np.arange(count) / 4, "tp": np.arange(count, dtype=float)}
    return Curves(times, values, {"t2m": "K", "tp": "kg m-2"}, minutes={"tp": [15] * count})


def test_steps_of_a_quarter_of_an_hour_have_ticks_and_bars_of_their_width(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure = drawn(quarters(), tmp_path / "a.png", monkeypatch)
    assert [label.get_text() for label in figure.axes[-1].get_xticklabels()][:3] == ["12:00", "12:15", "12:30"]
    panel = next(ax for ax in figure.axes if ax.get_title(loc="left").startswith("Precipitation"))
    widths = [abs(bar.get_width()) for bar in panel.patches if 0 < bar.get_height() < 9]
    assert widths == pytest.approx([900 * 0.94] * 8)
    assert "12:15" in printed(quarters(), width=100)


def test_hourly_series_have_whole_hours_on_their_axis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figure = drawn(curves(list(range(4))), tmp_path / "a.png", monkeypatch)
    assert [label.get_text() for label in figure.axes[-1].get_xticklabels()] == ["12", "13", "14", "15"]


def test_an_amount_that_begins_before_the_first_time_is_drawn_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = curves([6, 12, 18], values={"tp": np.array([4.0, 1.0, 0.5])}, minutes={"tp": [360] * 3})
    figure = drawn(data, tmp_path / "a.png", monkeypatch)
    panel = next(ax for ax in figure.axes if ax.get_title(loc="left").startswith("Precipitation"))
    assert panel.get_xlim()[0] <= START.timestamp()
    rows = printed(data, width=60).splitlines()
    bar = rows[next(k for k, row in enumerate(rows) if row.startswith("Precipitation")) + 1]
    assert 14 <= bar.count("█") <= 20  # a third of the axis
