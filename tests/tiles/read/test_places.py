"""Forecasts of many places at once, from Python and from a CSV file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gribmill
from gribmill.tiles.errors import TileError
from gribmill.tiles.read import tile as tile_module
from gribmill.tiles.read.point import place as place_module
from gribmill.tiles.read.point import sample
from gribmill.tiles.read.point.place import Place, place_at, read_places
from gribmill.tiles.read.tile import Tile
from tests.tiles.make_tile import GFS, HRRR, make_tile
from tests.tiles.read.test_point import LAT, LON, NEW_ENGLAND


@pytest.fixture
def root(tmp_path: Path) -> Path:
    j, i = np.mgrid[: HRRR.ny, : HRRR.nx].astype("f4")
    for hour in (1, 2, 3):
        make_tile(tmp_path, {"t2m": (j + i / 10 + hour, {})}, minutes=hour * 60)
        make_tile(tmp_path, {"t2m": (7.0, {})}, grid=GFS, region=NEW_ENGLAND, model="gfs", minutes=hour * 60)
    return tmp_path


def scattered(count: int) -> list[tuple[str, float, float]]:
    random = np.random.default_rng(1)
    return [
        (f"p{number}", float(random.uniform(41.9, 42.9)), float(random.uniform(-71.9, -70.5)))
        for number in range(count)
    ]


@pytest.mark.parametrize("count", [3, sample.MANY_PLACES + 5])
@pytest.mark.parametrize("method", ["nearest", "bilinear"])
def test_many_places_have_the_same_numbers_as_one_at_a_time(root: Path, count: int, method: str) -> None:
    places = scattered(count)
    together = gribmill.points(places, data=root, method=method)  # type: ignore[arg-type]
    assert [series.name for series in together] == [name for name, _, _ in places]
    for (_, lat, lon), series in zip(places, together, strict=True):
        alone = gribmill.point(lat, lon, data=root, method=method)  # type: ignore[arg-type]
        assert series.columns == alone.columns
        assert (series.point_lat, series.point_lon) == (alone.point_lat, alone.point_lon)


def test_each_tile_is_opened_once_for_all_places(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    real = tile_module.read_tile
    tile_module._kept.cache_clear()

    def counting(path: Path, like: Tile | None = None, ahead: None = None) -> Tile:
        opened.append(str(path))
        return real(path, like, ahead)

    monkeypatch.setattr(tile_module, "read_tile", counting)
    gribmill.points(scattered(50), data=root, model="hrrr")
    assert len(opened) <= 4, opened  # one more: the first, to see whether it contains the places
    assert {path[-7:] for path in opened} == {"001.npz", "002.npz", "003.npz"}


def test_each_place_is_read_from_the_finest_grid_that_contains_it(root: Path) -> None:
    near, far = gribmill.points([("Boston", LAT, LON), ("Burlington", 44.5, -73.2)], data=root)
    assert (near.model, far.model) == ("hrrr", "gfs")


def test_places_form_one_data_frame(root: Path) -> None:
    frame = gribmill.points([("Boston", LAT, LON), (42.0, -71.0)], data=root).to_dataframe()
    assert frame.index.names == ["place", "time"]
    assert list(frame.index.get_level_values("place").unique()) == ["Boston", "42,-71"]
    assert frame.attrs["units"] == {"t2m": "°C"}
    assert len(frame) == 6


def test_a_place_without_tiles_is_named(root: Path) -> None:
    with pytest.raises(TileError, match=r"no forecast|has a forecast for Nowhere \(0, 0\): none of the regions"):
        gribmill.points([("Boston", LAT, LON), ("Nowhere", 0.0, 0.0)], data=root)
    with pytest.raises(TileError, match="place 2: 95 is not a latitude"):
        gribmill.points([(LAT, LON), (95.0, 0.0)], data=root)
    with pytest.raises(TileError, match="place 1 is not"):
        gribmill.points(["Boston"], data=root)  # type: ignore[list-item]
    with pytest.raises(TileError, match="place 1 is not"):
        gribmill.points([("Boston", 42.36, -71.06, 10.0)], data=root)  # type: ignore[list-item]


@pytest.mark.parametrize(
    "text",
    [
        "Boston,42.36,-71.06\n",
        "name,lat,lon\nBoston,42.36,-71.06\n",
        '\ufeffname,lat,lon\r\n"Boston", 42.36 , -71.06\r\n\r\n',
        "# stations\nLatitude,Longitude,Name,height\n42.36,-71.06,Boston,5\n",
    ],
)
def test_a_csv_file_of_places_with_or_without_a_header(tmp_path: Path, text: str) -> None:
    path = tmp_path / "places.csv"
    path.write_text(text, encoding="utf-8", newline="")
    assert read_places(path) == [Place("Boston", 42.36, -71.06)]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"Boston,42.36,-71.06\nSalem,42.5\n", r"line 2: 'Salem,42.5' is not NAME,LAT,LON"),
        (b"Boston,42.36,-71.06\n\nSalem,north,-70.9\n", r"line 3: 'north' is not a latitude"),
        (b"name,lat,lon\nSalem,92.5,-70.9\n", r"line 2: 92.5 is not a latitude"),
        (b"Salem,42.5,nan\n", r"line 1: nan is not a longitude"),
        (b"Sal\xff,42.5,-70.9\n", r"line 1: this is not UTF-8"),
        (b"Sal\x1bem,42.5,-70.9\n", r"line 1: a name has up to 200 printable"),
        (b'Boston,42.36,-71.06\n"Salem,42.5,-70.9', r"line 2: "),
        (b"name,lat,lon\n", r"has no places"),
        (b"", r"has no places"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, data: bytes, sentence: str) -> None:
    path = tmp_path / "places.csv"
    path.write_bytes(data)
    with pytest.raises(TileError, match=sentence):
        read_places(path)


def test_files_that_are_too_large_or_missing_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "places.csv"
    with pytest.raises(TileError, match="cannot be read: No such file"):
        read_places(path)
    path.write_text("a,1,2\n" * 5)
    monkeypatch.setattr(place_module, "LIMIT_PLACES", 4)
    with pytest.raises(TileError, match="line 5: more than 4 places"):
        read_places(path)
    monkeypatch.setattr(place_module, "LIMIT_BYTES", 20)
    with pytest.raises(TileError, match="too large"):
        read_places(path)


@pytest.mark.parametrize(("given", "kept"), [(2.35, 2.35), (-71.06, -71.06), (180.0, -180.0), (288.5, -71.5)])
def test_a_longitude_in_range_keeps_every_digit(given: float, kept: float) -> None:
    assert place_at(48.85, given).lon == kept
