"""gribmill cut, point and tile, as a user types them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gribmill.cli.main import cli
from gribmill.errors import GribmillError
from tests.make_grib import make_message, write


def gribmill(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root with two hours of GFS over Africa, cut by the command."""
    folder = tmp_path_factory.mktemp("root")
    for step in (3, 6):
        messages = [make_message("gfs-small", name, step=step, packing="grid_simple") for name in ("2t", "10u", "10v")]
        write(folder / f"f{step:03d}.grib2", messages)
    found = gribmill(
        "cut", folder / "f003.grib2", folder / "f006.grib2", "--bbox", "-20,-35,50,35", "-o", folder, "--model", "gfs"
    )
    assert found.exit_code == 0, found.output
    return folder


@pytest.fixture(scope="module")
def tile(root: Path) -> Path:
    return root / "tiles/gfs/20260901_12/box_20w_35s_50e_35n/003.npz"


def test_cut_writes_tiles_and_lists_them(root: Path, tile: Path) -> None:
    assert tile.is_file()
    found = gribmill(
        "cut",
        root / "f003.grib2",
        "--region",
        "africa",
        "--region",
        "europe",
        "-o",
        root / "again",
        "--model",
        "gfs",
        "--json",
    )
    assert found.exit_code == 0, found.output
    rows = json.loads(found.stdout)
    assert [(row["region"], row["hour"], row["variables"]) for row in rows] == [
        ("africa", 3, ["t2m", "u10", "v10"]),
        ("europe", 3, ["t2m", "u10", "v10"]),
    ]
    assert all(Path(row["path"]).is_file() for row in rows)


def test_cut_again_gives_the_same_bytes(root: Path, tile: Path) -> None:
    before = tile.read_bytes()
    assert gribmill("cut", root / "f003.grib2", "-b", "-20,-35,50,35", "-o", root, "--model", "gfs").exit_code == 0
    assert tile.read_bytes() == before


def test_cut_names_absent_variables(root: Path) -> None:
    found = gribmill("cut", root / "f003.grib2", "-r", "africa", "--vars", "t2m, refc", "-o", root / "vars", "--json")
    assert json.loads(found.stdout)[0]["absent"] == ["refc"]
    assert "not in the file at +3 h: refc" in found.stderr


def test_cut_of_absent_variables_lists_what_the_file_has(root: Path) -> None:
    found = gribmill("cut", root / "f003.grib2", "-r", "africa", "--vars", "refc,tp", "-o", root / "none")
    assert found.exit_code == 1
    assert "f003.grib2: does not contain refc, tp; it contains t2m, u10, v10\n" in found.stderr


def test_cut_onto_a_regular_grid(root: Path) -> None:
    found = gribmill(
        "cut",
        root / "f003.grib2",
        "-r",
        "africa",
        "--resolution",
        "10",
        "--method",
        "cells",
        "-o",
        root / "cells",
        "--json",
    )
    assert json.loads(found.stdout)[0]["variables"][:3] == ["t2m", "t2m_max", "t2m_min"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--region or --bbox"),
        (["-b", "1,2,3"], "four numbers"),
        (["--method", "cells", "-r", "africa"], "needs --resolution"),
        (["-r", "africa", "--vars", " , "], "names separated by commas"),
        (["-r", "africa", "--vars", "t2m,guts"], "did you mean gust"),
    ],
)
def test_cut_says_what_is_wrong_with_its_options(root: Path, arguments: list[str], words: str) -> None:
    found = gribmill("cut", root / "f003.grib2", *arguments)
    assert found.exit_code == 2
    assert words in found.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-r", "afrika"], "did you mean africa"),
        (["-r", "africa", "--model", "../x"], "not a model name"),
    ],
)
def test_cut_refuses_invalid_names(root: Path, arguments: list[str], words: str) -> None:
    found = gribmill("cut", root / "f003.grib2", *arguments, "-o", root / "never")
    assert isinstance(found.exception, GribmillError)
    assert words in str(found.exception)


def test_cut_continues_after_a_bad_file_and_reports_it(root: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.grib2").write_bytes(b"no grib")
    found = gribmill("cut", tmp_path / "bad.grib2", root / "f003.grib2", "-r", "africa", "-o", tmp_path)
    assert found.exit_code == 1
    assert "bad.grib2" in found.stderr
    assert len(list(tmp_path.rglob("003.npz"))) == 1


def test_cut_never_lets_one_file_overwrite_anothers_tile(root: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other.grib2", [make_message("gfs-small", "2d", step=3)])
    found = gribmill("cut", root / "f003.grib2", other, "-r", "africa", "-o", tmp_path, "--model", "gfs")
    assert found.exit_code == 1
    assert "would overwrite it" in found.stderr
    (kept,) = tmp_path.rglob("003.npz")
    assert json.loads(gribmill("tile", "info", kept, "--json").stdout)["source"]["name"] == "f003.grib2"


def test_info_lists_what_a_tile_holds(tile: Path) -> None:
    found = gribmill("tile", "info", tile)
    assert found.exit_code == 0
    for words in (
        "gfs  run 20260901_12  +3 h",
        "2026-09-01 15:00 UTC",
        "t2m",
        "2 m above ground",
        "simple",
        "f003.grib2",
    ):
        assert words in found.stdout
    content = json.loads(gribmill("tile", "info", tile, "--json").stdout)
    assert content["variables"]["t2m"]["message"] == 1
    assert content["valid_time"] == "2026-09-01T15:00:00+00:00"


def test_the_grid_file_is_skipped_beside_tiles_and_refused_alone(tile: Path) -> None:
    grid = tile.parent / "grid.npz"
    assert gribmill("tile", "info", *sorted(tile.parent.glob("*.npz"))).exit_code == 0
    for command in (("info",), ("show",)):
        found = gribmill("tile", *command, grid)
        assert found.exit_code == 1
        assert "it has the coordinates of the tiles next to it" in str(found.exception)
    assert gribmill("tile", "verify", grid).exit_code == 1


def test_verify_exits_with_one_when_something_is_wrong(root: Path, tile: Path, tmp_path: Path) -> None:
    good = gribmill("tile", "verify", tile, "--grib", root / "f003.grib2", "--json")
    assert good.exit_code == 0
    assert json.loads(good.stdout)[0]["good"] is True
    bad = gribmill("tile", "verify", tile, "--grib", root / "f006.grib2")
    assert bad.exit_code == 1
    assert "FAILED" in bad.stdout
    everything = gribmill("tile", "verify", *sorted(tile.parent.glob("*.npz")))
    assert everything.exit_code == 0, everything.output


def test_diff_exits_with_one_when_tiles_differ(tile: Path) -> None:
    other = tile.with_name("006.npz")
    assert gribmill("tile", "diff", tile, tile).exit_code == 0
    found = gribmill("tile", "diff", tile, other, "--json")
    assert found.exit_code == 1
    assert "minutes" in [item["name"] for item in json.loads(found.stdout)]


def test_show_draws_in_the_terminal(tile: Path) -> None:
    found = gribmill("tile", "show", tile, "--width", "40")
    assert found.exit_code == 0, found.output
    assert "Temperature at 2 m" in found.stdout
    assert "min" in found.stdout


@pytest.mark.slow
def test_plot_writes_a_png(tile: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found = gribmill("tile", "plot", tile, "t2m", "--barbs", "-o", tmp_path / "map.png", "--dpi", "50")
    assert found.exit_code == 0, found.output
    assert (tmp_path / "map.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_point_prints_a_table_for_a_place_with_a_negative_longitude(root: Path) -> None:
    found = gribmill("--data", root, "point", "6.5", "-10.2")
    assert found.exit_code == 0, found.output
    run, grid_point, names, units, *rows = found.stdout.splitlines()
    assert run.startswith("# gfs ") and grid_point.startswith("# grid point ")
    assert names.split() == ["t2m", "ws10", "wdir10"]
    assert units.split() == ["time", "UTC", "hour", "°C", "m/s", "°"]
    assert [row.split()[:4] for row in rows] == [
        ["Tue", "2026-09-01", "15:00", "+3"],
        ["Tue", "2026-09-01", "18:00", "+6"],
    ]


def test_point_writes_json_and_csv(root: Path) -> None:
    found = gribmill("--data", root, "point", "6.5", "-10.2", "--json", "--units", "us", "--method", "bilinear")
    series = json.loads(found.stdout)
    assert series["units"]["t2m"] == "°F"
    assert len(series["hours"]) == 2
    rows = list(
        csv.reader(io.StringIO(gribmill("--data", root, "point", "6.5", "-10.2", "--csv", "--vars", "t2m").stdout))
    )
    assert rows[0] == ["time", "hour", "t2m [°C]", "run", "run choice"]
    assert rows[1][0] == "2026-09-01T15:00:00Z"


def test_point_gives_the_same_numbers_as_json_and_as_csv(root: Path) -> None:
    words = ("--data", root, "point", "6.5", "-10.2", "--units", "us", "--vars", "t2m")
    hours = json.loads(gribmill(*words, "--json").stdout)["hours"]
    rows = list(csv.reader(io.StringIO(gribmill(*words, "--csv").stdout)))
    assert [float(row[2]) for row in rows[1:]] == [hour["t2m"] for hour in hours]


def test_point_draws_a_meteogram(root: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found = gribmill("--data", root, "point", "6.5", "-10.2", "--plot", "--png", tmp_path / "m.png")
    assert found.exit_code == 0, found.output
    assert found.stdout.strip()
    assert (tmp_path / "m.png").stat().st_size > 1000


@pytest.mark.parametrize("value", [1000.4, 20000.0, 54321.6])
def test_point_writes_large_numbers_out(tmp_path: Path, value: float) -> None:
    path = write(tmp_path / "gh.grib2", [make_message("gfs-small", "2t", value, packing="grid_ieee")])
    gribmill("cut", path, "--bbox", "-20,-35,50,35", "-o", tmp_path, "--model", "gfs")
    found = gribmill("--data", tmp_path, "point", "6.5", "-10.2", "--units", "si")
    assert found.stdout.splitlines()[-1].split()[-1] == f"{value:.0f}"


@pytest.mark.parametrize("words", [("point", "6.5", "-10.2", "--png"), ("tile", "plot", "x.npz", "-o")])
def test_a_picture_is_not_written_under_the_name_of_another_kind(tmp_path: Path, words: tuple[str, ...]) -> None:
    found = gribmill(*words, tmp_path / "m.jpg")
    assert found.exit_code == 2
    assert "end the name in .png" in found.output


def test_point_refuses_an_option_it_does_not_know(root: Path) -> None:
    found = gribmill("--data", root, "point", "6.5", "-10.2", "--modle", "gfs")
    assert found.exit_code == 2


@pytest.mark.parametrize(
    "command",
    [
        ["cut"],
        ["point"],
        ["tile"],
        ["tile", "info"],
        ["tile", "show"],
        ["tile", "plot"],
        ["tile", "diff"],
        ["tile", "verify"],
    ],
)
def test_every_command_explains_itself_with_an_example(command: list[str]) -> None:
    found = gribmill(*command, "--help")
    assert found.exit_code == 0
    assert command == ["tile"] or f"gribmill {' '.join(command)}" in found.output.split("\n", 2)[2]
