"""Short names of NCEP's quantities are those of ecCodes, which a listing then need not load."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import eccodes
import pytest

from gribmill.tiles.grib.keys import ECMWF, NCEP, Keys, Probability
from gribmill.tiles.grib.ncep_names import NAMES, ncep_name
from tests.make_grib import REFERENCE

SURFACE, HYBRID = 1, 105
# NCEP has them, ecCodes does not: the names of NCEP's own tables in small letters.
UNKNOWN_TO_ECCODES = {(0, 1, 200), (10, 2, 6)}


@pytest.fixture(scope="module")
def sample() -> Iterator[int]:
    handle = eccodes.codes_grib_new_from_samples("GRIB2")
    eccodes.codes_set(handle, "centre", NCEP)
    eccodes.codes_set(handle, "tablesVersion", 2)
    eccodes.codes_set(handle, "localTablesVersion", 1)
    yield handle
    eccodes.codes_release(handle)


def in_eccodes(sample: int, parameter: tuple[int, int, int], level: int) -> str:
    for key, number in zip(("discipline", "parameterCategory", "parameterNumber"), parameter, strict=True):
        eccodes.codes_set(sample, key, number)
    eccodes.codes_set(sample, "typeOfFirstFixedSurface", level)
    return str(eccodes.codes_get(sample, "shortName"))


@pytest.mark.parametrize("group", NAMES, ids=str)
def test_every_name_is_what_eccodes_says_at_a_level_or_the_surface(sample: int, group: tuple[int, int]) -> None:
    for number, name in NAMES[group].items():
        parameter = (*group, number)
        known = {in_eccodes(sample, parameter, level) for level in (HYBRID, SURFACE)} - {"unknown"}
        assert name in known or (not known and parameter in UNKNOWN_TO_ECCODES), (parameter, name, known)


def test_others_and_parts_of_ensembles_are_left_to_eccodes() -> None:
    keys = Keys(2, NCEP, 0, None, (0, 0, 0), 0, REFERENCE)
    assert ncep_name(keys) == "t"
    assert ncep_name(dataclasses.replace(keys, parameter=(0, 0, 250))) is None
    for other in (
        {"centre": ECMWF},
        {"edition": 1, "parameter": (2, 11)},
        {"derived": 4},
        {"percentile": 50},
        {"probability": Probability(1, None, 273.0)},
        {"selector": b"\1"},
    ):
        assert ncep_name(dataclasses.replace(keys, **other)) is None, other
