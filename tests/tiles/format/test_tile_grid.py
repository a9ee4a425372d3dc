"""grid.npz is computed and stored once per grid and region, for all hours and runs."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from gribmill.arrays import Floats
from gribmill.regions.box import Box
from gribmill.regions.region import Region
from gribmill.tiles.build.build import build
from gribmill.tiles.format import tile_grid
from gribmill.tiles.format.meta import GridRecord
from gribmill.tiles.format.tile_grid import window_latlon
from gribmill.tiles.read.tile import read_tile
from tests.local_path import local
from tests.make_grib import make_message, write

POTOMAC = Region("potomac", Box(-79, 38, -76, 40))


def hour(folder: Path, run: str, step: int) -> Path:
    path = folder / f"{run}-{step}.grib2"
    write(
        path, [make_message("hrrr-ne", "2t", reference=datetime.strptime(run, "%Y%m%d").replace(tzinfo=UTC), step=step)]
    )
    return path


def folder_of(data: Path, run: str) -> Path:
    return data / "tiles" / "hrrr" / f"{run}_00" / "potomac"


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Counts how often the points are computed."""
    calls: list[str] = []

    def counting(record: GridRecord, where: str) -> tuple[Floats, Floats]:
        calls.append("points")
        return window_latlon(record, where)

    monkeypatch.setattr(tile_grid, "window_latlon", counting)
    return calls


def test_further_hours_and_runs_reuse_the_grid_file(tmp_path: Path, counted: list[str]) -> None:
    for run, step in (("20260901", 1), ("20260901", 2), ("20260902", 1)):
        build(hour(tmp_path, run, step), [POTOMAC], tmp_path / "data", model="hrrr")
    assert counted == ["points"]
    one, two = (folder_of(tmp_path / "data", run) / "grid.npz" for run in ("20260901", "20260902"))
    assert one.samefile(two)


def test_a_grid_file_outlives_the_run_it_came_from(tmp_path: Path) -> None:
    for run in ("20260901", "20260902"):
        outcome = build(hour(tmp_path, run, 1), [POTOMAC], tmp_path / "data", model="hrrr")
    (folder_of(tmp_path / "data", "20260901") / "grid.npz").unlink()
    with np.load(local(outcome.tiles[0].path).parent / "grid.npz") as grid:
        lat, _ = read_tile(outcome.tiles[0].path).latlon()
        assert np.array_equal(grid["lat"], lat)


def test_a_damaged_grid_file_of_another_run_is_not_taken_over(tmp_path: Path, counted: list[str]) -> None:
    build(hour(tmp_path, "20260901", 1), [POTOMAC], tmp_path / "data", model="hrrr")
    (folder_of(tmp_path / "data", "20260901") / "grid.npz").write_bytes(b"not a grid")
    build(hour(tmp_path, "20260902", 1), [POTOMAC], tmp_path / "data", model="hrrr")
    assert counted == ["points", "points"]
    with np.load(folder_of(tmp_path / "data", "20260902") / "grid.npz") as grid:
        assert grid["lat"].ndim == 2


def test_another_box_under_the_same_name_gets_its_own_points(tmp_path: Path, counted: list[str]) -> None:
    build(hour(tmp_path, "20260901", 1), [POTOMAC], tmp_path / "data", model="hrrr")
    wider = Region("potomac", Box(-80, 38, -76, 40))
    build(hour(tmp_path, "20260902", 1), [wider], tmp_path / "data", model="hrrr")
    assert counted == ["points", "points"]


def test_without_hard_links_each_run_has_its_own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("no hard links here")

    monkeypatch.setattr(os, "link", refuse)
    for run in ("20260901", "20260902"):
        build(hour(tmp_path, run, 1), [POTOMAC], tmp_path / "data", model="hrrr")
    one, two = (folder_of(tmp_path / "data", run) / "grid.npz" for run in ("20260901", "20260902"))
    assert not one.samefile(two)
    assert one.read_bytes() == two.read_bytes()
    assert [path.name for path in sorted(two.parent.iterdir())] == [".write.lock", "001.npz", "grid.npz"]


def test_a_tile_costs_one_fsync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(hour(tmp_path, "20260901", 1), [POTOMAC], tmp_path / "data", model="hrrr")
    synced: list[int] = []
    fsync = os.fsync

    def counting(fd: int) -> None:
        synced.append(fd)
        fsync(fd)

    monkeypatch.setattr(os, "fsync", counting)
    build(hour(tmp_path, "20260901", 2), [POTOMAC], tmp_path / "data", model="hrrr")
    assert len(synced) == 1
