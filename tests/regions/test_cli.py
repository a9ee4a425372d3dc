"""`gribmill regions` as people and scripts use it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from gribmill.cli.data.regions.region_map import MapFrame, region_map
from gribmill.cli.main import cli
from gribmill.errors import GribmillError
from gribmill.regions.box import Box
from gribmill.regions.grids.spec import named_grids
from gribmill.regions.region import built_in_regions
from gribmill.regions.window import window

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")

    def call(*arguments: str) -> Result:
        return CliRunner().invoke(cli, ["--data", str(tmp_path), "regions", *arguments])

    return call


def settings_file(folder: Path, text: str) -> None:
    (folder / "gribmill.toml").write_text(text)


def test_list_shows_every_region_as_a_table_and_as_json(run: Run) -> None:
    listed = json.loads(run("list", "--json").stdout)
    assert [one["name"] for one in listed] == list(built_in_regions())
    assert listed[0] == {
        "name": "ne",
        "title": "US Northeast",
        "box": [-80.6, 38.8, -66.8, 47.6],
        "crosses_dateline": False,
        "resolution": None,
        "method": None,
        "encoding": "fast",
        "from": "built in",
    }
    lines = run("list").stdout.splitlines()
    assert lines[0].split() == ["region", "west", "south", "east", "north", "title", "from"]
    assert len(lines) == len(listed) + 1


def test_list_filters_regions_that_contain_a_point(run: Run) -> None:
    names = {one["name"] for one in json.loads(run("list", "--at", "52.9,172.9", "--json").stdout)}
    assert {"alaska", "global", "north_pacific"} <= names and "ne" not in names
    refused = run("list", "--at", "nowhere")
    assert refused.exit_code == 2 and "LAT,LON" in refused.stderr


def test_show_reports_the_window_on_each_grid(run: Run) -> None:
    record = json.loads(run("show", "alaska", "--json").stdout)
    assert record["crosses_dateline"] is True
    windows = {one["grid"]: one for one in record["windows"]}
    for named in named_grids():
        found = window(named.grid, built_in_regions()["alaska"].box)
        shown = windows[named.name]["window"]
        assert (shown is None) == (found is None)
        if found is not None:
            ny, nx = named.grid.shape
            assert shown["shape"] == list(found.shape) and shown["points"] == found.points
            assert shown["share"] == pytest.approx(found.points / (ny * nx), abs=1e-6)
    assert windows["hrrr_ak"]["window"]["share"] > 0.9 and windows["nbm_hi"]["window"] is None


def test_show_draws_the_box_and_a_table(run: Run) -> None:
    out = run("show", "ne").stdout
    assert "US Northeast" in out and "412 × 445" in out and "9.6%" in out
    assert sum(1 for letter in out if 0x2801 <= ord(letter) <= 0x28FF) > 150
    plain = run("show", "ne", "--no-map").stdout
    assert not any(0x2800 <= ord(letter) <= 0x28FF for letter in plain) and "412 × 445" in plain
    assert "hrrr" not in run("show", "ne", "--grid", "gfs").stdout


def test_show_takes_a_box_instead_of_a_name_and_says_what_is_wrong_with_it(run: Run) -> None:
    assert json.loads(run("show", "--bbox", "170,50,-170,60", "--json").stdout)["box"] == [170, 50, -170, 60]
    refused = run("show", "--bbox", "1,2,3")
    assert refused.exit_code == 2 and "four numbers W,S,E,N" in refused.stderr
    assert run("show").exit_code == 2
    assert run("show", "ne", "--bbox", "0,0,1,1").exit_code == 2
    assert "no known grid" in run("show", "--bbox", "0.01,0.01,0.02,0.02").stdout
    assert "is not one of" in run("show", "ne", "--grid", "ether").stderr


def test_an_unknown_region_is_an_error_with_a_suggestion(run: Run) -> None:
    result = run("show", "hawai")
    assert isinstance(result.exception, GribmillError) and "did you mean hawaii" in str(result.exception)


def test_check_says_what_is_wrong_with_each_region_and_fails(run: Run, tmp_path: Path) -> None:
    settings_file(
        tmp_path,
        """
        [regions.good]
        box = [175, -20, -175, -10]
        [regions.upside_down]
        box = [0, 50, 10, 40]
        [regions.lost]
        geojson = "lost.json"
        [regions.Bad-Name]
        box = [0, 0, 1, 1]
        [regions.ne]
        box = [-75, 40, -70, 45]
        """,
    )
    result = run("check", "--json")
    assert result.exit_code == 1
    says = {one["name"]: (one["ok"], one["says"]) for one in json.loads(result.stdout)}
    assert says["good"] == (True, "175,-20,-175,-10; crosses the dateline")
    assert says["upside_down"][0] is False and "south 50 is north of north 40" in says["upside_down"][1]
    assert "lost.json cannot be read" in says["lost"][1]
    assert "not a region name" in says["Bad-Name"][1]
    assert says["ne"] == (True, "-75,40,-70,45; replaces the built-in region of that name")
    assert "INVALID" in run("check").stdout


def test_check_accepts_valid_regions_and_no_regions(run: Run, tmp_path: Path) -> None:
    result = run("check")
    assert result.exit_code == 0 and "no regions of your own" in result.stderr
    ring = [[9.6, 42.2], [12.4, 42.2], [12.4, 44.5], [9.6, 42.2]]
    (tmp_path / "maps").mkdir()
    (tmp_path / "maps" / "tuscany.json").write_text(json.dumps({"type": "Polygon", "coordinates": [ring]}))
    settings_file(tmp_path, '[regions.tuscany]\ngeojson = "maps/tuscany.json"\n')
    result = run("check")
    assert result.exit_code == 0 and "9.6,42.2,12.4,44.5" in result.stdout


def test_outline_paths_are_relative_to_the_settings_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = [[0, 0], [2, 0], [2, 2], [0, 0]]
    (tmp_path / "here.json").write_text(json.dumps({"type": "Polygon", "coordinates": [ring]}))
    settings_file(tmp_path, '[regions.here]\ngeojson = "here.json"\n')
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    result = CliRunner().invoke(cli, ["--config", "../gribmill.toml", "regions", "check"])
    assert result.exit_code == 0 and "0,0,2,2" in result.stdout


@pytest.mark.parametrize(
    "box", [Box(-80, 38, -66, 48), Box(170, 50, -130, 72), Box(-180, -90, 180, 90), Box(5, 5, 5.01, 5.01)]
)
def test_the_map_fits_and_shows_the_box_in_its_middle(box: Box) -> None:
    for columns in (20, 40, 76):
        lines = region_map(box, columns)
        assert len(lines) <= 20 and all(len(line) <= columns for line in lines)
        on_edge = [
            (row, column)
            for row, line in enumerate(lines)
            for span in line.spans
            if span.style == "bold yellow"
            for column in range(span.start, span.end)
        ]
        middle = np.mean([(min(axis) + max(axis)) / 2 for axis in zip(*on_edge, strict=True)][1])
        assert abs(middle - (len(lines[0]) - 1) / 2) <= 1


def test_the_map_in_plain_characters_has_no_braille() -> None:
    text = "".join(line.plain for line in region_map(Box(-80, 38, -66, 48), 60, plain=True))
    assert set(text) == {"*", " "}


def test_a_line_off_the_map_or_over_its_far_side_leaves_no_streak() -> None:
    view = MapFrame.around(Box(-10, 40, 10, 50), 60)
    assert not view.dots(np.array([[170.0, 45.0], [-170.0, 45.0]])).any()
    assert not view.dots(np.array([[0.0, np.nan], [5.0, 45.0]])).any()
    whole = MapFrame.around(Box(-180, -90, 180, 90), 60)
    assert whole.dots(np.array([[179.0, 45.0], [-179.0, 45.0]])).sum() <= 2
