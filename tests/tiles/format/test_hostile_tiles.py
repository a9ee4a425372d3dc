"""Malicious tiles: whatever their metadata say, readers and `verify` report an error in one sentence."""

from __future__ import annotations

import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gribmill.draw.map.plane import plane_of
from gribmill.draw.of_tile import drawable_of
from gribmill.errors import GribmillError
from gribmill.tiles.check.verify import verify
from gribmill.tiles.errors import TileError
from gribmill.tiles.format.npz_reader import Archive
from gribmill.tiles.format.npz_writer import write_npz
from gribmill.tiles.read.dataset import dataset
from gribmill.tiles.read.point.point import point
from gribmill.tiles.read.tile import read_tile
from tests.tiles.make_tile import GFS, make_tile

FIELDS: Any = {"t2m": (285.15, {}), "u10": (3.0, {"units": "m s-1"}), "v10": (4.0, {"units": "m s-1"})}


@pytest.fixture(params=["projected", "regular"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "regular":
        return make_tile(tmp_path, FIELDS, grid=GFS, model="gfs")
    return make_tile(tmp_path, FIELDS)


def meta_of(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Archive(path).read("meta").tobytes())
    return found


def rewrite(path: Path, meta: dict[str, Any] | bytes | None = None, /, **arrays: np.ndarray) -> Path:
    """The tile with another `meta` or other arrays, and valid checksums."""
    archive = Archive(path)
    content = {name: archive.read(name) for name in archive.entries}
    if meta is not None:
        content["meta"] = np.array(meta if isinstance(meta, bytes) else json.dumps(meta).encode())
    write_npz(path, {**content, **arrays})
    return path


def refusals(path: Path) -> list[str]:
    """The error of every reader for this tile."""
    said = []
    try:
        tile = read_tile(path)
        for name in tile.names:
            tile.read(name)
            tile.read_part(name, (1, slice(None)))
            plane_of(drawable_of(tile, name))
        tile.latlon()
        tile.locate(42.0, -71.0)
        assert tile.ring in (True, False)
        dataset(tile).load()
    except GribmillError as error:
        said.append(str(error))
    said += [check.detail for check in verify(path) if check.good is False]
    try:
        point(42.4, -71.2, data=path.parents[4])
    except GribmillError as error:
        said.append(str(error))
    return said


def test_empty_metadata_are_refused(path: Path) -> None:
    with zipfile.ZipFile(path) as before:
        members = {name: before.read(name) for name in before.namelist()}
    header = "{'descr': '|S0', 'fortran_order': False, 'shape': (), }".ljust(117) + "\n"
    members["meta.npy"] = b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header.encode()
    with zipfile.ZipFile(path, "w") as after:
        for name, content in members.items():
            after.writestr(name, content)
    with pytest.raises(TileError, match="array meta is empty text"):
        read_tile(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cols": []}, "cols"),
        ({"cols": [[0, 1], [1, 2], [2, 3]]}, "cols"),
        ({"cols": [[5, 5]]}, "its window has"),
        ({"rows": [7, 3]}, "its window has"),
        ({"rows": [0, 2**40]}, "its window has"),
        ({"shape": [1, 1]}, "its window has"),
    ],
)
def test_window_that_differs_from_its_shape_is_refused(path: Path, change: dict[str, Any], words: str) -> None:
    meta = meta_of(path)
    with pytest.raises(TileError, match=words):
        read_tile(rewrite(path, {**meta, "grid": {**meta["grid"], **change}}))
    assert [check.good for check in verify(path)] == [False]


@pytest.mark.parametrize("name", ["lat", "lon", "x", "y", "meta", "time", "run", "step", "crs"])
def test_a_variable_cannot_take_the_name_of_a_coordinate(path: Path, name: str) -> None:
    meta = meta_of(path)
    variables = {**meta["variables"], name: meta["variables"]["t2m"]}
    arrays = {} if name in Archive(path) else {name: Archive(path).read("t2m")}
    with pytest.raises(TileError, match=f"cannot be called {name}"):
        read_tile(rewrite(path, {**meta, "variables": variables}, **arrays))


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b.grib2", "..", "a\\b", "", "a\nb", "\x1b[2J"])
def test_a_source_outside_its_folder_is_refused(path: Path, name: str) -> None:
    meta = meta_of(path)
    with pytest.raises(TileError, match="source"):
        read_tile(rewrite(path, {**meta, "source": {**meta["source"], "name": name}}))


def other_grid(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda meta: meta["grid"].__setitem__(key, value)


def shifted_rows(meta: dict[str, Any]) -> None:
    meta["grid"]["rows"] = [end + 1 for end in meta["grid"]["rows"]]


def shifted_columns(meta: dict[str, Any]) -> None:
    meta["grid"]["cols"] = [[end + 1 for end in part] for part in meta["grid"]["cols"]]


def later_variable(meta: dict[str, Any]) -> None:
    meta["variables"]["t2m"]["step_minutes"] = [60, 120]


@pytest.mark.parametrize(
    ("what", "change"),
    [
        ("coordinates", shifted_rows),
        ("coordinates", shifted_columns),
        ("coordinates", lambda meta: meta["region"].update(resolution=-1.0)),
        ("coordinates", lambda meta: meta["region"].update(box=[-999, 0, 1, 1])),
        ("coordinates", other_grid("cell_km", 1.0)),
        ("coordinates", other_grid("source_shape", [3, 3])),
        ("coordinates", other_grid("mapping", {"grid_mapping_name": "mercator"})),
        ("times", lambda meta: meta.update(minutes=180)),
        ("times", lambda meta: meta.update(hour=7)),
        ("times", lambda meta: meta.update(valid_time="1999-01-01T00:00:00Z")),
        ("times", lambda meta: meta.update(model="other")),
        ("times", lambda meta: meta.update(run="20230722_12")),
        ("times", later_variable),
    ],
)
def test_verify_refuses_metadata_that_contradict_the_tile(
    path: Path, what: str, change: Callable[[dict[str, Any]], None]
) -> None:
    assert [check.what for check in verify(path) if check.good is False] == []
    meta = meta_of(path)
    change(meta)
    faults = {check.what: check.detail for check in verify(rewrite(path, meta)) if check.good is False}
    assert what in faults and len(faults[what]) > 15


def test_the_part_of_an_hour_is_stored_under_the_hour_that_it_belongs_to(tmp_path: Path) -> None:
    made = make_tile(tmp_path, FIELDS, minutes=15)
    moved = made.rename(made.with_name("001.npz"))
    assert [check.what for check in verify(moved) if check.good is False] == []
    elsewhere = moved.rename(moved.with_name("002.npz"))
    assert [check.what for check in verify(elsewhere) if check.good is False] == ["times"]


ODD: list[Any] = [
    None, True, 0, 1, -1, 2**31, 2**63, 2**70, 0.5, -1e300, 1e308, "", "x", "../..", "\x00", "a" * 3000, "lat", [], {},
    [[]], [0, 0], [[0, 1]], [1, 0], {"a": {}}, "1e999", "NaN", "20230722_06", "20230230_06", "99991231_23",
]  # fmt: skip


def mutated(value: Any, chance: random.Random) -> Any:
    """The same JSON with one part replaced, removed, doubled or renamed."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(sorted(value))
        kind = chance.random()
        if kind < 0.7:
            return {**value, key: mutated(value[key], chance)}
        rest = {name: part for name, part in value.items() if name != key}
        return rest if kind < 0.85 else {**rest, chance.choice(["lat", "crs", "Z", "t2m", "a/b"]): value[key]}
    if isinstance(value, list) and value and chance.random() < 0.8:
        place = chance.randrange(len(value))
        kind = chance.random()
        part = [mutated(value[place], chance)] if kind < 0.7 else [] if kind < 0.85 else [value[place]] * 2
        return [*value[:place], *part, *value[place + 1 :]]
    if isinstance(value, int | float) and not isinstance(value, bool) and chance.random() < 0.6:
        return chance.choice([value + 1, value - 1, -value, value * 2, value * 1e9, value / 3, 0])
    return chance.choice(ODD)


def spoil(path: Path, chance: random.Random) -> None:
    """One random change: of the metadata, of an array, or of the bytes of the file."""
    kind = chance.random()
    if kind < 0.6:
        meta = meta_of(path)
        for _ in range(chance.choice([1, 1, 2, 4])):
            meta = mutated(meta, chance)
        rewrite(path, json.dumps(meta).encode())
    elif kind < 0.8:
        name = chance.choice(sorted(Archive(path).entries))
        array = np.atleast_1d(Archive(path).read(name))
        odd = [
            array[..., None], array.astype("S8"), array.ravel()[:0], array[::-1], np.zeros((0, 5)), np.array(b"{}"),
            np.full(array.shape, np.nan), np.zeros((2, 2, 2, 2), "f4"), array.ravel()[:1], np.asfortranarray(array),
        ]  # fmt: skip
        arrays: dict[str, np.ndarray] = {chance.choice([name, name, "extra"]): chance.choice(odd)}
        rewrite(path, None, **arrays)
    else:
        content = bytearray(path.read_bytes())
        for _ in range(chance.choice([1, 3, 20])):
            content[chance.randrange(len(content))] = chance.randrange(256)
        path.write_bytes(bytes(content[: chance.choice([len(content)] * 5 + [chance.randrange(len(content))])]))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_thousands_of_spoiled_tiles_end_in_sentences(path: Path, seed: int) -> None:
    chance = random.Random(seed)
    whole = path.read_bytes()
    spoiled = 0
    for _ in range(60):
        path.write_bytes(whole)
        spoil(path, chance)
        said = refusals(path)
        assert not [words for words in said if not 0 < len(words) < 3000]
        spoiled += bool(said)
    assert spoiled > 30, "most changes are noticed"
