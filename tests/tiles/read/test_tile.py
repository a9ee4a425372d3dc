"""Tiles are checked when they are opened: meta, coordinates and arrays must agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gribmill.regions.box import Box
from gribmill.regions.region import Region
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.npz_reader import Archive
from gribmill.tiles.format.npz_writer import write_npz
from gribmill.tiles.read.tile import read_tile
from tests.local_path import local
from tests.tiles.make_tile import GFS, HRRR, make_tile


def changed(path: Path, keys: dict[str, Any] | None = None, **arrays: np.ndarray | None) -> Path:
    """Rewrite a tile with some keys of its meta and some arrays replaced (None: removed)."""
    archive = Archive(path)
    content = {name: archive.read(name) for name in archive.entries}
    if keys is not None:
        content["meta"] = np.array(json.dumps({**json.loads(content["meta"].tobytes()), **keys}).encode())
    for name, array in arrays.items():
        content.pop(name, None)
        if array is not None:
            content[name] = array
    write_npz(path, content)
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return make_tile(tmp_path, {"t2m": (np.arange(HRRR.nx * HRRR.ny).reshape(HRRR.shape), {})})


def test_plain_numpy_reads_a_tile_as_the_format_promises(path: Path) -> None:
    with np.load(path, allow_pickle=False) as loaded:
        assert sorted(loaded.files) == ["meta", "t2m", "x", "y"]
        assert loaded["t2m"].dtype == np.float32
        assert loaded["meta"].shape == ()
        meta = json.loads(loaded["meta"].tobytes())
        assert loaded["t2m"].shape == (len(loaded["y"]), len(loaded["x"])) == tuple(meta["grid"]["shape"])
    assert meta["hour"] == 1
    assert meta["valid_time"] == "2023-07-22T07:00:00Z"
    assert meta["winds"] == "earth"
    with np.load(path.parent / "grid.npz", allow_pickle=False) as grid:
        assert sorted(grid.files) == ["lat", "lon", "meta", "x", "y"]
        assert grid["lat"].shape == grid["lon"].shape == tuple(meta["grid"]["shape"])


def test_every_point_is_found_again_at_its_own_latitude_and_longitude(path: Path) -> None:
    tile = read_tile(path)
    lat, lon = tile.latlon()
    rows, columns = tile.locate(lat, lon)
    np.testing.assert_allclose(rows, np.broadcast_to(np.arange(tile.shape[0])[:, None], tile.shape), atol=1e-6)
    np.testing.assert_allclose(columns, np.broadcast_to(np.arange(tile.shape[1]), tile.shape), atol=1e-6)


PARTS = [
    (),
    (3,),
    (-1, 4),
    (slice(None), 4),
    (slice(2, 9), slice(None, None, 3)),
    (slice(9, 2, -3), slice(5, 1, -1)),
    (slice(-4, None, 2), -1),
    (slice(5, 5), slice(None)),
    (slice(None, None, -1), slice(0, 0)),
]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("encoding", ["fast", "packed"])
def test_a_part_equals_the_indexed_array(tmp_path: Path, part: tuple[int | slice, ...], encoding: Any) -> None:
    region = Region("northeast", Box(-80.0, 39.0, -68.0, 46.0), encoding=encoding)
    tile = read_tile(
        make_tile(tmp_path, {"t2m": (np.arange(HRRR.nx * HRRR.ny).reshape(HRRR.shape), {})}, region=region)
    )
    np.testing.assert_array_equal(tile.read_part("t2m", part), tile.read("t2m")[part])


def test_a_part_of_nothing_or_beyond_the_rows_is_refused(path: Path) -> None:
    with pytest.raises(TileError, match="has no variable snow"):
        read_tile(path).read_part("snow", (3,))
    with pytest.raises(IndexError):
        read_tile(path).read_part("t2m", (10**6,))


def test_latitudes_are_the_same_with_and_without_the_grid_file(path: Path) -> None:
    stored = read_tile(path).latlon()
    (path.parent / "grid.npz").unlink()
    computed = read_tile(path).latlon()
    np.testing.assert_array_equal(stored, computed)


@pytest.mark.parametrize("content", [b"", b"garbage", b"PK\5\6" + bytes(18)])
def test_a_damaged_grid_file_is_not_used(path: Path, content: bytes) -> None:
    wanted = read_tile(path).latlon()
    (path.parent / "grid.npz").write_bytes(content)
    np.testing.assert_array_equal(read_tile(path).latlon(), wanted)


def test_a_grid_file_of_another_window_is_not_used(path: Path) -> None:
    wanted = read_tile(path).latlon()
    beside = path.parent / "grid.npz"
    archive = Archive(beside)
    meta = json.loads(archive.read("meta").tobytes())
    meta["grid"]["rows"] = [row + 1 for row in meta["grid"]["rows"]]
    arrays = {name: archive.read(name) for name in ("lat", "lon", "y", "x")}
    write_npz(beside, {**arrays, "lat": arrays["lat"] + 0.03, "meta": np.array(json.dumps(meta).encode())})
    np.testing.assert_array_equal(read_tile(path).latlon(), wanted)


def test_longitudes_continue_across_the_date_line(tmp_path: Path) -> None:
    fiji = Region("fiji", Box(175.0, -20.0, -175.0, -10.0))
    tile = read_tile(make_tile(tmp_path, {"t2m": (280.0, {})}, grid=GFS, region=fiji, model="gfs"))
    np.testing.assert_array_equal(tile.x, np.arange(175.0, 186.0))
    rows, columns = tile.locate(np.array([-15.0, -15.0, -15.0]), np.array([179.0, -179.0, 170.0]))
    np.testing.assert_array_equal(columns, [4.0, 6.0, np.nan])
    np.testing.assert_array_equal(rows, [5.0, 5.0, np.nan])


def test_a_global_tile_finds_places_on_both_sides_of_its_seam(tmp_path: Path) -> None:
    world = Region("world", Box(-180, -90, 180, 90))
    tile = read_tile(make_tile(tmp_path, {"t2m": (280.0, {})}, grid=GFS, region=world, model="gfs"))
    assert tile.shape == (181, 360)
    _, columns = tile.locate(np.zeros(4), np.array([0.0, -0.3, 179.9, -179.9]))
    assert not np.isnan(columns).any()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"format": 2}, "newer"),
        ({"format": "x"}, "format"),
        ({"run": "20230199_00"}, "valid time|not a run"),
        ({"run": "../../etc"}, "run"),
        ({"model": "../x"}, "model"),
        ({"minutes": -5}, "minutes"),
        ({"minutes": 10**12}, "minutes"),
        ({"variables": {}}, "disagree about t2m"),
        ({"variables": {"../evil": {}}}, "variables"),
        ({"grid": {}}, "grid"),
        ({"source": None}, "source"),
    ],
)
def test_an_invalid_meta_is_refused(path: Path, change: dict[str, Any], reason: str) -> None:
    with pytest.raises(TileError, match=reason) as caught:
        read_tile(changed(path, change))
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("meta", [b"", b"{", b"[1]", b"null", b"\xff\xfe", b'{"format": NaN}', b"[" * 100_000])
def test_a_meta_that_is_not_a_json_object_is_refused(path: Path, meta: bytes) -> None:
    with pytest.raises(TileError, match="meta"):
        read_tile(changed(path, meta=np.array(meta)))


def test_an_npz_file_without_meta_is_not_a_tile(tmp_path: Path) -> None:
    write_npz(tmp_path / "a.npz", {"t2m": np.zeros((3, 4), "f4")})
    with pytest.raises(TileError, match="not a tile"):
        read_tile(tmp_path / "a.npz")


def test_arrays_that_do_not_fit_the_grid_are_refused(path: Path) -> None:
    shape = read_tile(path).shape
    for wrong in (np.zeros((3, 4), "f4"), np.zeros(shape, "f8"), np.zeros(shape, "i4"), np.zeros((*shape, 1), "f4")):
        with pytest.raises(TileError, match="t2m is"):
            read_tile(changed(path, t2m=wrong)).read("t2m")


@pytest.mark.parametrize("kind", ["falling", "nan", "short", "float32", "absent"])
def test_invalid_coordinates_are_refused(path: Path, kind: str) -> None:
    y = read_tile(path).y
    wrong = {
        "falling": y[::-1].copy(),
        "nan": np.where(y == y[3], np.nan, y),
        "short": y[1:],
        "float32": y.astype("f4"),
        "absent": None,
    }
    with pytest.raises(TileError, match=r"\by\b"):
        read_tile(changed(path, y=wrong[kind]))


def test_an_invalid_grid_is_refused_when_it_is_needed(path: Path) -> None:
    (path.parent / "grid.npz").unlink()
    meta = json.loads(Archive(path).read("meta").tobytes())
    for spoiled in (
        {"kind": "os.system"},
        {**meta["grid"]["definition"], "nx": 10**9},
        {**meta["grid"]["definition"], "dx": "a"},
    ):
        tile = read_tile(changed(path, {"grid": {**meta["grid"], "definition": spoiled}}))
        with pytest.raises(TileError, match="grid"):
            tile.latlon()


def test_a_window_too_large_for_its_shape_is_refused_before_it_is_laid_out(path: Path) -> None:
    (path.parent / "grid.npz").unlink()
    meta = json.loads(Archive(path).read("meta").tobytes())
    with pytest.raises(TileError, match="window"):
        read_tile(changed(path, {"grid": {**meta["grid"], "rows": [0, 2**40]}}))


def test_an_unknown_variable_is_named_together_with_what_there_is(path: Path) -> None:
    with pytest.raises(TileError, match="no variable u10; it has t2m"):
        read_tile(path).read("u10")


def test_the_grid_file_follows_a_region_that_was_redrawn(tmp_path: Path) -> None:
    make_tile(tmp_path, {"t2m": (280.0, {})})
    redrawn = Region("boston", Box(-72.5, 41.5, -70.0, 43.2))
    tile = read_tile(make_tile(tmp_path, {"t2m": (280.0, {})}, region=redrawn))
    with np.load(local(tile.path).parent / "grid.npz") as grid:
        assert grid["lat"].shape == tile.shape


def test_one_odd_hour_does_not_take_the_grid_file_from_the_others(tmp_path: Path) -> None:
    tile = read_tile(make_tile(tmp_path, {"t2m": (280.0, {})}))
    make_tile(tmp_path, {"t2m": (280.0, {})}, region=Region("boston", Box(-72.5, 41.5, -70.0, 43.2)), minutes=120)
    with np.load(local(tile.path).parent / "grid.npz") as grid:
        assert grid["lat"].shape == tile.shape
