"""What is said of a field before it is cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from gribmill.regions.box import Box
from gribmill.regions.region import Region
from gribmill.tiles.build import build
from gribmill.tiles.grib.field import Field
from gribmill.tiles.naming import Named
from tests.make_grib import make_message, write


@pytest.mark.parametrize(
    ("units", "angle"),
    [("degree", True), ("Degree true", True), ("deg", True), ("°", True), ("deg C", False), ("K", False)],
)
def test_degrees_are_an_angle_unless_they_are_a_temperature(units: str, angle: bool) -> None:
    assert Named("x", "X", units, None, "surface").angle == angle


def test_two_fields_of_one_name_are_not_compared_where_no_region_wants_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "twice.grib2", [make_message("hrrr-ne", "2t", value) for value in (280.0, 281.0)])
    monkeypatch.setattr(Field, "values", lambda self: pytest.fail("decoded for nothing"))
    outcome = build(path, [Region("perth", Box(115.0, -33.0, 117.0, -31.0))], tmp_path)
    assert outcome.outside == ("perth",)
    assert not outcome.tiles
