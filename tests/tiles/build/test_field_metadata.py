"""The metadata of a field before it is cut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gribmill.grib.decode.field import Field
from gribmill.grib.names.long_names import of_ensemble
from gribmill.grib.product.keys import NCEP, Keys, Probability
from gribmill.regions.box import Box
from gribmill.regions.region import Region
from gribmill.tiles.build.build import build
from gribmill.tiles.build.describe_fields import NamedField
from tests.make_grib import REFERENCE, make_message, write


@pytest.mark.parametrize(
    ("units", "angle"),
    [("degree", True), ("Degree true", True), ("deg", True), ("°", True), ("deg C", False), ("K", False)],
)
def test_degrees_are_an_angle_unless_they_are_a_temperature(units: str, angle: bool) -> None:
    assert NamedField("x", "X", units, None, "surface").kind == ("angle" if angle else "number")


@pytest.mark.parametrize(
    ("part", "long_name", "units"),
    [
        ({}, "Temperature", "K"),
        ({"derived": 0}, "Temperature", "K"),
        ({"derived": 4}, "Temperature, spread of the ensemble", "K"),
        ({"derived": 3}, "Temperature, normalised standard deviation of the ensemble", "1"),
        ({"percentile": 90}, "Temperature, percentile 90 of the ensemble", "K"),
        ({"probability": Probability(0, 273.15, None)}, "Temperature, probability of less than 273.15 K", "%"),
        ({"probability": Probability(1, None, 300.0)}, "Temperature, probability of exceeding 300 K", "%"),
        ({"probability": Probability(2, 270.0, 280.0)}, "Temperature, probability of 270 K to 280 K", "%"),
        ({"probability": Probability(3, 290.0, None)}, "Temperature, probability of exceeding 290 K", "%"),
        ({"probability": Probability(4, None, 260.0)}, "Temperature, probability of less than 260 K", "%"),
        ({"probability": Probability(4, None, None)}, "Temperature, probability of less than ?", "%"),
        ({"probability": Probability(9, 1.0, 2.0)}, "Temperature, probability of kind 9", "%"),
    ],
)
def test_ensemble_statistic_is_named_in_the_metadata(part: dict[str, Any], long_name: str, units: str) -> None:
    keys = Keys(2, NCEP, None, (0, 0, 0), 0, REFERENCE, **part)
    assert of_ensemble("Temperature", "K", keys) == (long_name, units)


def test_dust_is_not_named_smoke(tmp_path: Path) -> None:
    """HRRR's smoke has no constituent; the lexicon's name does not apply to a message that has one."""
    dust = {
        "productDefinitionTemplateNumber": 44, "discipline": 0, "parameterCategory": 20, "parameterNumber": 0,
        "aerosolType": 62001, "typeOfFirstFixedSurface": 103, "scaleFactorOfFirstFixedSurface": 0,
        "scaledValueOfFirstFixedSurface": 8,
    }  # fmt: skip
    path = write(tmp_path / "dust.grib2", [make_message("hrrr-ne", "t", 1.0, keys=dust)])
    (tile,) = build(path, [Region("ny", Box(-75.0, 40.5, -72.0, 42.0))], tmp_path, everything=True).tiles
    ((name, quantity),) = tile.meta.variables.items()
    assert name == "massden_dust_8m"
    assert "moke" not in quantity.long_name


def test_two_fields_of_one_name_are_not_compared_where_no_region_wants_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "twice.grib2", [make_message("hrrr-ne", "2t", value) for value in (280.0, 281.0)])
    monkeypatch.setattr(Field, "values", lambda self: pytest.fail("decoded for nothing"))
    outcome = build(path, [Region("perth", Box(115.0, -33.0, 117.0, -31.0))], tmp_path)
    assert outcome.outside == ("perth",)
    assert not outcome.tiles
