"""Names and units of NCEP's quantities equal those of ecCodes, which then need not be loaded."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from gribmill.grib.decode.eccodes import Description, describe
from gribmill.grib.decode.field import Field, fields
from gribmill.grib.names.long_names import NcepNames, ncep_name, ncep_names, quantities
from gribmill.grib.product.keys import ECMWF, NCEP, Keys, Level, Probability
from tests.make_grib import REFERENCE, make_message

pytestmark = pytest.mark.slow

# Names from NCEP's tables that ecCodes does not have.
UNKNOWN_TO_ECCODES = {
    (0, 0, 7), (0, 1, 6), (0, 1, 16), (0, 1, 200), (0, 1, 227), (0, 1, 241), (0, 1, 242), (0, 2, 220), (0, 2, 221),
    (0, 2, 222), (0, 2, 223), (0, 3, 196), (0, 6, 2), (0, 7, 199), (0, 7, 200), (0, 7, 203), (0, 7, 204), (0, 7, 205),
    (0, 7, 206), (0, 14, 200), (0, 14, 201), (0, 14, 202), (0, 14, 203), (0, 16, 197), (0, 16, 198), (10, 2, 6),
}  # fmt: skip
NOTHING = b"\xff" * 6
HYBRID, ABOVE_GROUND = 105, 103
AVERAGE, SUM, GREATEST = 0, 1, 2
GROUPS = sorted({parameter[:2] for parameter in quantities()})

Surfaces = tuple[bytes, bytes]


def surface(kind: int, value: int | None = None, scale: int = 0) -> bytes:
    return bytes((kind,)) + (NOTHING[1:] if value is None else bytes((scale,)) + value.to_bytes(4, "big"))


def at(kind: int, value: int | None = None) -> Surfaces:
    return surface(kind, value), NOTHING


USUAL = [at(1), at(HYBRID, 1), at(ABOVE_GROUND, 80)]
LAYERS = [(surface(kind, top), surface(kind, 0)) for kind, top in ((108, 9000), (ABOVE_GROUND, 3000), (106, 1))]
# Where ecCodes' name of a quantity differs from that elsewhere, or may.
PARTICULAR = [
    *(at(kind) for kind in (2, 3, 4, 6, 7, 8, 10, 17, 101, 200, 214, 242)),
    *(at(ABOVE_GROUND, metres) for metres in (2, 10, 100)),
    *(at(kind, value) for kind, value in ((18, 5000), (18, 18000), (100, 50000), (102, 10), (102, 305), (104, 1))),
    *((surface(first), surface(second)) for first, second in ((1, 8), (10, 10), (174, 255), (187, 255))),
]  # fmt: skip


@cache
def empty(statistic: int | None) -> bytes:
    return make_message("gfs-small", "t", 1.0, window=None if statistic is None else (0, 6))


def field(parameter: tuple[int, ...], surfaces: Surfaces, statistic: int | None) -> Field:
    """A field of NCEP, made by overwriting octets of another one."""
    made = bytearray(empty(statistic))
    product = made.index(b"\0\0\0\x22\4" if statistic is None else b"\0\0\0\x3a\4")
    made[6], made[product + 9], made[product + 10] = parameter
    made[product + 22 : product + 34] = b"".join(surfaces)
    if statistic is not None:
        made[product + 46] = statistic
    return next(iter(fields(bytes(made), "made")))


def of_eccodes(known: Description) -> NcepNames | None:
    if known.long_name is None or known.units is None:
        return None
    return NcepNames(known.short_name or "", known.units.replace("**", ""), known.long_name)


def compared(parameter: tuple[int, ...]) -> Iterator[Field]:
    """Fields at many levels, each an average and none; at a few where the table has but one row."""
    cases = [(at(1), None), (at(HYBRID, 1), AVERAGE), (LAYERS[0], GREATEST)]
    if len(quantities()[parameter]) > 1:
        cases = [(place, statistic) for place in USUAL for statistic in (None, AVERAGE, SUM, GREATEST)]
        cases += [(place, statistic) for place in (*LAYERS, *PARTICULAR) for statistic in (None, AVERAGE)]
    for surfaces, statistic in cases:
        yield field(parameter, surfaces, statistic)


@pytest.mark.parametrize("group", GROUPS, ids=str)
def test_names_and_units_are_those_of_eccodes_wherever_they_are_given(group: tuple[int, ...]) -> None:
    for parameter in (one for one in quantities() if one[:2] == group):
        given = 0
        for item in compared(parameter):
            found, known = ncep_names(item.keys), of_eccodes(describe(item.message()))
            assert found is None or found == known or (known is None and parameter in UNKNOWN_TO_ECCODES), item.keys
            given += found is not None
        assert given, parameter


@pytest.mark.parametrize("template", [1, 2, 11, 12])
def test_a_member_or_the_mean_of_an_ensemble_is_called_as_the_quantity_itself(template: int) -> None:
    average = {"typeOfStatisticalProcessing": AVERAGE} if template > 10 else {}
    for discipline, category, number in ((0, 0, 0), (0, 2, 197), (0, 3, 0), (2, 0, 198)):
        message = make_message(
            "gfs-small", "t", 1.0, keys={
                "productDefinitionTemplateNumber": template, "discipline": discipline, "parameterCategory": category,
                "parameterNumber": number, "typeOfFirstFixedSurface": 7, **average,
            },
        )  # fmt: skip
        item = next(iter(fields(message, "made")))
        assert ncep_names(item.keys) == of_eccodes(describe(message)) is not None


def test_other_centres_and_ensemble_statistics_are_left_to_eccodes() -> None:
    keys = Keys(2, NCEP, None, (0, 0, 0), 0, REFERENCE, Level(7))
    assert ncep_name(keys) == "t"
    assert ncep_names(keys) == NcepNames("t", "K", "Temperature")
    assert ncep_name(dataclasses.replace(keys, parameter=(0, 0, 250))) is None
    for other in (
        {"centre": ECMWF},
        {"edition": 1, "parameter": (2, 11)},
        {"derived": 4},
        {"percentile": 50},
        {"probability": Probability(1, None, 273.0)},
        {"selector": b"\1"},
    ):
        changed = dataclasses.replace(keys, **other)
        assert ncep_name(changed) is None and ncep_names(changed) is None, other


def test_a_listing_has_a_short_name_at_any_level_but_a_build_asks_for_what_depends_on_it() -> None:
    keys = Keys(2, NCEP, None, (0, 2, 2), 0, REFERENCE)
    for change in ({"level": Level(103, 10.0)}, {"level": Level(187)}, {"template": 9999}, {"statistic": "rms"}):
        changed = dataclasses.replace(keys, **change)
        assert ncep_name(changed) == "u"
        assert ncep_names(changed) is None, change


def test_the_table_of_ncep_names_is_sorted_and_unique() -> None:
    lines = (Path(__file__).parents[3] / "gribmill/grib/names/ncep_quantities.txt").read_text().splitlines()
    places = [line.split("\t")[0] for line in lines if not line.startswith("#")]
    assert len(set(places)) == len(places)
    assert list(quantities()) == sorted(quantities())
    assert all(rows[-1].names for rows in quantities().values())
