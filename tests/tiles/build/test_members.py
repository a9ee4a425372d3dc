"""Members, statistics and models have separate folders, and no source overwrites another's tile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import gribmill
from gribmill.cli.main import cli
from gribmill.tiles.errors import TileError
from gribmill.tiles.read.tile import read_tile
from tests.make_grib import make_message, write

BOX = gribmill.Box(-20, -35, 50, 35)
GEFS: dict[str, Any] = {"generatingProcessIdentifier": 107, "subCentre": 2}
MEMBER = GEFS | {"productDefinitionTemplateNumber": 1, "typeOfEnsembleForecast": 3}


def message(name: str = "2t", **keys: Any) -> bytes:
    return make_message("gfs-small", name, 280.0 + keys.get("perturbationNumber", 0), packing="grid_simple", keys=keys)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def models(root: Path) -> list[str]:
    return sorted(path.name for path in (root / "tiles").iterdir())


def test_a_second_member_does_not_overwrite_the_first(tmp_path: Path) -> None:
    for number in (1, 2):
        file = write(tmp_path / f"gep{number:02d}.grib2", [message(**MEMBER, perturbationNumber=number)])
        gribmill.cut(file, BOX, tmp_path)
    assert models(tmp_path) == ["gefs.p01", "gefs.p02"]
    for path in tmp_path.glob("tiles/*/*/*/001.npz"):
        tile = read_tile(path)
        number = int(tile.meta.identity["ensemble_member"])
        assert tile.meta.model == f"gefs.p{number:02d}"
        assert tile.read("t2m").max() == pytest.approx(280 + number)


def test_control_member_mean_and_spread_get_separate_folders(tmp_path: Path) -> None:
    control = MEMBER | {"typeOfEnsembleForecast": 1}
    derived = GEFS | {"productDefinitionTemplateNumber": 2}
    file = write(
        tmp_path / "all.grib2",
        [message(**control), *(message(**MEMBER, perturbationNumber=n) for n in (1, 2))]
        + [message(**derived, derivedForecast=kind) for kind in (0, 2)],
    )
    (result,) = gribmill.cut(file, BOX, tmp_path, everything=True)
    assert models(tmp_path) == ["gefs.avg", "gefs.c00", "gefs.p01", "gefs.p02", "gefs.spr"]
    assert {tile.meta.model: list(tile.meta.variables) for tile in result.tiles}["gefs.spr"] == ["t2m_sd"]
    assert not any(tile.meta.duplicates for tile in result.tiles)


def test_a_given_name_is_kept_for_one_member_and_extended_for_several(tmp_path: Path) -> None:
    both = [message(**MEMBER, perturbationNumber=number) for number in (1, 2)]
    gribmill.cut(write(tmp_path / "one.grib2", both[:1]), BOX, tmp_path, model="mine")
    gribmill.cut(write(tmp_path / "two.grib2", both), BOX, tmp_path, model="ours")
    assert models(tmp_path) == ["mine", "ours.p01", "ours.p02"]
    with pytest.raises(TileError, match=r"it has 2 members \(p01, p02 …\)"):
        gribmill.cut(tmp_path / "two.grib2", BOX, tmp_path, model="ours.p01")


def test_tiles_of_another_member_model_or_grid_stay(tmp_path: Path) -> None:
    one = write(tmp_path / "one/x.grib2", [message(**MEMBER, perturbationNumber=1)])
    other = write(tmp_path / "two/x.grib2", [message(**MEMBER, perturbationNumber=2)])
    arguments = ("--bbox", "-20,-35,50,35", "-o", tmp_path, "--model", "mine")
    assert run("cut", one, *arguments).exit_code == 0
    refused = run("cut", other, *arguments)
    assert refused.exit_code == 1
    for words in ("x.grib2 (centre 7, subcentre 2, process 107, member 1)", "member 2) would replace it", "--replace"):
        assert words in refused.stderr
    (path,) = tmp_path.glob("tiles/mine/*/*/001.npz")
    assert read_tile(path).meta.identity["ensemble_member"] == 1
    assert run("cut", other, *arguments, "--replace").exit_code == 0
    assert read_tile(path).meta.identity["ensemble_member"] == 2


def test_files_with_equal_keys_are_distinguished_by_name(tmp_path: Path) -> None:
    """Files of GFS and of its assimilation have the same keys at hour 0."""
    first = write(tmp_path / "a.grib2", [message(generatingProcessIdentifier=81)])
    second = write(tmp_path / "b.grib2", [message("2d", generatingProcessIdentifier=81)])
    gribmill.cut(first, BOX, tmp_path)
    (refused,) = gribmill.cut(second, BOX, tmp_path)
    assert "was cut from a.grib2" in str(refused.failed[0].error)
    # The same file again, or a newer copy of it, is not another source.
    assert gribmill.cut(first, BOX, tmp_path)[0].tiles
    write(first, [message("2d", generatingProcessIdentifier=81)])
    assert gribmill.cut(first, BOX, tmp_path)[0].tiles


def test_an_unknown_model_gets_a_neutral_name_and_a_line(tmp_path: Path) -> None:
    file = write(tmp_path / "x.grib2", [message(generatingProcessIdentifier=44)])
    found = run("cut", file, "--bbox", "-20,-35,50,35", "-o", tmp_path)
    assert found.exit_code == 0
    assert "x.grib2: the model is not recognised" in found.stderr
    assert "--model" in found.stderr
    assert models(tmp_path) == ["kwbc_p44"]
    named = run("cut", file, "--bbox", "-20,-35,50,35", "-o", tmp_path, "--model", "mine")
    assert "not recognised" not in named.stderr


def test_readers_show_the_member(tmp_path: Path) -> None:
    file = write(tmp_path / "x.grib2", [message(**MEMBER, perturbationNumber=3)])
    gribmill.cut(file, BOX, tmp_path)
    (path,) = tmp_path.glob("tiles/gefs.p03/*/*/001.npz")
    data = gribmill.open_tile(path)
    assert data.realization.item() == 3
    assert data.realization.attrs["standard_name"] == "realization"
    assert data.attrs["ensemble_member"] == 3
    assert gribmill.open_run("gefs.p03", data=tmp_path).realization.item() == 3
    assert "member 3" in run("tile", "info", path).stdout
    assert "member 3" in run("grib", "ls", file).stdout
    assert json.loads(run("tile", "info", path, "--json").stdout)["identity"]["member_kind"] == "positively perturbed"


def test_variables_carry_only_what_differs_within_the_tile(tmp_path: Path) -> None:
    plain: dict[str, Any] = {"generatingProcessIdentifier": 104, "subCentre": 14}
    spread = plain | {"productDefinitionTemplateNumber": 2, "derivedForecast": 2}
    file = write(tmp_path / "x.grib2", [message(**plain), message(**spread)])
    (result,) = gribmill.cut(file, BOX, tmp_path, everything=True)
    (tile,) = result.tiles
    assert tile.meta.identity == {"centre": 7, "process": 104, "subcentre": 14}
    assert {name: one.identity for name, one in tile.meta.variables.items()} == {
        "t2m": {},
        "t2m_sd": {"derived": "standard deviation"},
    }
    assert gribmill.open_tile(tile.path)["t2m_sd"].attrs["derived"] == "standard deviation"
