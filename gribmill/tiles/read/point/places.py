"""Named places, and CSV files with places."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gribmill.tiles.errors import TileError
from gribmill.tiles.read.point.locate import check_latlon

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
            name, lat, lon = (one.name, one.lat, one.lon) if isinstance(one, Place) else ("", *one)[-3:]
            found.append(Place(str(name), *check_latlon(float(lat), float(lon))))
        except (TypeError, ValueError):
            raise TileError(f"place {number} is not (lat, lon) or (name, lat, lon): {str(one)[:80]!r}") from None
        except TileError as error:
            raise TileError(f"place {number}: {error}") from None
    if len(found) > LIMIT_PLACES:
        raise TileError(f"{len(found)} places are more than {LIMIT_PLACES}")
    return found


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
