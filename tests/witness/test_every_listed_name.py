"""Real files: each name that `grib ls` lists selects its messages in `cut`, with the values and places of ecCodes."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gribmill.errors import GribmillError
from gribmill.grib.decode.field import Field, read_fields
from gribmill.grib.inventory import inventory
from gribmill.grib.names.time_range import base_name
from gribmill.regions.box import Box
from gribmill.regions.region import Region
from gribmill.tiles.build.build import build
from gribmill.tiles.build.tile_builder import BuildResult
from gribmill.tiles.format.meta import VariableMeta
from gribmill.tiles.format.tile_grid import window_latlon
from gribmill.tiles.read.tile import Tile, read_tile
from tests.real_files import real_files
from tests.witness.eccodes_fields import Doubles, EccodesField, eccodes_fields

pytestmark = pytest.mark.witness

WORLD = Region("world", Box(-180, -90, 180, 90))
# Some names and fields of each file in every run of the tests; all of them in `make soak`.
NAMES_PER_FILE, FIELDS_PER_FILE = 3, 4
# Fields of 24 and 47 million points, and files of many hours on reduced grids: in `make soak`.
LARGE = ("milton", "mrms", "O1280", "hourly744", "384msgs", "sfluxgrb", "critfireo", "PWAT-prob")
# Whole files that are damaged, or headers without the data; cut refuses them (tests/grib/test_adversarial.py).
DAMAGED = (
    "ALLOCATION-BOMB", "empty-0bytes", "corrupted", "TRUNCATED", "HEAD-2000B", "not-a-grib-edition", "BEGIN-234B",
    "rap-native.gdt32768",
)  # fmt: skip
FILES = [
    path
    for folder in ("noaa", "ecmwf", "other", "adversarial")
    for path in real_files(f"{folder}/*.*")
    if not any(part in path.name for part in DAMAGED)
]
SMALL = [path for path in FILES if not any(part in path.name for part in LARGE)]
# Headers give coordinates in thousandths of a degree, which ecCodes and gribmill round differently.
NEAR_DEGREES = 2e-3

Place = tuple[int, int]
# Where each array is: by the message's number and the field's number in it.
Arrays = dict[Place, tuple[Tile, str, VariableMeta]]


@pytest.mark.skipif(not FILES, reason="the collection of real files is not beside this checkout")
def test_collection_of_real_files_is_complete() -> None:
    assert len(FILES) > 100


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.name)
def test_arrays_are_those_of_eccodes(path: Path, tmp_path: Path) -> None:
    check_arrays(path, tmp_path, spread(len(list(read_fields(path))), FIELDS_PER_FILE))


@pytest.mark.soak
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_all_arrays_are_those_of_eccodes(path: Path, tmp_path: Path) -> None:
    check_arrays(path, tmp_path, range(len(list(read_fields(path)))))


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.name)
def test_listed_names_select_their_messages(path: Path, tmp_path: Path) -> None:
    names = [*listed(path)]
    check_names(path, [names[place] for place in spread(len(names), NAMES_PER_FILE)], tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_all_listed_names_select_their_messages(path: Path, tmp_path: Path) -> None:
    check_names(path, listed(path).keys(), tmp_path)


def spread(count: int, most: int) -> list[int]:
    """A sample of the positions, including the first and the last."""
    return sorted({round(place) for place in np.linspace(0, count - 1, min(count, most))})


def check_arrays(path: Path, folder: Path, wanted: Collection[int]) -> None:
    """These fields of the file, cut whole, have the values that ecCodes decodes, where ecCodes has them."""
    stored = arrays(build(path, [WORLD], folder, everything=True))
    found = list(read_fields(path))
    expected = {(item.number, item.sub) for item in (found[place] for place in wanted)} & stored.keys()
    for place, theirs in eccodes_fields(path, wanted if expected else ()):
        item = found[place]
        if (item.number, item.sub) in expected:
            tile, name, meta = stored[item.number, item.sub]
            compare(item, tile.read(name), meta, coordinates(tile), theirs)
            expected.remove((item.number, item.sub))
    assert not expected


def check_names(path: Path, chosen_names: Collection[str], folder: Path) -> None:
    """Each name gives the listed messages and no others, unless there is a reason that is stated."""
    names = listed(path)
    whole = arrays(build(path, [WORLD], folder / "all", everything=True))
    for number, name in enumerate(chosen_names):
        places = names[name]
        try:
            result = build(path, [WORLD], folder / str(number), variables=[name])
        except GribmillError as error:
            raise AssertionError(f"{name} of {path.name}: {error}") from error
        chosen = arrays(result)
        # In the first hours of a run the sum since its start is the bucket too.
        totals = names.get(base_name(name), set()) & whole.keys()
        sums = {place for place in totals if whole[place][2].step_minutes[0] == 0}
        assert {*chosen} <= places | sums, name
        skipped = {(note.message, note.field): note.reason for note in result.skipped}
        assert places - {*chosen} <= {*skipped}, name
        for place, (tile, array, _) in chosen.items():
            assert array == name
            expected = whole[place]
            assert np.array_equal(tile.read(array), expected[0].read(expected[1]), equal_nan=True), name


def listed(path: Path) -> dict[str, set[Place]]:
    """The messages of each listed name."""
    found: dict[str, set[Place]] = {}
    for entry in inventory(path):
        message, _, part = entry.number.partition(".")
        assert entry.name is not None, entry.reason
        found.setdefault(entry.name, set()).add((int(message), int(part or 1)))
    return found


def arrays(result: BuildResult) -> Arrays:
    tiles = [read_tile(built.path) for built in result.tiles]
    return {
        (meta.message, meta.field): (tile, name, meta) for tile in tiles for name, meta in tile.meta.variables.items()
    }


def coordinates(tile: Tile) -> tuple[Doubles, Doubles]:
    """Latitude and longitude of each point of a tile."""
    if tile.meta.grid.kind == "regular":
        lat, lon = np.broadcast_arrays(tile.y[:, None], tile.x[None, :])
        return lat, lon
    return window_latlon(tile.meta.grid, str(tile.path))


def compare(
    item: Field, ours: NDArray[Any], meta: VariableMeta, at: tuple[Doubles, Doubles], theirs: EccodesField
) -> None:
    if theirs.reduced:
        compare_reduced(ours, at, theirs)
        return
    values = theirs.values
    if theirs.lat is not None and theirs.lon is not None:
        # Global grids start at another meridian in tiles.
        turn = int(np.argmin(np.abs(apart(theirs.lon[0], at[1][0, 0])))) if np.ptp(theirs.lat[0]) == 0 else 0
        values, lat, lon = (np.roll(array, -turn, axis=1) for array in (values, theirs.lat, theirs.lon))
        assert np.abs(lat - at[0]).max() < NEAR_DEGREES
        assert np.abs(apart(lon, at[1]) * np.cos(np.radians(lat))).max() < NEAR_DEGREES
    if meta.winds == "earth" and item.grid_relative_winds:
        return  # rotated; tests/grib/decode/test_winds.py
    with np.errstate(over="ignore"):
        expected = values.astype(np.float32)
    differs = ~((expected == ours) | (np.isnan(expected) & np.isnan(ours)))
    assert int(differs.sum()) == meta.filled
    assert np.all(np.isnan(ours[differs]))
    assert np.all(is_fill(expected[differs], meta))


def is_fill(values: NDArray[Any], meta: VariableMeta) -> NDArray[np.bool_]:
    step = (meta.packing.step or 0) / 2
    near = [np.abs(values - fill) <= max(step, abs(fill) * 1e-6) for fill in meta.fill_values]
    low = [values < meta.valid_min] if meta.valid_min is not None else []
    return np.asarray(np.any([*near, *low, np.zeros(values.shape, np.bool_)], axis=0))


def compare_reduced(ours: NDArray[Any], at: tuple[Doubles, Doubles], theirs: EccodesField) -> None:
    """Each point has the value of the nearest point of its row, at most half a step of that row away."""
    assert theirs.lat is not None and theirs.lon is not None
    begins = np.flatnonzero(np.diff(theirs.lat, prepend=np.nan))
    rows = [slice(begin, end) for begin, end in zip(begins, [*begins[1:], theirs.lat.size], strict=True)]
    rows.sort(key=lambda row: theirs.lat[row.start])  # type: ignore[index]
    assert len(rows) == ours.shape[0]
    for number, row in enumerate(rows):
        assert abs(theirs.lat[row.start] - at[0][number, 0]) < NEAR_DEGREES
        count = row.stop - row.start
        wanted = at[1][number]
        places = ((wanted - theirs.lon[row.start]) / (360 / count)) % count
        below, above = (np.floor(places + shift + 0.5).astype(int) % count for shift in (-1e-6, 1e-6))
        values = theirs.values[row].astype(np.float32)
        same = [
            (values[one] == ours[number]) | (np.isnan(values[one]) & np.isnan(ours[number])) for one in (below, above)
        ]
        assert np.all(same[0] | same[1])
        assert np.abs(apart(theirs.lon[row][above], wanted)).max() <= 180 / count + NEAR_DEGREES


def apart(one: Any, other: Any) -> Any:
    """Degrees from one longitude to another, within ±180."""
    return (one - other + 180.0) % 360.0 - 180.0
