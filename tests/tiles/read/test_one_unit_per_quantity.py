"""Whatever unit a model publishes a quantity in, common units are the same, and every reader spells them the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gribmill
from gribmill.grib.names.lexicon import built_in_lexicon
from gribmill.grib.names.variable import Variable
from gribmill.ingest.models.registry import load_models
from gribmill.tiles.format.meta import VariableMeta
from gribmill.tiles.read.units import SYSTEMS, System, conversion, shown_unit, unit_change
from tests.tiles.make_tile import make_tile, quantity

# One model of each family: its members have the same variables.
MODELS = {model.variables: model for model in load_models().values()}
# The one common unit of each kind of quantity that the models publish in different ones.
COMMON = {
    "t2m": "K", "mslp": "hPa", "sp": "hPa", "u10": "m s-1", "tp": "mm", "tp_bucket": "mm", "prate": "mm h-1",
    "tcc": "%", "weasd": "mm", "vis": "m", "gh_500": "m", "cape": "J kg-1", "rh2m": "%", "ssrd": "W m-2",
}  # fmt: skip


def native_units(row: Variable) -> set[str]:
    """Every unit in which some publisher has the quantity."""
    return {row.units, *(source.units for source in (*row.grib2, *row.grib1) if source.units)}


def common_units(name: str, row: Variable) -> set[str]:
    minutes = (0, 0) if row.statistic == "instant" else (0, 360)
    facts = {"statistic": row.statistic, "step_minutes": minutes}
    return {
        unit_change(name, VariableMeta(**quantity(units=unit, **facts)), "common").units for unit in native_units(row)
    }


@pytest.mark.parametrize("variables", MODELS, ids=[model.id for model in MODELS.values()])
def test_each_variable_of_a_model_has_one_common_unit(variables: tuple[str, ...]) -> None:
    for name in variables:
        row = built_in_lexicon().get(name)
        assert row is not None, name
        assert len(common_units(name, row)) == 1, (name, native_units(row))


def test_every_row_of_the_lexicon_has_one_common_unit() -> None:
    for name, row in built_in_lexicon().rows.items():
        assert len(common_units(name.replace("{}", "500"), row)) == 1, (name, native_units(row))


@pytest.mark.parametrize(("name", "unit"), COMMON.items())
def test_common_units_are_the_documented_ones(name: str, unit: str) -> None:
    row = built_in_lexicon().get(name)
    assert row is not None
    assert common_units(name, row) == {unit}
    assert any(name in variables for variables in MODELS)


def test_units_that_are_shown_can_be_reached() -> None:
    for name, row in built_in_lexicon().rows.items():
        for unit in native_units(row):
            for system in SYSTEMS:
                assert conversion(unit, shown_unit(name.replace("{}", "500"), unit, system)) is not None, (name, unit)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize(("units", "value"), [("gpm", 5500.0), ("m2 s-2", 5500.0 * 9.80665)])
def test_point_and_datasets_spell_geopotential_heights_the_same(
    tmp_path: Path, system: System, units: str, value: float
) -> None:
    name = "gh_500" if units == "gpm" else "z_500"
    path = make_tile(tmp_path, {name: (value, {"units": units})})
    opened = gribmill.open_tile(path, units=system)[name]
    column = gribmill.point(42.3, -71.1, data=tmp_path, model="hrrr", variables=[name], units=system).columns[name]
    assert column.units == opened.attrs["units"]
    assert column.values[0] == pytest.approx(float(np.asarray(opened)[0, 0]), rel=1e-6)
    if units == "gpm" or system == "common":
        assert column.units == "m" and column.values[0] == pytest.approx(5500.0, rel=1e-6)
