"""The bounding box of the geometry in a GeoJSON file."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gribmill.errors import quoted
from gribmill.regions.box import Box, wrap_longitude
from gribmill.regions.errors import RegionError
from gribmill.regular_file import open_regular

LIMIT_BYTES = 20_000_000
_MOST_POSITIONS = 2_000_000
_MOST_DEPTH = 8

Ring = npt.NDArray[np.float64]


def box_of_geojson(path: Path, feature: str | None = None) -> Box:
    """The smallest box around all polygons of the file, or of the feature with that name or id."""
    return box_of_rings(list(_rings(_chosen(_read(path), feature, path), path)), str(path))


def box_of_rings(rings: list[Ring], source: str) -> Box:
    """The smallest box around closed rings of (longitude, latitude).

    A step of more than 180° between adjacent points takes the short way across the dateline, unless it is a full turn.
    A ring that closes only after a full turn encloses a pole, and the box extends to it.
    """
    if not rings:
        raise RegionError(f"{source} draws no polygon")
    arcs: list[tuple[float, float]] = []
    south, north = math.inf, -math.inf
    for ring in rings:
        start, end, turns = _arc(ring[:, 0])
        arcs.append((start, end))
        south, north = min(south, float(ring[:, 1].min())), max(north, float(ring[:, 1].max()))
        if turns:
            # The ring alone does not show which pole is inside; on real maps it is the nearer one.
            south, north = (south, 90.0) if ring[:, 1].mean() >= 0 else (-90.0, north)
    west, east = _covering(arcs)
    try:
        return Box(west, south, east, north)
    except RegionError as error:
        raise RegionError(f"{source}: {error}") from None


def _arc(lon: npt.NDArray[np.float64]) -> tuple[float, float, bool]:
    """The west and east ends of a ring's unwrapped longitudes, and whether it encloses a pole."""
    steps = np.diff(np.append(lon, lon[0]))
    whole = np.abs(steps) >= 360.0 - 1e-6
    if whole.any():
        return -180.0, 180.0, False
    steps = np.where(np.abs(steps) > 180.0, wrap_longitude(steps), steps)
    path = lon[0] + np.concatenate([[0.0], np.cumsum(steps)])
    if abs(path[-1] - path[0]) > 180.0:
        return -180.0, 180.0, True
    return float(path.min()), float(path.max()), False


def _covering(arcs: list[tuple[float, float]]) -> tuple[float, float]:
    """The shortest arc that covers all arcs: the whole circle without the widest gap."""
    if any(east - west >= 360.0 for west, east in arcs):
        return -180.0, 180.0
    pieces = sorted(piece for west, east in arcs for piece in _within_one_turn(wrap_longitude(west), east - west))
    first = pieces[0][0]
    covered, widest, start, end = pieces[0][1], -1.0, first, pieces[0][1]
    for west, east in pieces[1:]:
        if west - covered > widest:
            widest, start, end = west - covered, west, covered
        covered = max(covered, east)
    if first + 360.0 - covered >= widest:
        start, end = first, covered
    if end < start:
        end += 360.0
    return (-180.0, 180.0) if end - start >= 360.0 else (start, end)


def _within_one_turn(west: float, width: float) -> list[tuple[float, float]]:
    east = west + width
    return [(west, east)] if east <= 180.0 else [(west, 180.0), (-180.0, east - 360.0)]


def _read(path: Path) -> Any:
    try:
        with open_regular(path) as file:
            data = file.read(LIMIT_BYTES + 1)
    except OSError as error:
        raise RegionError(f"{path} cannot be read: {error.strerror}") from None
    if len(data) > LIMIT_BYTES:
        raise RegionError(f"{path} is larger than {LIMIT_BYTES // 1_000_000} MB; simplify its outlines first")
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise RegionError(f"{path} is not JSON: {error}") from None


def _chosen(document: Any, feature: str | None, path: Path) -> Any:
    if feature is None:
        return document
    features = document.get("features") if isinstance(document, dict) else None
    listed = features if isinstance(features, list) else []
    named = {name: one for one in listed if isinstance(one, dict) for name in _names(one)}
    if feature not in named:
        known = ", ".join(sorted(named)[:10]) or "none with a name"
        raise RegionError(f"{path} has no feature {quoted(feature)}; it has {known}")
    return named[feature]


def _names(feature: dict[str, Any]) -> Iterator[str]:
    properties = feature.get("properties")
    candidates = [feature.get("id")]
    if isinstance(properties, dict):
        candidates += [properties.get(key) for key in ("name", "NAME", "Name", "id")]
    return (str(value) for value in candidates if isinstance(value, str | int))


def _rings(node: Any, path: Path, depth: int = 0) -> Iterator[Ring]:
    """Yields the outer rings of all polygons in a GeoJSON object."""
    if not isinstance(node, dict) or depth > _MOST_DEPTH:
        raise RegionError(f"{path} is not GeoJSON: an object with a type is expected")
    kind = node.get("type")
    if kind in ("FeatureCollection", "GeometryCollection"):
        children = node.get("features" if kind == "FeatureCollection" else "geometries")
        for child in children if isinstance(children, list) else []:
            yield from _rings(child, path, depth + 1)
    elif kind == "Feature":
        if node.get("geometry") is not None:
            yield from _rings(node["geometry"], path, depth + 1)
    elif kind in ("Polygon", "MultiPolygon"):
        polygons = [node.get("coordinates")] if kind == "Polygon" else node.get("coordinates")
        for polygon in polygons if isinstance(polygons, list) else []:
            yield _outer_ring(polygon, path)
    else:
        raise RegionError(f"{path}: a region is drawn by Polygons and MultiPolygons, not by {quoted(kind)}")


def _outer_ring(polygon: Any, path: Path) -> Ring:
    try:
        positions = polygon[0]
        if len(positions) > _MOST_POSITIONS:
            raise RegionError(f"{path} has a polygon of more than {_MOST_POSITIONS} positions; simplify it first")
        ring = np.array([(position[0], position[1]) for position in positions], dtype=np.float64)
    except (TypeError, ValueError, IndexError, KeyError, OverflowError):
        raise RegionError(f"{path} has a polygon whose coordinates are not [[[longitude, latitude], …]]") from None
    if len(ring) < 3:
        raise RegionError(f"{path} has a polygon of {len(ring)} positions; it takes at least three")
    if not (np.isfinite(ring).all() and np.abs(ring[:, 0]).max() <= 360 and np.abs(ring[:, 1]).max() <= 90):
        raise RegionError(f"{path} has positions that are not longitude, latitude in degrees (RFC 7946)")
    return ring
