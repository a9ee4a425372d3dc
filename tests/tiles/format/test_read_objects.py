"""Tiles are read from an object store like from disk: only the needed parts, in few requests."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import gribmill
from gribmill.regions.box import Box
from gribmill.regions.region import Region
from gribmill.storage.latest import KnownRuns, LatestRuns, publish_latest
from gribmill.storage.layout import DataRoot
from gribmill.storage.object_client import ObjectClient
from gribmill.storage.object_path import ObjectPath
from gribmill.tiles.errors import TileError
from gribmill.tiles.read.tile import _kept, read_tile
from tests.tiles.make_tile import HRRR, Fields, make_tile

pytestmark = pytest.mark.process
LAT, LON = 42.36, -71.06
RUN = "20230722_06"
WIDE = Region("wide", Box(-80.0, 36.0, -68.0, 46.0))
NAMES = ("t2m", "d2m", "sp", "gust", "vis", "cape", "refc", "hpbl", "pwat", "cin", "rh2m", "mslp")
HOURS = 5


@pytest.fixture(scope="module")
def local_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of large tiles with twelve variables of noise."""
    root = tmp_path_factory.mktemp("tiles")
    random = np.random.default_rng(1)
    for hour in range(1, HOURS + 1):
        fields: Fields = {name: (random.normal(280, 5, HRRR.shape).astype(np.float32).round(1), {}) for name in NAMES}
        make_tile(root, fields, region=WIDE, run=RUN, minutes=60 * hour)
    return root


@pytest.fixture
def url(local_root: Path, prefix: ObjectPath, monkeypatch: pytest.MonkeyPatch) -> str:
    """The same tiles in the store, with latest.json."""
    for path in sorted((local_root / "tiles").rglob("*.npz")):
        place = prefix / path.relative_to(local_root / "tiles").as_posix()
        place.write([path.read_bytes()])
    known = KnownRuns({"wide": LatestRuns(RUN, RUN)}, hours={RUN: HOURS})
    publish_latest(DataRoot(local_root, prefix), "hrrr", lambda: known)
    monkeypatch.setenv("GRIBMILL_STORE_ENDPOINT", prefix.bucket.options.endpoint)
    return str(prefix)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """Counts requests by kind, and the bytes received."""
    _kept.cache_clear()
    counts: Counter[str] = Counter()
    real_range, real_tail = ObjectClient.read_range, ObjectClient.read_tail

    def read_range(self: ObjectClient, key: str, begin: int, end: int, etag: str | None) -> memoryview:
        counts["requests"] += 1
        counts["bytes"] += end - begin
        return real_range(self, key, begin, end, etag)

    def read_tail(self: ObjectClient, key: str, size: int) -> object:
        counts["requests"] += 1
        counts["bytes"] += size
        return real_tail(self, key, size)

    for name in ("head", "read", "children", "below"):
        monkeypatch.setattr(ObjectClient, name, _counted(getattr(ObjectClient, name), counts))
    monkeypatch.setattr(ObjectClient, "read_range", read_range)
    monkeypatch.setattr(ObjectClient, "read_tail", read_tail)
    yield counts


def _counted(work: object, counts: Counter[str]) -> object:
    def counted(*args: object) -> object:
        counts["requests"] += 1
        return work(*args)  # type: ignore[operator]

    return counted


def test_point_over_a_run_takes_two_requests_per_tile(url: str, local_root: Path, asked: Counter[str]) -> None:
    there = gribmill.point(LAT, LON, data=url)
    requests = asked["requests"]
    assert requests <= 2 * HOURS + 5, "latest.json, listings, and two for each tile"
    assert str(there.columns) == str(gribmill.point(LAT, LON, data=local_root).columns)
    gribmill.point(LAT + 1, LON - 1, data=url)
    assert asked["requests"] - requests <= HOURS + 5, "tiles that are known are not opened again"


def test_many_places_are_read_like_one(url: str, local_root: Path, asked: Counter[str]) -> None:
    places = [(37 + number * 0.1, -79 + number * 0.1) for number in range(40)]
    there = gribmill.points(places, data=url)
    assert asked["requests"] <= 2 * HOURS + 8
    here = gribmill.points(places, data=local_root)
    assert [str(one.columns) for one in there] == [str(one.columns) for one in here]


def test_row_of_a_variable_does_not_read_the_tile(url: str, local_root: Path, asked: Counter[str]) -> None:
    name = f"hrrr/{RUN}/wide/001.npz"
    size = (local_root / "tiles" / name).stat().st_size
    there = gribmill.open_tile(f"{url}/{name}")
    row = there["t2m"][100].values
    assert asked["bytes"] < size / 3
    assert asked["requests"] <= 4
    np.testing.assert_array_equal(row, gribmill.open_tile(local_root / "tiles" / name)["t2m"][100].values)


def test_datasets_are_the_same(url: str, local_root: Path) -> None:
    name = f"hrrr/{RUN}/wide/001.npz"
    there = xr.open_dataset(f"{url}/{name}", engine="gribmill")
    assert there.identical(xr.open_dataset(local_root / "tiles" / name, engine="gribmill"))
    assert xr.open_dataset(f"{url}/{name}").identical(there), "the engine is found by the name"
    run, here = gribmill.open_run("hrrr", data=url), gribmill.open_run("hrrr", data=local_root)
    assert run.load().identical(here.load().assign_attrs(run.attrs))
    assert run.attrs["run_choice"] == "the newest complete run"
    runs = gribmill.open_runs("hrrr", data=url)
    assert runs["t2m"].load().identical(gribmill.open_runs("hrrr", data=local_root)["t2m"].load())


def test_tile_can_be_sent_to_another_process(url: str, local_root: Path) -> None:
    name = f"hrrr/{RUN}/wide/002.npz"
    tile = pickle.loads(pickle.dumps(read_tile(f"{url}/{name}")))
    np.testing.assert_array_equal(tile.read("t2m"), read_tile(local_root / "tiles" / name).read("t2m"))


def test_replaced_tile_has_to_be_opened_again(url: str, local_root: Path, prefix: ObjectPath) -> None:
    one, other = (f"hrrr/{RUN}/wide/00{hour}.npz" for hour in (1, 2))
    tile = read_tile(f"{url}/{one}")
    (prefix / one).write([(local_root / "tiles" / other).read_bytes()])
    with pytest.raises(TileError, match="was replaced while it was open; open it again"):
        tile.read("t2m")


def test_missing_and_damaged_tiles_are_errors_of_the_tile(url: str, prefix: ObjectPath) -> None:
    with pytest.raises(TileError, match="there is no such object"):
        read_tile(f"{url}/hrrr/{RUN}/wide/099.npz")
    for number, content in enumerate((b"", b"PK", b"x" * 100_000)):
        (prefix / f"{number}.npz").write([content])
        with pytest.raises(TileError):
            read_tile(f"{url}/{number}.npz")
