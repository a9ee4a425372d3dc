"""verify and diff report what is wrong and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gribmill.regions.box import Box
from gribmill.regions.region import Region
from gribmill.tiles.build.build import build
from gribmill.tiles.check.diff import diff
from gribmill.tiles.check.verify import verify
from gribmill.tiles.format.npz_reader import Archive
from gribmill.tiles.format.npz_writer import write_npz
from gribmill.tiles.read.tile import read_tile
from tests.local_path import local
from tests.make_grib import make_message, write

POTOMAC = Region("potomac", Box(-79.5, 37.5, -76.5, 40.0))


@pytest.fixture(scope="module")
def grib(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = ("2t", "10u", "10v")
    messages = [make_message("hrrr-ne", name, packing="grid_simple", step=2) for name in names]
    return write(tmp_path_factory.mktemp("grib") / "hour.grib2", messages)


def cut(grib: Path, root: Path, region: Region = POTOMAC) -> Path:
    return local(build(grib, [region], root, model="hrrr").tiles[0].path)


def spoil(path: Path, **arrays: np.ndarray) -> None:
    """Replace arrays and keep the checksums valid, so that only the content is wrong."""
    archive = Archive(path)
    write_npz(path, {**{name: archive.read(name) for name in archive.entries}, **arrays})


def faults(path: Path, grib: Path | None = None) -> list[str]:
    return [check.what for check in verify(path, grib) if check.good is False]


@pytest.mark.parametrize(
    "change",
    [{}, {"encoding": "packed"}, {"resolution": 0.25, "method": "cells"}, {"resolution": 0.1, "method": "bilinear"}],
)
def test_a_good_tile_equals_its_grib_in_every_form(grib: Path, tmp_path: Path, change: dict[str, Any]) -> None:
    path = cut(grib, tmp_path, replace(POTOMAC, **change))
    checks = verify(path, grib)
    assert [check for check in checks if check.good is not True] == []
    assert any("equal to message 2" in check.detail for check in checks)


def test_without_the_grib_only_the_tile_is_checked_and_this_is_reported(grib: Path, tmp_path: Path) -> None:
    checks = verify(cut(grib, tmp_path))
    assert [check.what for check in checks if check.good is None] == ["the GRIB"]
    assert not any(check.good is False for check in checks)


def test_the_grib_in_the_spool_is_found(grib: Path, tmp_path: Path) -> None:
    path = cut(grib, tmp_path)
    write(tmp_path / "grib/hrrr/20260901_12/002.grib2", [grib.read_bytes()])
    assert all(check.good for check in verify(path, None, tmp_path))


def test_one_changed_value_is_found_even_if_the_statistics_still_fit(grib: Path, tmp_path: Path) -> None:
    path = cut(grib, tmp_path)
    t2m = read_tile(path).read("t2m")
    t2m[3, 4], t2m[5, 6] = t2m[5, 6], t2m[3, 4]
    spoil(path, t2m=t2m)
    assert faults(path) == []
    assert faults(path, grib) == ["t2m"]


def test_statistics_that_do_not_fit_are_found_without_the_grib(grib: Path, tmp_path: Path) -> None:
    path = cut(grib, tmp_path)
    spoil(path, u10=read_tile(path).read("u10") + 1)
    assert faults(path) == ["u10"]


def test_shifted_coordinates_are_found(grib: Path, tmp_path: Path) -> None:
    path = cut(grib, tmp_path)
    spoil(path, x=read_tile(path).x + 3000.0)
    assert faults(path) == ["coordinates"]


def test_another_grib_is_not_taken_for_the_source(grib: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other.grib2", [make_message("hrrr-ne", "2t", 280.0, step=2)])
    path = cut(grib, tmp_path)
    assert faults(path, other) == ["the GRIB"], "a good tile is not said to be wrong in every variable"
    last = verify(path, other)[-1]
    assert "other.grib2 is not the file that was cut" in last.detail and "keep_grib" in last.detail


def test_a_damaged_tile_is_reported_not_a_crash(grib: Path, tmp_path: Path) -> None:
    path = cut(grib, tmp_path)
    path.write_bytes(path.read_bytes()[:-9])
    assert faults(path, grib) == ["the file"]


def test_equal_tiles_do_not_differ(grib: Path, tmp_path: Path) -> None:
    one, other = cut(grib, tmp_path / "a"), cut(grib, tmp_path / "b")
    assert diff(read_tile(one), read_tile(other)) == []
    packed = cut(grib, tmp_path / "c", replace(POTOMAC, encoding="packed"))
    assert diff(read_tile(one), read_tile(packed)) == []


def test_differences_are_counted_and_measured(grib: Path, tmp_path: Path) -> None:
    one, other = cut(grib, tmp_path / "a"), cut(grib, tmp_path / "b")
    t2m = read_tile(other).read("t2m")
    t2m[0, 0] += 2
    t2m[1, 1] += 4
    t2m[2, 2] = np.nan
    spoil(other, t2m=t2m)
    (found,) = diff(read_tile(one), read_tile(other))
    assert (found.name, found.points) == ("t2m", 3)
    assert found.largest == pytest.approx(4.0, abs=1e-3)
    assert "1 of them missing" in found.why


def test_different_grids_and_variables_are_reported(grib: Path, tmp_path: Path) -> None:
    one = cut(grib, tmp_path / "a")
    small = cut(grib, tmp_path / "b", Region("potomac", Box(-79.0, 38.0, -77.0, 39.0)))
    assert "grid" in [item.name for item in diff(read_tile(one), read_tile(small))]
    fewer = build(grib, [POTOMAC], tmp_path / "c", model="hrrr", variables=["t2m"]).tiles[0].path
    names = [item.name for item in diff(read_tile(one), read_tile(fewer))]
    assert names == ["u10", "v10"]


def test_a_tile_of_another_time_differs(grib: Path, tmp_path: Path) -> None:
    one, other = cut(grib, tmp_path / "a"), cut(grib, tmp_path / "b")
    meta = json.loads(Archive(other).read("meta").tobytes())
    spoil(other, meta=np.array(json.dumps({**meta, "minutes": 180}).encode()))
    assert [item.name for item in diff(read_tile(one), read_tile(other))] == ["minutes"]
