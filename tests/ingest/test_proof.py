"""A message is proven by its length, its fields, its run and its time; each alone is enough to refuse it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gribmill.ingest.grib_header import BadMessage
from gribmill.ingest.proof import Expected, prove_beginning, prove_message
from tests.ingest.small_grib import FIELDS, RUN, message
from tests.make_grib import make_message

PAIR = message([FIELDS["u10"], FIELDS["v10"]], b"x" * 100)
HOUR = Expected(RUN, timedelta(hours=1))


def _prove(data: bytes, length: int, expected: Expected = HOUR, *, fields: int | None = 2, fitting: int = 2) -> None:
    prove_message(lambda at, count: data[at : at + count], 0, length, expected, fields=fields, fitting=fitting)


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
