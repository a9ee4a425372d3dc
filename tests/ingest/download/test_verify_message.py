"""A message is verified by its length, fields, run and time; each alone is enough to refuse it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import eccodes
import pytest

from gribmill.grib.errors import GribError
from gribmill.grib.messages import MessageHeader
from gribmill.grib.product.grib2 import TEMPLATES
from gribmill.grib.product.keys import Level
from gribmill.ingest.download.verify_message import (
    Expected,
    IndexClaim,
    claim_of,
    level_of,
    verify_beginning,
    verify_message,
)
from gribmill.ingest.index.entry import IndexEntry
from gribmill.ingest.index.select import wanted
from tests.ingest.small_grib import FIELDS, RUN, message
from tests.make_grib import make_message

PAIR = message([FIELDS["u10"], FIELDS["v10"]], b"x" * 100)
HOUR = Expected(RUN, timedelta(hours=1))


def _verify(
    data: bytes,
    expected: Expected = HOUR,
    *,
    fields: int | None = 2,
    fitting: int = 2,
    claims: Sequence[IndexClaim] = (),
) -> MessageHeader:
    return verify_message(b"before" + data, 6, 1, expected, fields=fields, fitting=fitting, claims=claims)


def test_the_requested_message_is_verified() -> None:
    header = _verify(PAIR)
    assert (header.message.number, header.offset, header.length, len(header.fields)) == (1, 6, len(PAIR), 2)
    _verify(PAIR, Expected(), fields=None)
    verify_beginning(PAIR[:16], len(PAIR))


def test_another_length_is_refused_from_the_first_bytes_on() -> None:
    for length in (len(PAIR) - 1, len(PAIR) + 1):
        with pytest.raises(GribError, match="the index says"):
            verify_beginning(PAIR[:16], length)
    with pytest.raises(GribError, match="were expected"):
        _verify(PAIR + b"more")
    with pytest.raises(GribError, match="truncated"):
        _verify(PAIR[:-4])


@pytest.mark.parametrize("fields", [1, 3])
def test_another_count_of_fields_is_refused(fields: int) -> None:
    with pytest.raises(GribError, match="2 fields"):
        _verify(PAIR, fields=fields)


@pytest.mark.parametrize(
    "expected", [Expected(RUN + timedelta(hours=6), timedelta(hours=1)), Expected(RUN, timedelta(hours=2))]
)
def test_another_run_or_time_is_refused(expected: Expected) -> None:
    with pytest.raises(GribError, match="not of"):
        _verify(PAIR, expected)


def test_only_the_wanted_fields_of_a_message_must_be_of_the_time() -> None:
    mixed = message([FIELDS["u10"], FIELDS["tp"]], hour=3)
    _verify(mixed, Expected(RUN, timedelta(hours=3)))
    with pytest.raises(GribError):
        _verify(mixed, Expected(RUN, timedelta(hours=1)), fitting=1)


def test_grib1_messages_are_verified() -> None:
    old = make_message("gfs-small", "2t", reference=RUN, step=1, edition=1, packing="grid_simple")
    verify_beginning(old[:16], len(old))
    _verify(old, fields=1, fitting=1)
    with pytest.raises(GribError):
        _verify(old[:-10] + old[-4:], fields=1, fitting=1)


U10 = IndexClaim("u10", ((0, 2, 2), (128, 165), (2, 33)), level_of("10 m above ground"))
V10 = IndexClaim("v10", ((0, 2, 3),), level_of("10 m above ground"))


def test_each_index_entry_needs_a_matching_field() -> None:
    _verify(PAIR, claims=[U10, V10])
    for claim in (
        IndexClaim("t2m", ((0, 0, 0),)),
        IndexClaim("u80", ((0, 2, 2),), level_of("80 m above ground")),
        IndexClaim("u_850", ((0, 2, 2),), level_of("850 mb")),
        IndexClaim("u_surface", ((0, 2, 2),), level_of("surface")),
    ):
        with pytest.raises(GribError, match=f"not {claim.name}, as the index says"):
            _verify(PAIR, claims=[U10, claim])


MEMBER = "productDefinitionTemplateNumber", "typeOfEnsembleForecast", "perturbationNumber"
PROBABILITY = "productDefinitionTemplateNumber", "probabilityType", "scaledValueOfUpperLimit"


@pytest.mark.parametrize(
    ("ending", "keys", "right"),
    [
        ("pf:7", dict(zip(MEMBER, (1, 3, 7), strict=True)), True),
        ("pf:7", dict(zip(MEMBER, (1, 3, 8), strict=True)), False),
        ("pf:7", dict(zip(MEMBER, (1, 1, 0), strict=True)), False),
        ("cf", dict(zip(MEMBER, (1, 1, 0), strict=True)), True),
        ("cf", {}, True),
        ("ENS=+12", dict(zip(MEMBER, (1, 3, 12), strict=True)), True),
        ("ENS=+12", dict(zip(MEMBER, (1, 3, 1), strict=True)), False),
        ("", dict(zip(PROBABILITY, (5, 1, 280), strict=True)), False),
        ("fc", {"productDefinitionTemplateNumber": 6, "percentileValue": 90}, False),
        ("", {"productDefinitionTemplateNumber": 2, "derivedForecast": 4}, False),
        ("ens mean", {"productDefinitionTemplateNumber": 2, "derivedForecast": 0}, True),
    ],
)
def test_a_message_is_of_the_member_and_kind_that_its_line_states(
    ending: str, keys: dict[str, int], right: bool
) -> None:
    (want,) = wanted(["t2m"])
    entry = IndexEntry(1, 0, 0, None, RUN, "TMP", "2 m above ground", "1 hour fcst", ending)
    made = make_message("gfs-small", "2t", reference=RUN, step=1, keys=keys)
    if right:
        _verify(made, fields=1, fitting=1, claims=[claim_of(want, entry)])
        return
    with pytest.raises(GribError, match="not t2m, as the index says"):
        _verify(made, fields=1, fitting=1, claims=[claim_of(want, entry)])


@pytest.mark.parametrize(
    "claim",
    [
        IndexClaim("its numbers are not known", ()),
        IndexClaim("those of the other edition are", ((128, 167),)),
        IndexClaim("one of several", ((0, 0, 0), (0, 2, 3)), level_of("planetary boundary layer")),
    ],
)
def test_incomplete_index_entry_does_not_refuse_a_message(claim: IndexClaim) -> None:
    assert len(_verify(PAIR, claims=[claim]).fields) == 2


def test_grib1_parameter_tables_are_compared_only_with_themselves() -> None:
    old = make_message("gfs-small", "2t", reference=RUN, step=1, edition=1, packing="grid_simple")
    table, number = old[8 + 3], old[8 + 8]
    other = IndexClaim("of another table", ((table + 1, number + 1),))
    claims = [other, IndexClaim("t2m", ((0, 0, 0), (table, number)))]
    _verify(old, fields=1, fitting=1, claims=claims)
    with pytest.raises(GribError, match="not d2m"):
        _verify(old, fields=1, fitting=1, claims=[IndexClaim("d2m", ((0, 0, 6), (table, number + 1)))])


@pytest.mark.parametrize(
    ("words", "level"),
    [
        ("2 m above ground", Level(103, 2.0)), ("850 mb", Level(100, 85000.0)), ("pl 50", Level(100, 5000.0)),
        ("surface", Level(1)),
        ("sfc", None), ("0-0.1 m below ground", None), ("180-0 mb above ground", None), ("1..2 mb", None),
    ],
)  # fmt: skip
def test_an_index_level_is_compared_only_if_it_is_unambiguous(words: str, level: Level | None) -> None:
    assert level_of(words) == level


@pytest.mark.parametrize("number", TEMPLATES)
def test_the_time_of_every_template_is_verified(number: int) -> None:
    template, handle = TEMPLATES[number], eccodes.codes_grib_new_from_samples("GRIB2")
    keys = {"productDefinitionTemplateNumber": number, "indicatorOfUnitOfTimeRange": 1, "forecastTime": 6}
    keys |= {"indicatorOfUnitForTimeRange": 1, "lengthOfTimeRange": 3} if template.time_range else {}
    try:
        for key, value in keys.items():
            eccodes.codes_set(handle, key, value)
        made = eccodes.codes_get_message(handle)
    finally:
        eccodes.codes_release(handle)
    end = 9 if template.time_range else 6
    _verify(made, Expected(end=timedelta(hours=end)), fields=1, fitting=1)
    with pytest.raises(GribError, match=f"its time {end}:00:00, not of"):
        _verify(made, Expected(end=timedelta(hours=12)), fields=1, fitting=1)
