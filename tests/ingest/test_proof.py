"""A message is proven by its length, its fields, its run and its time; each alone is enough to refuse it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from gribmill.grib.header import BadMessage
from gribmill.ingest.download.check_index_entry import Claim, surface_of
from gribmill.ingest.download.verify_message import Expected, prove_beginning, prove_message
from tests.ingest.small_grib import FIELDS, RUN, message
from tests.make_grib import make_message

PAIR = message([FIELDS["u10"], FIELDS["v10"]], b"x" * 100)
HOUR = Expected(RUN, timedelta(hours=1))


def _prove(
    data: bytes,
    length: int,
    expected: Expected = HOUR,
    *,
    fields: int | None = 2,
    fitting: int = 2,
    claims: Sequence[Claim] = (),
) -> None:
    prove_message(
        lambda at, count: data[at : at + count], 0, length, expected, fields=fields, fitting=fitting, claims=claims
    )


def test_the_message_that_was_asked_for_is_proven() -> None:
    _prove(PAIR, len(PAIR))
    _prove(PAIR, len(PAIR), Expected(), fields=None)
    prove_beginning(PAIR[:16], 0, len(PAIR))


def test_another_length_is_refused_from_the_first_bytes_on() -> None:
    for length in (len(PAIR) - 1, len(PAIR) + 1):
        with pytest.raises(BadMessage, match="the index says"):
            prove_beginning(PAIR[:16], 0, length)
    with pytest.raises(BadMessage, match="were expected"):
        _prove(PAIR + b"more", len(PAIR) + 4)
    with pytest.raises(BadMessage, match="are left"):
        _prove(PAIR, len(PAIR) - 4)


@pytest.mark.parametrize("fields", [1, 3])
def test_another_count_of_fields_is_refused(fields: int) -> None:
    with pytest.raises(BadMessage, match="2 fields"):
        _prove(PAIR, len(PAIR), fields=fields)


@pytest.mark.parametrize(
    "expected", [Expected(RUN + timedelta(hours=6), timedelta(hours=1)), Expected(RUN, timedelta(hours=2))]
)
def test_another_run_or_time_is_refused(expected: Expected) -> None:
    with pytest.raises(BadMessage, match="not of"):
        _prove(PAIR, len(PAIR), expected)


def test_only_the_wanted_fields_of_a_message_must_be_of_the_time() -> None:
    mixed = message([FIELDS["u10"], FIELDS["tp"]], hour=3)
    _prove(mixed, len(mixed), Expected(RUN, timedelta(hours=3)))
    with pytest.raises(BadMessage):
        _prove(mixed, len(mixed), Expected(RUN, timedelta(hours=1)), fitting=1)


def test_the_first_edition_is_proven_too() -> None:
    old = make_message("gfs-small", "2t", reference=RUN, step=1, edition=1, packing="grid_simple")
    prove_beginning(old[:16], 0, len(old))
    _prove(old, len(old), fields=1, fitting=1)
    with pytest.raises(BadMessage):
        _prove(old[:-10] + old[-4:], len(old) - 6, fields=1, fitting=1)


U10 = Claim("u10", ((0, 2, 2), (128, 165), (2, 33)), surface_of("10 m above ground"))
V10 = Claim("v10", ((0, 2, 3),), surface_of("10 m above ground"))


def test_each_claim_of_the_index_needs_a_field_that_it_fits() -> None:
    _prove(PAIR, len(PAIR), claims=[U10, V10])
    for claim in (
        Claim("t2m", ((0, 0, 0),)),
        Claim("u80", ((0, 2, 2),), surface_of("80 m above ground")),
        Claim("u_850", ((0, 2, 2),), surface_of("850 mb")),
        Claim("u_surface", ((0, 2, 2),), surface_of("surface")),
    ):
        with pytest.raises(BadMessage, match=f"not {claim.name}, as the index says"):
            _prove(PAIR, len(PAIR), claims=[U10, claim])


@pytest.mark.parametrize(
    "claim",
    [
        Claim("its numbers are not known", ()),
        Claim("those of the other edition are", ((128, 167),)),
        Claim("one of several", ((0, 0, 0), (0, 2, 3)), surface_of("planetary boundary layer")),
    ],
)
def test_a_claim_that_says_too_little_is_not_held_against_a_message(claim: Claim) -> None:
    _prove(PAIR, len(PAIR), claims=[claim])


def test_tables_of_the_first_edition_are_compared_only_with_themselves() -> None:
    old = make_message("gfs-small", "2t", reference=RUN, step=1, edition=1, packing="grid_simple")
    table, number = old[8 + 3], old[8 + 8]
    claims = [Claim("of another table", ((table + 1, number + 1),)), Claim("t2m", ((0, 0, 0), (table, number)))]
    _prove(old, len(old), fields=1, fitting=1, claims=claims)
    with pytest.raises(BadMessage, match="not d2m"):
        _prove(old, len(old), fields=1, fitting=1, claims=[Claim("d2m", ((0, 0, 6), (table, number + 1)))])


@pytest.mark.parametrize(
    ("level", "surface"),
    [
        ("2 m above ground", (103, 2.0)), ("850 mb", (100, 85000.0)), ("pl 50", (100, 5000.0)), ("surface", (1, None)),
        ("sfc", None), ("0-0.1 m below ground", None), ("180-0 mb above ground", None), ("1..2 mb", None),
    ],
)  # fmt: skip
def test_levels_in_words_are_surfaces_where_they_mean_one(level: str, surface: tuple[int, float | None] | None) -> None:
    assert surface_of(level) == surface
