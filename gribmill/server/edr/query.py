"""The parameters of EDR queries: coordinates, boxes, times, names. Invalid ones raise a problem 400."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import NamedTuple

import numpy as np

from gribmill.arrays import Floats, Marks
from gribmill.errors import quoted
from gribmill.server.problems import HttpProblem

LIMIT_COORDS = 20_000
MOST_VERTICES = 1000
CRS84 = "CRS84"
CRS_NAMES = {"crs84", "http://www.opengis.net/def/crs/ogc/1.3/crs84", "ogc:crs84", "epsg:4326", "4326"}
FORMATS = {"coveragejson", "json", "application/prs.coverage+json", "application/json"}
# As programs write them, with all digits of a float, or with an exponent.
_NUMBER = r"[-+]?[0-9]{1,4}(?:\.[0-9]{0,40})?(?:[eE][-+]?[0-9]{1,2})?"
_POINT = re.compile(rf"\s*POINT\s*\(\s*({_NUMBER})\s+({_NUMBER})\s*\)\s*", re.IGNORECASE)
_POLYGON = re.compile(r"\s*POLYGON\s*\(\s*(\([^()]*\)(?:\s*,\s*\([^()]*\))*)\s*\)\s*", re.IGNORECASE)


class QueryBox(NamedTuple):
    """In degrees. West is greater than east for a box across the date line. It may be a single point."""

    west: float
    south: float
    east: float
    north: float

    @property
    def width(self) -> float:
        width = self.east - self.west
        return 360.0 if width >= 360.0 else width % 360.0

    def overlaps(self, other: QueryBox) -> bool:
        """Whether they have a point in common."""
        if self.south > other.north or other.south > self.north:
            return False
        return (other.west - self.west) % 360.0 <= self.width or (self.west - other.west) % 360.0 <= other.width


@dataclass(frozen=True, slots=True)
class Polygon:
    """Rings of (lon, lat): the outer one, then holes."""

    rings: tuple[Floats, ...]

    @property
    def bounds(self) -> QueryBox:
        west, south = self.rings[0].min(axis=0)
        east, north = self.rings[0].max(axis=0)
        return QueryBox(float(west), float(south), float(east), float(north))

    def contains(self, lon: Floats, lat: Floats) -> Marks:
        """Which points of the grid with these axes are inside, by the even-odd rule."""
        inside = np.zeros((len(lat), len(lon)), np.bool_)
        for ring in self.rings:
            for (x1, y1), (x2, y2) in zip(ring, np.roll(ring, -1, axis=0), strict=True):
                rows = np.flatnonzero((lat >= min(y1, y2)) & (lat < max(y1, y2)))
                inside[rows] ^= lon < (x1 + (lat[rows] - y1) / (y2 - y1) * (x2 - x1))[:, None]
        return inside


@dataclass(frozen=True, slots=True)
class QueryTimes:
    """Start and end, both inclusive; None if open."""

    begin: datetime | None
    end: datetime | None

    def contains(self, moment: datetime) -> bool:
        return (self.begin is None or self.begin <= moment) and (self.end is None or moment <= self.end)

    def overlaps(self, first: datetime, last: datetime) -> bool:
        return (self.begin is None or self.begin <= last) and (self.end is None or first <= self.end)


def parse_point(coords: str | None) -> tuple[float, float]:
    """`POINT(-71.06 42.36)` as longitude and latitude."""
    found = _POINT.fullmatch(_text(coords))
    if found is None:
        what = "a point is required" if coords is None else f"{quoted(coords)} is not a point"
        raise _wrong("coords", f"{what}: use POINT(longitude latitude)")
    lon, lat = float(found[1]), float(found[2])
    _check(lon, lat, "coords")
    return lon, lat


def parse_polygon(coords: str | None) -> Polygon:
    """`POLYGON((-72 42,-71 42,-71 43,-72 42))`, with holes."""
    found = _POLYGON.fullmatch(_text(coords))
    if found is None:
        what = "a polygon is required" if coords is None else f"{quoted(coords)} is not a polygon"
        raise _wrong("coords", f"{what}: use POLYGON((lon lat, lon lat, …))")
    rings = [_ring(text) for text in re.findall(r"\(([^()]*)\)", found[1])]
    if sum(len(ring) for ring in rings) > MOST_VERTICES:
        raise _wrong("coords", f"a polygon has at most {MOST_VERTICES} vertices")
    return Polygon(tuple(rings))


def parse_bbox(bbox: str | None) -> QueryBox:
    """`W,S,E,N`, or `W,S,low,E,N,high`, whose heights are ignored."""
    try:
        numbers = [float(part) for part in _text(bbox).split(",")]
    except ValueError:
        numbers = []
    if len(numbers) == 6:
        numbers = [numbers[place] for place in (0, 1, 3, 4)]
    if len(numbers) != 4:
        what = "a box is required" if bbox is None else f"{quoted(bbox)} is not a box"
        raise _wrong("bbox", f"{what}: use bbox=W,S,E,N in degrees")
    found = QueryBox(*numbers)
    _check(found.west, found.south, "bbox")
    _check(found.east, found.north, "bbox")
    if found.south > found.north:
        raise _wrong("bbox", "the southern edge of the box is north of its northern edge")
    return found


def parse_optional_bbox(bbox: str | None) -> QueryBox | None:
    """The box, or None if no bbox was given."""
    return None if bbox is None else parse_bbox(bbox)


def parse_times(text: str | None) -> QueryTimes:
    """`2026-11-18T00:00:00Z`, or an interval with `/`; `..` leaves an end open. A date is its whole day in UTC: an
    interval begins with the first moment of a date, and ends with the last."""
    if text is None or not text.strip():
        return QueryTimes(None, None)
    parts = text.split("/")
    if len(parts) == 1:
        return _period(parts[0])
    if len(parts) != 2:
        raise _wrong("datetime", f"{quoted(text)} is not a time or a range of two times")
    first, last = (QueryTimes(None, None) if part.strip() in ("..", "") else _period(part) for part in parts)
    return QueryTimes(first.begin, last.end)


def parse_names(values: Sequence[str], known: Sequence[str], most: int) -> tuple[str, ...]:
    """The requested parameters; all by default."""
    names = tuple(dict.fromkeys(part.strip() for value in values for part in value.split(",") if part.strip()))
    for name in names:
        if name not in known:
            raise _wrong("parameter-name", f"there is no parameter {quoted(name)}; there are {', '.join(known)}")
    chosen = names or tuple(known)
    if len(chosen) > most:
        raise _wrong("parameter-name", f"{len(chosen)} parameters are more than {most}: name some")
    return chosen


def check_shape(crs: str | None, shape: str | None, z: str | None) -> None:
    """Refuse any CRS but CRS84, any format but CoverageJSON, and any vertical level."""
    if crs is not None and crs.lower() not in CRS_NAMES:
        raise _wrong("crs", f"{quoted(crs)} is not supported: coordinates are in {CRS84}")
    if shape is not None and shape.lower() not in FORMATS:
        raise _wrong("f", f"{quoted(shape)} is not supported: responses are CoverageJSON")
    if z is not None:
        raise _wrong("z", "collections have no vertical axis: levels are part of the parameters' names")


def _ring(text: str) -> Floats:
    points = []
    for pair in text.split(","):
        numbers = pair.split()
        if len(numbers) != 2 or not all(re.fullmatch(_NUMBER, one) for one in numbers):
            raise _wrong("coords", f"{quoted(pair.strip())} is not `longitude latitude`")
        lon, lat = float(numbers[0]), float(numbers[1])
        _check(lon, lat, "coords")
        points.append((lon, lat))
    if len(points) < 4 or points[0] != points[-1]:
        raise _wrong("coords", "a ring needs at least four points, and must end where it begins")
    return np.array(points[:-1], np.float64)


def _period(text: str) -> QueryTimes:
    """A moment, or the whole day of a date."""
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        moment = _moment(text)
        return QueryTimes(moment, moment)
    return QueryTimes(datetime.combine(day, time.min, UTC), datetime.combine(day, time.max, UTC))


def _moment(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text.strip())
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):  # an offset may lead out of the years 1 to 9999
        raise _wrong("datetime", f"{quoted(text)} is not a time such as 2026-11-18T06:00:00Z, or a date") from None


def _text(value: str | None) -> str:
    if value is None:
        return ""
    if len(value) > LIMIT_COORDS:
        raise _wrong("coords", f"coordinates have at most {LIMIT_COORDS} characters")
    return value


def _check(lon: float, lat: float, field: str) -> None:
    if not (math.isfinite(lon) and math.isfinite(lat) and -180 <= lon <= 360 and -90 <= lat <= 90):
        raise _wrong(field, f"{lon:g} {lat:g} is not a longitude from -180 to 180 and a latitude from -90 to 90")


def _wrong(field: str, message: str) -> HttpProblem:
    return HttpProblem(400, message, errors=[(f"query.{field}", message)])
