"""Places on the Earth: given by users or in CSV files, and their location in a tile."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np

from gribmill.arrays import Floats, Indices, Values
from gribmill.regions.box import wrap_longitude
from gribmill.regions.tile_options import LEAST_WEIGHT
from gribmill.tiles.errors import TileError
from gribmill.tiles.read.tile import Tile

Sampling = Literal["nearest", "bilinear"]
EARTH_KM = 6371.0
# Two neighbouring rows or columns, each with its weight.
Neighbours = tuple[tuple[int, float], tuple[int, float]]
LIMIT_BYTES = 5_000_000
LIMIT_PLACES = 20_000
LIMIT_NAME = 200
LATITUDES, LONGITUDES = {"lat", "latitude"}, {"lon", "lng", "long", "longitude"}


@dataclass(frozen=True, slots=True)
class Place:
    """A place on the Earth, in degrees."""

    name: str
    lat: float
    lon: float

    def __str__(self) -> str:
        where = f"{self.lat:g}, {self.lon:g}"
        return f"{self.name} ({where})" if self.name else where


def place_at(lat: float, lon: float) -> Place:
    """An unnamed place. Raises TileError if the coordinates are invalid."""
    return Place("", *check_latlon(lat, lon))


def places_of(given: Iterable[Place | tuple[str, float, float] | tuple[float, float]]) -> list[Place]:
    """Places from (name, lat, lon) or (lat, lon), each checked."""
    found = []
    for number, one in enumerate(given, 1):
        try:
            several = (one.name, one.lat, one.lon) if isinstance(one, Place) else one
            name, lat, lon = several if len(several) == 3 else ("", *several)
            found.append(Place(str(name), *check_latlon(float(lat), float(lon))))
        except (TypeError, ValueError):
            raise TileError(f"place {number} is not (lat, lon) or (name, lat, lon): {str(one)[:80]!r}") from None
        except TileError as error:
            raise TileError(f"place {number}: {error}") from None
    if len(found) > LIMIT_PLACES:
        raise TileError(f"{len(found)} places are more than {LIMIT_PLACES}")
    return found


def check_latlon(lat: float, lon: float) -> tuple[float, float]:
    """The latitude, and the longitude within ±180°. Raises TileError if either is out of range."""
    if not (math.isfinite(lat) and -90 <= lat <= 90):
        raise TileError(f"{lat:g} is not a latitude: it must be between -90 and 90")
    if not (math.isfinite(lon) and -360 <= lon <= 360):
        raise TileError(f"{lon:g} is not a longitude: it must be between -180 and 180 (or 0 and 360)")
    return float(lat), float(wrap_longitude(float(lon)))


@dataclass(frozen=True, slots=True)
class TileLocation:
    """A position in a tile: the nearest point, and the four points around it."""

    row: float
    column: float
    shape: tuple[int, int]
    lat: float
    lon: float
    distance_km: float
    ring: bool = False  # the first column follows the last

    def span(self, method: Sampling) -> tuple[int, int]:
        """The range of points that a method needs, in row order: the first, and the one after the last."""
        if method == "nearest":
            return self.nearest, self.nearest + 1
        rows, columns = self._around()
        # Across the seam these are the first and the last column: whole rows.
        left, right = sorted(column for column, _ in columns)
        return rows[0][0] * self.shape[1] + left, rows[1][0] * self.shape[1] + right + 1

    @property
    def nearest(self) -> int:
        """The nearest point, in row order."""
        row, column = _clip(round(self.row), self.shape[0]), _clip(round(self.column), self.shape[1])
        return row * self.shape[1] + column

    def bilinear(self, points: Values, begin: int) -> float:
        """The value interpolated between the four surrounding points; `points` are the field's from `begin` on.

        Points without a value have no weight.
        """
        rows, columns = self._around()
        total = weight = 0.0
        for row, row_weight in rows:
            for column, column_weight in columns:
                value, point_weight = float(points[row * self.shape[1] + column - begin]), row_weight * column_weight
                if point_weight > 0 and not math.isnan(value):
                    total += value * point_weight
                    weight += point_weight
        return total / weight if weight >= LEAST_WEIGHT else math.nan

    def _around(self) -> tuple[Neighbours, Neighbours]:
        """The two rows and the two columns around the position, with their weights."""
        columns = _on_ring(self.column, self.shape[1]) if self.ring else _between(self.column, self.shape[1])
        return _between(self.row, self.shape[0]), columns


@dataclass(frozen=True, slots=True, eq=False)
class TileLocations:
    """The positions of several places in a tile, all within it."""

    tile: Tile
    places: Sequence[Place]
    rows: Sequence[float]
    columns: Sequence[float]
    nearest: Sequence[int]
    """The nearest point of each place, in row order."""
    lats: Sequence[float]
    lons: Sequence[float]
    """Of the nearest points."""

    @classmethod
    def of(cls, tile: Tile, places: Sequence[Place]) -> TileLocations:
        """Raises TileError if a place is outside the tile's points."""
        if len(places) == 1:
            return _one_location(tile, places[0])
        rows, columns = tile.locate(*_axes(places))
        outside = np.isnan(rows) | np.isnan(columns)
        if outside.any():
            raise _outside(tile, places[int(outside.argmax())])
        height, width = tile.shape
        nearest_row, nearest_column = (
            np.clip(np.rint(positions), 0, length - 1).astype(np.intp)
            for positions, length in ((rows, height), (columns, width))
        )
        lats, lons = _points(tile, nearest_row, nearest_column)
        nearest = nearest_row * width + nearest_column
        return cls(tile, places, rows.tolist(), columns.tolist(), nearest.tolist(), lats.tolist(), lons.tolist())

    def __len__(self) -> int:
        return len(self.places)

    def only(self, number: int) -> TileLocations:
        """One of the places."""
        if len(self) == 1:
            return self
        each = (one[number : number + 1] for one in (self.rows, self.columns, self.nearest, self.lats, self.lons))
        return TileLocations(self.tile, self.places[number : number + 1], *each)  # type: ignore[arg-type]

    def at(self, number: int) -> TileLocation:
        """The position of one of the places."""
        place, tile = self.places[number], self.tile
        row, column, lat, lon = self.rows[number], self.columns[number], self.lats[number], self.lons[number]
        distance = _distance_km(place.lat, place.lon, lat, lon)
        return TileLocation(row, column, tile.shape, lat, lon, distance, tile.ring)


def contained(tile: Tile, places: Sequence[Place]) -> Sequence[bool]:
    """Whether each place is within the tile's points."""
    if len(places) == 1:
        return [locate_in_tile(tile, places[0].lat, places[0].lon) is not None]
    rows, columns = tile.locate(*_axes(places))
    found: list[bool] = (~(np.isnan(rows) | np.isnan(columns))).tolist()
    return found


# Cached: a forecast looks up the same place several times.
@lru_cache(maxsize=64)
def locate_in_tile(tile: Tile, lat: float, lon: float) -> TileLocation | None:
    """The position in a tile; None if it is outside the tile's points."""
    (row,), (column,) = (axis.tolist() for axis in tile.locate(np.array([lat]), np.array([lon])))
    if math.isnan(row) or math.isnan(column):
        return None
    height, width = tile.shape
    nearest = (np.array([_clip(round(row), height)]), np.array([_clip(round(column), width)]))
    point_lat, point_lon = (float(axis[0]) for axis in _points(tile, *nearest))
    distance = _distance_km(lat, lon, point_lat, point_lon)
    return TileLocation(row, column, (height, width), point_lat, point_lon, distance, tile.ring)


def _one_location(tile: Tile, place: Place) -> TileLocations:
    found = locate_in_tile(tile, place.lat, place.lon)
    if found is None:
        raise _outside(tile, place)
    return TileLocations(tile, [place], [found.row], [found.column], [found.nearest], [found.lat], [found.lon])


def _outside(tile: Tile, place: Place) -> TileError:
    return TileError(f"{tile.path} does not contain {place}")


def _axes(places: Sequence[Place]) -> tuple[Floats, Floats]:
    return np.array([place.lat for place in places], np.float64), np.array([place.lon for place in places], np.float64)


def _points(tile: Tile, rows: Indices, columns: Indices) -> tuple[Floats, Floats]:
    """Latitudes and longitudes of points of a tile."""
    if tile.regular:
        lon: Floats = wrap_longitude(tile.x[columns])
        return tile.y[rows], lon
    source_columns = np.concatenate([np.arange(*part) for part in tile.meta.grid.cols])
    return tile.grid.latlon(tile.meta.grid.rows[0] + rows, source_columns[columns])


def _clip(index: int, length: int) -> int:
    return min(max(index, 0), length - 1)


def _between(position: float, length: int) -> Neighbours:
    position = min(max(position, 0.0), length - 1.0)
    low = math.floor(position)
    return (low, 1.0 - (position - low)), (min(low + 1, length - 1), position - low)


def _on_ring(position: float, length: int) -> Neighbours:
    low = math.floor(position)
    return (low % length, 1.0 - (position - low)), ((low + 1) % length, position - low)


def _distance_km(lat1: float, lon1: float, lat2: float, lon2: float) -> float:
    phi1, phi2 = math.radians(lat1), math.radians(lat2)
    half = math.sin((phi2 - phi1) / 2) ** 2
    half += math.cos(phi1) * math.cos(phi2) * math.sin(math.radians(lon2 - lon1) / 2) ** 2
    return 2 * EARTH_KM * math.asin(min(1.0, math.sqrt(half)))


def read_places(path: Path) -> list[Place]:
    """The places of a CSV file with the columns name, lat, lon; a first line with column names is optional.

    Empty lines and lines that start with # are ignored. Errors name the line.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LIMIT_BYTES + 1)
    except OSError as error:
        raise TileError(f"{path} cannot be read: {error.strerror}") from None
    if len(data) > LIMIT_BYTES:
        raise TileError(f"{path} has more than {LIMIT_BYTES} bytes: it is too large for a list of places")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TileError(f"{path}, line {line}: this is not UTF-8 text") from None
    found = list(_rows(path, text))
    if not found:
        raise TileError(f"{path} has no places: a line is NAME,LAT,LON")
    return found


def _rows(path: Path, text: str) -> Iterator[Place]:
    reader = csv.reader(text.splitlines(), strict=True)
    order: tuple[int, int, int] | None = None
    count = 0
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise TileError(f"{path}, line {reader.line_num}: {error}") from None
        if cells is None:
            return
        cells = [cell.strip() for cell in cells]
        if not any(cells) or cells[0].startswith("#"):
            continue
        if order is None:
            order = _header(cells) or (0, 1, 2)
            if _header(cells):
                continue
        count += 1
        if count > LIMIT_PLACES:
            raise TileError(f"{path}, line {reader.line_num}: more than {LIMIT_PLACES} places")
        try:
            yield _place(cells, order)
        except TileError as error:
            raise TileError(f"{path}, line {reader.line_num}: {error}") from None


def _header(cells: list[str]) -> tuple[int, int, int] | None:
    """The columns of name, latitude and longitude, if this is a line of column names."""
    names = [cell.lower() for cell in cells]
    lat = next((number for number, name in enumerate(names) if name in LATITUDES), None)
    lon = next((number for number, name in enumerate(names) if name in LONGITUDES), None)
    if lat is None or lon is None:
        return None
    others = [number for number in range(len(names)) if number not in (lat, lon)]
    name = names.index("name") if "name" in names else next(iter(others), -1)
    return name, lat, lon


def _place(cells: list[str], order: tuple[int, int, int]) -> Place:
    if len(cells) <= max(order):
        raise TileError(f"{','.join(cells)[:60]!r} is not NAME,LAT,LON")
    name = cells[order[0]] if order[0] >= 0 else ""
    if len(name) > LIMIT_NAME or not name.isprintable():
        raise TileError(f"a name has up to {LIMIT_NAME} printable characters")
    numbers = []
    for what, column in (("latitude", order[1]), ("longitude", order[2])):
        try:
            numbers.append(float(cells[column]))
        except ValueError:
            raise TileError(f"{cells[column][:40]!r} is not a {what}: use degrees, such as 42.36") from None
    return Place(name, *check_latlon(*numbers))
