"""Maps as PNG files. Pixels are read back with matplotlib's own reader."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gribmill.draw.drawable import Barbs, Drawable
from gribmill.draw.errors import DrawError
from gribmill.draw.map import png
from gribmill.draw.map.layers import map_barbs
from gribmill.draw.map.layout import layout_for
from gribmill.draw.map.legend import PAPER
from gribmill.draw.map.plane import plane_of
from gribmill.draw.map.png import MISSING, draw_png
from gribmill.draw.scale import scale_for
from tests.draw.make_fields import WORDS, northeast, polar, regular

pytestmark = pytest.mark.slow

image = pytest.importorskip("matplotlib.image", reason="the extra `plot` is not installed")
DPI = 50


def pixels(field: Drawable, path: Path, **options: Any) -> np.ndarray:
    """The map part of the drawn picture as RGB bytes, row 0 at the south."""
    draw_png(field, path, dpi=DPI, **options)
    picture: np.ndarray = (image.imread(path)[::-1, :, :3] * 255).round().astype(int)
    left, bottom, width, height = layout_for(plane_of(field)).box(
        0, 0, layout_for(plane_of(field)).width, layout_for(plane_of(field)).height
    )
    high, wide = picture.shape[:2]
    return picture[
        round(bottom * high) : round((bottom + height) * high), round(left * wide) : round((left + width) * wide)
    ]


def texts(field: Drawable, monkeypatch: pytest.MonkeyPatch, path: Path, **options: Any) -> list[str]:
    """Every text on the figure."""
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    found: list[str] = []

    class Recording(Figure):
        def savefig(self, *args: Any, **kwargs: Any) -> None:
            found.extend(part.get_text() for part in self.findobj(Text))
            super().savefig(*args, **kwargs)

    monkeypatch.setattr(png, "matplotlib_figure", lambda: Recording)
    draw_png(field, path, dpi=DPI, **options)
    return [text for text in found if text]


def mid_pacific(values: Any, **words: Any) -> Drawable:
    """Open sea: nothing but the field and the graticule is drawn."""
    return regular(values, west=-150.0, south=30.0, step=0.1, **words)


def test_a_gradient_has_its_colours_in_order_from_west_to_east(tmp_path: Path) -> None:
    values = np.broadcast_to(np.linspace(263.15, 303.15, 200), (100, 200))
    field = mid_pacific(values)
    drawn = pixels(field, tmp_path / "a.png")
    scale = scale_for(field.values, "K", "temperature")
    row = drawn[int(len(drawn) * 0.37)]
    for share in (0.08, 0.2, 0.31, 0.47, 0.6, 0.72, 0.9):
        expected = scale.rgb(np.array([-10 + 40 * share]), PAPER, MISSING)[0]
        seen = row[round(share * len(row))]
        assert np.abs(seen - expected).max() < 30, share


def test_north_is_up(tmp_path: Path) -> None:
    values = np.repeat(np.linspace(250.15, 305.15, 100)[:, None], 150, axis=1)
    drawn = pixels(mid_pacific(values), tmp_path / "a.png")
    south, north = drawn[int(len(drawn) * 0.04)], drawn[int(len(drawn) * 0.96)]
    assert np.median(north[:, 0] - north[:, 2]) > 60 > np.median(south[:, 0] - south[:, 2])


def test_missing_points_are_hatched_grey_and_dry_ones_paper(tmp_path: Path) -> None:
    values = np.zeros((100, 150))
    values[:, 75:] = np.nan
    drawn = pixels(mid_pacific(values, units="kg m-2", palette="precipitation"), tmp_path / "a.png")
    west, east = np.split(drawn, 2, axis=1)
    assert np.median(west.reshape(-1, 3), axis=0).tolist() == pytest.approx(PAPER, abs=2)
    grey = np.median(east.reshape(-1, 3), axis=0)
    assert grey == pytest.approx(np.array(MISSING), abs=25) and grey.max() < 225


def test_titles_times_extremes_and_credits_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    field = northeast(long_name="Temperature at 2 m", attribution="NOAA", **WORDS)
    values = field.values.copy()
    values[10, 10], values[40, 40] = 250.15, 311.15
    found = texts(replace(field, values=values), monkeypatch, tmp_path / "a.png")
    assert "Temperature at 2 m [°C]" in found and "valid Sat 2023-07-22 07:00 UTC" in found
    assert "HRRR  2023-07-22 06Z  +001 h" in found and "ne · Northeast" in found
    assert "NOAA · Natural Earth · gribmill" in found
    assert "−23.0" in found and "38.0" in found
    assert any(text.startswith("min −23.0 at ") and "max 38.0 at " in text for text in found)
    assert "45°N" in found and "75°W" in found and "°C" in found


def test_the_coast_is_drawn_where_it_is(tmp_path: Path) -> None:
    """A constant field around Cape São Vicente: lines follow the coast, none are drawn at sea."""
    drawn = pixels(regular(np.full((40, 40), 290.0), west=-11, south=36, step=0.1), tmp_path / "a.png")
    dark = drawn.max(axis=2) < 90
    columns = np.linspace(-11.05, -7.05, dark.shape[1])
    assert dark[:, (columns > -9.1) & (columns < -8.6)].mean() > 0.005
    assert dark[5:-5, (columns > -10.8) & (columns < -9.7)].mean() < 0.001


@pytest.mark.parametrize(
    "field",
    [
        regular(np.full((20, 30), np.nan)),
        regular(np.full((20, 30), 281.0)),
        regular(np.linspace(270, 290, 30)[None, :]),
        regular(np.linspace(270, 290, 30)[:, None]),
        regular([[281.0]]),
        regular([[np.nan]]),
        regular(np.random.default_rng(1).normal(281, 9, (19, 36)), west=-180, south=-90, step=10),
        regular(np.full((20, 80), 260.0), west=165, south=50),
        regular(np.full((3, 3), np.inf)),
        regular(np.full((20, 30), 101300.0), units="Pa", palette="pressure"),
        regular(np.full((20, 30), 1.0), units="", palette="flag"),
        regular(np.full((20, 30), 1.0), units="x", palette="no such palette"),
    ],
    ids=[
        "all missing", "constant", "one row", "one column", "one point", "one missing point", "global", "dateline",
        "infinite", "constant pressure", "flag", "unknown palette",
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("error", "default::ResourceWarning")  # may be about garbage of an earlier test
def test_odd_fields_are_drawn_without_a_warning(field: Drawable, tmp_path: Path) -> None:
    draw_png(field, tmp_path / "a.png", dpi=30)
    assert image.imread(tmp_path / "a.png").shape[0] > 50


def test_a_polar_tile_is_drawn_with_barbs(tmp_path: Path) -> None:
    y, x = np.mgrid[-20:21, -20:21].astype(float)
    draw_png(polar(), tmp_path / "a.png", Barbs(x, y), dpi=30)
    assert (tmp_path / "a.png").stat().st_size > 3000


def test_barbs_are_named_in_the_title(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    field = regular(np.full((20, 30), 281.0))
    wind = np.full((20, 30), 10.0)
    assert "Temperature at 2 m [°C], wind barbs [kt]" in texts(
        field, monkeypatch, tmp_path / "a.png", barbs=Barbs(wind, wind)
    )


def test_without_matplotlib_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(DrawError, match=r"pip install gribmill\[plot\]"):
        draw_png(regular([[281.0]]), tmp_path / "a.png")
    assert not (tmp_path / "a.png").exists()


def test_the_same_field_gives_the_same_bytes(tmp_path: Path) -> None:
    field = regular(np.full((5, 5), 281.0))
    for name in "ab":
        draw_png(field, tmp_path / name, dpi=30)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(DrawError, match=r"cannot write .*nowhere"):
        draw_png(regular([[281.0]]), tmp_path / "nowhere" / "a.png", dpi=30)


def test_minutes_beyond_the_hour_are_shown() -> None:
    assert regular([[281.0]], hour=0.25).lead == "+000 h 15 min" and regular([[281.0]], hour=6).lead == "+006 h"


def test_a_long_attribution_is_whole_and_overlaps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Licences require it: the whole text is inside the picture and does not overlap the extremes."""
    from matplotlib.figure import Figure

    words = " ".join(f"Made From Data Of CENTRE Number {number}." for number in range(12))
    boxes: dict[str, Any] = {}

    class Measuring(Figure):
        def savefig(self, *args: Any, **kwargs: Any) -> None:
            super().savefig(*args, **kwargs)
            boxes.update({text.get_text(): text.get_window_extent() for text in self.texts})
            boxes["page"] = self.bbox

    monkeypatch.setattr(png, "matplotlib_figure", lambda: Measuring)
    draw_png(regular(np.full((20, 60), 281.0), attribution=words), tmp_path / "a.png", dpi=DPI)
    credit = next(text for text in boxes if text.startswith("Made"))
    facts = next(text for text in boxes if text.startswith("min "))
    assert credit.replace("\n", " ").startswith(words)
    assert boxes[credit].x1 <= boxes["page"].x1 and boxes[credit].y0 >= 0
    assert boxes[credit].y1 <= boxes[facts].y0


def test_a_map_cropped_to_its_box_is_blank_outside_it(tmp_path: Path) -> None:
    field = northeast(box=(-82.0, 39.0, -70.0, 45.0))
    for frame in ("box", "tile"):
        draw_png(field, tmp_path / f"{frame}.png", dpi=DPI, frame=frame)
    box, tile = ((image.imread(tmp_path / f"{name}.png")[:, :, :3] * 255).round() for name in ("box", "tile"))
    blank = [(picture.min(axis=2) > 250).mean() for picture in (box, tile)]
    assert box.shape != tile.shape and blank[0] > blank[1]


def test_extremes_outside_the_box_are_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    field = northeast()
    values = field.values.copy()
    values[np.unravel_index(np.argmin(np.hypot(field.lat - 42, field.lon + 72)), values.shape)] = 315.15
    values[0, 0] = 200.0  # far outside
    found = texts(replace(field, values=values, box=(-74.0, 41.0, -70.0, 43.0)), monkeypatch, tmp_path / "a.png")
    assert "42.0" in found and not any("−73" in text for text in found)


def test_codes_have_a_legend_instead_of_a_colour_bar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.zeros((20, 30))
    values[:5], values[5:7] = 1, 5
    flags = {0: "no precipitation", 1: "rain", 3: "freezing rain", 5: "snow"}
    field = regular(values, units="1", palette="flag", long_name="Precipitation type", flags=flags)
    found = texts(field, monkeypatch, tmp_path / "a.png")
    assert {"no precipitation (65 %)", "rain (25 %)", "snow (10 %)"} <= set(found)
    assert not any("freezing rain" in text for text in found) and not any(text.startswith("min") for text in found)
    assert "Precipitation type" in found


def test_the_colours_of_codes_are_on_the_map(tmp_path: Path) -> None:
    values = np.zeros((60, 90))
    values[20:40] = 1
    values[40:] = 5
    flags = {0: "no precipitation", 1: "rain", 5: "snow"}
    drawn = pixels(mid_pacific(values, units="1", palette="flag", flags=flags), tmp_path / "a.png")
    scale = scale_for(values, "1", "flag", flags=flags)
    for share, code in ((0.15, 0), (0.45, 1), (0.8, 5)):
        expected = scale.rgb(np.array([float(code)]), PAPER, MISSING)[0]
        assert np.median(drawn[int(len(drawn) * share)], axis=0) == pytest.approx(expected, abs=3), code


def test_contours_of_another_field_are_labelled_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warm = regular(np.full((40, 60), 290.0))
    pressure = np.broadcast_to(np.linspace(99000, 102000, 60), (40, 60))
    lines = regular(pressure, units="Pa", palette="pressure", long_name="Pressure", name="mslp")
    found = texts(warm, monkeypatch, tmp_path / "a.png", contours=lines)
    assert "Temperature at 2 m [°C], Pressure [hPa] as lines" in found
    assert {"992", "1000", "1016"} <= set(found)


def test_codes_have_no_contours(tmp_path: Path) -> None:
    codes = regular(np.ones((20, 30)), units="1", palette="flag", name="ptype", flags={1: "rain"})
    with pytest.raises(DrawError, match="ptype is a field of codes: it has no contours"):
        draw_png(regular(np.full((20, 30), 281.0)), tmp_path / "a.png", contours=codes)


def test_equal_extremes_get_no_marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.zeros((40, 60))
    values[17, 30] = 12.0
    field = regular(values, units="kg m-2", palette="precipitation", long_name="Rain")
    found = texts(field, monkeypatch, tmp_path / "a.png")
    assert "12.0" in found and "0.0" not in found
    assert any("min 0.0 at 99 % of the points   max 12.0 at 48.5°N" in text for text in found)


def test_barbs_on_a_coarse_grid_are_evenly_spaced() -> None:
    wind = np.full((65, 93), 5.0)
    plane = plane_of(regular(wind))
    placed = map_barbs(Barbs(wind, wind), plane)
    for places in (placed.column, placed.row):
        assert len(set(np.diff(np.unique(places)))) == 1


def test_a_map_says_what_hatching_means(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.linspace(2000, 4500, 120).reshape(10, 12)
    words: dict[str, Any] = {"units": "m", "name": "retop", "palette": "echo_top"}
    whole, some = regular(values, **words), regular(np.where(values > 4000, np.nan, values), **words)
    assert not [text for text in texts(whole, monkeypatch, tmp_path / "a.png") if "hatched" in text]
    shown = texts(some, monkeypatch, tmp_path / "b.png")
    assert [text for text in shown if text.startswith("hatched: no value   min 2000 at")]
