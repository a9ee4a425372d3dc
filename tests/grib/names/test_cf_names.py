"""Standard names are in the CF table and match the units of their variables."""

from __future__ import annotations

from pathlib import Path

import gribmill
from gribmill.grib.names.lexicon import lexicon
from gribmill.grib.names.variable import Variable
from gribmill.tiles.read.cf_metadata import AS_DEPTH, cf_standard_name, cf_units
from gribmill.tiles.read.units import shown_unit
from tests.tiles.make_tile import make_tile

TABLE = Path(__file__).with_name("cf_standard_names.txt")
CANONICAL = dict(line.split(" ", 1) for line in TABLE.read_text().splitlines() if not line.startswith("#"))
# Units that have the dimension of a canonical unit.
SAME = {
    "1": {"%", "kg kg-1", "m3 m-3", "ppb"},
    "m": {"mm"},
    "m s-1": {"mm h-1"},
    "Pa": {"hPa"},
    "kg m-3": {"ug m-3"},
    "W s m-2": {"J m-2"},
    "Pa s": {"N m-2 s"},
    "mol m-2": {"DU"},
    "-": {"1"},
}


def units_of(row: Variable) -> set[str]:
    """All units that a variable has in tiles, and those it is read in."""
    native = {row.units} | {source.units for source in (*row.grib2, *row.grib1) if source.units}
    return native | {shown_unit(row.name, unit, "common") for unit in native}


def test_standard_names_are_in_the_cf_table_and_fit_the_units() -> None:
    rows = [row for row in lexicon().rows.values() if row.standard_name]
    assert len(rows) > 100
    for row in rows:
        assert row.standard_name in CANONICAL, row.name
        for units in units_of(row):
            name = cf_standard_name(row.standard_name, units, codes=bool(row.codes))
            if name is not None:
                canonical = CANONICAL[name]
                assert cf_units(units) in {canonical} | SAME.get(canonical, set()), (row.name, name, units, canonical)


def test_names_of_depths_are_in_the_cf_table() -> None:
    assert {name for name in AS_DEPTH.values() if name} <= CANONICAL.keys()


def test_ecmwf_rain_in_metres_is_a_depth_and_its_land_mask_a_fraction(tmp_path: Path) -> None:
    rain = {"units": "m", "standard_name": "precipitation_amount", "statistic": "accum", "step_minutes": (0, 360)}
    height = {"units": "gpm", "standard_name": "geopotential_height"}
    land = {"units": "1", "standard_name": "land_binary_mask"}
    flags = {**land, "flag_values": (0, 1), "flag_meanings": ("sea", "land")}
    path = make_tile(
        tmp_path,
        {"tp": (0.01, rain), "gh_500": (5500.0, height), "lsm": (0.5, land), "lsm_2": (1.0, flags)},
        minutes=360,
    )
    opened = gribmill.open_tile(path)
    assert opened["tp"].attrs["standard_name"] == "lwe_thickness_of_precipitation_amount"
    assert (opened["gh_500"].attrs["standard_name"], opened["gh_500"].attrs["units"]) == ("geopotential_height", "m")
    assert opened["lsm"].attrs["standard_name"] == "land_area_fraction"
    assert opened["lsm_2"].attrs["standard_name"] == "land_binary_mask"
    common = gribmill.open_tile(path, units="common")["tp"]
    assert (common.attrs["standard_name"], common.attrs["units"]) == ("lwe_thickness_of_precipitation_amount", "mm")
