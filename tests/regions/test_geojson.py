"""Bounding boxes of GeoJSON outlines, also across the dateline and round a pole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gribmill.regions import geojson
from gribmill.regions.box import Box
from gribmill.regions.errors import RegionError
from gribmill.regions.geojson import box_of_geojson


def polygon(*ring: tuple[float, float]) -> dict[str, Any]:
    return {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}


def square(west: float, south: float, east: float, north: float) -> dict[str, Any]:
    return polygon((west, south), (east, south), (east, north), (west, north))


def box_of(tmp_path: Path, document: Any, feature: str | None = None) -> Box:
    path = tmp_path / "outline.json"
    path.write_text(json.dumps(document))
    return box_of_geojson(path, feature)


def test_every_kind_of_object_that_holds_polygons_is_read(tmp_path: Path) -> None:
    one, two = square(5, 40, 10, 45), square(12, 42, 15, 50)
    both = Box(5, 40, 15, 50)
    assert box_of(tmp_path, one) == Box(5, 40, 10, 45)
    assert box_of(tmp_path, {"type": "Feature", "geometry": two, "properties": {}}) == Box(12, 42, 15, 50)
    multi = {"type": "MultiPolygon", "coordinates": [one["coordinates"], two["coordinates"]]}
    assert box_of(tmp_path, multi) == both
    features = [{"type": "Feature", "geometry": shape} for shape in (one, two, None)]
    assert box_of(tmp_path, {"type": "FeatureCollection", "features": features}) == both
    assert box_of(tmp_path, {"type": "GeometryCollection", "geometries": [one, two]}) == both


def test_one_feature_can_be_taken_by_name_or_id(tmp_path: Path) -> None:
    features = [
        {"type": "Feature", "properties": {"name": "left"}, "geometry": square(0, 0, 1, 1)},
        {"type": "Feature", "id": 7, "properties": None, "geometry": square(2, 2, 3, 3)},
    ]
    document = {"type": "FeatureCollection", "features": features}
    assert box_of(tmp_path, document, "left") == Box(0, 0, 1, 1)
    assert box_of(tmp_path, document, "7") == Box(2, 2, 3, 3)
    with pytest.raises(RegionError, match="no feature 'right'; it has 7, left"):
        box_of(tmp_path, document, "right")


def test_outlines_across_the_dateline_are_not_taken_round_the_globe(tmp_path: Path) -> None:
    across = Box(170, 50, -130, 70)
    cut = {
        "type": "MultiPolygon",
        "coordinates": [square(170, 50, 180, 70)["coordinates"], square(-180, 55, -130, 60)["coordinates"]],
    }
    assert box_of(tmp_path, cut) == across
    assert box_of(tmp_path, square(170, 50, 230, 70)) == across
    assert box_of(tmp_path, square(-190, 50, -130, 70)) == across
    assert box_of(tmp_path, square(170, 50, -130, 70)) == across


def test_an_outline_round_a_pole_reaches_it(tmp_path: Path) -> None:
    arctic = polygon(*((lon, 65.0 + (lon % 3)) for lon in range(-180, 180, 30)))
    assert box_of(tmp_path, arctic) == Box(-180, 65, 180, 90)
    antarctic = polygon(*((lon, -65.0) for lon in range(-180, 180, 30)))
    assert box_of(tmp_path, antarctic) == Box(-180, -90, 180, -65)
    assert box_of(tmp_path, square(-180, -90, 180, 90)) == Box(-180, -90, 180, 90)


def test_many_pieces_get_the_shortest_arc_that_covers_them(tmp_path: Path) -> None:
    def pieces(*arcs: tuple[float, float]) -> Box:
        shapes = [square(west, 0, east, 10)["coordinates"] for west, east in arcs]
        return box_of(tmp_path, {"type": "MultiPolygon", "coordinates": shapes})

    assert pieces((-175, -172), (0, 10), (20, 60), (60, 200)) == Box(0, 0, -160, 10)
    assert pieces((-10, 5), (100, 110)) == Box(-10, 0, 110, 10)
    assert pieces((-170, -160), (150, 160), (-100, -90)) == Box(150, 0, -90, 10)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not GeoJSON"),
        ('{"type": "Point", "coordinates": [1, 2]}', "not by 'Point'"),
        ('{"type": "FeatureCollection", "features": []}', "draws no polygon"),
        ('{"type": "FeatureCollection", "features": 3}', "draws no polygon"),
        ('{"type": "Polygon"}', "coordinates are not"),
        ('{"type": "Polygon", "coordinates": [[["a", "b"], [1, 2], [3, 4]]]}', "coordinates are not"),
        (f'{{"type": "Polygon", "coordinates": [[[1{"0" * 400}, 0], [1, 1], [1, 0]]]}}', "coordinates are not"),
        ('{"type": "Polygon", "coordinates": [[[0, 0], [1, 1]]]}', "at least three"),
        ('{"type": "Polygon", "coordinates": [[[0, 0], [NaN, 1], [1, 0]]]}', "not longitude, latitude"),
        ('{"type": "Polygon", "coordinates": [[[500000, 4e6], [1, 1], [1, 0]]]}', "not longitude, latitude"),
        ('{"type": "Polygon", "coordinates": [[[0, 0], [5, 0], [9, 0]]]}', "no height"),
    ],
)
def test_geojson_without_a_polygon_is_refused_with_the_reason(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(RegionError, match=reason) as error:
        box_of_geojson(path)
    assert "bad.json" in str(error.value)


def test_features_that_are_not_a_list_have_no_names(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text('{"type": "FeatureCollection", "features": 3}')
    with pytest.raises(RegionError, match="no feature 'Oslo'"):
        box_of_geojson(path, "Oslo")


def test_deeply_nested_collections_are_refused(tmp_path: Path) -> None:
    document: Any = square(0, 0, 1, 1)
    for _ in range(50):
        document = {"type": "GeometryCollection", "geometries": [document]}
    with pytest.raises(RegionError, match="not GeoJSON"):
        box_of(tmp_path, document)


def test_a_file_that_is_too_large_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(geojson, "LIMIT_BYTES", 1000)
    path = tmp_path / "large.json"
    path.write_text(" " * 2000)
    with pytest.raises(RegionError, match="larger than"):
        box_of_geojson(path)
