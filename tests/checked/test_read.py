"""Dataclasses from untrusted tables: what is accepted, and the errors for the rest."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from gribmill.checked.constraints import After, Before, Bounds, CheckFailed, Length, Matches, describe
from gribmill.checked.table import annotations_of, plain, read


def _split(value: Any) -> Any:
    return value.split(",") if isinstance(value, str) else value


def _even(number: int) -> int:
    if number % 2:
        raise ValueError("odd")
    return number


@dataclass(frozen=True, kw_only=True)
class Part:
    """A table in a table."""

    size: Annotated[int, Bounds(ge=0, lt=10)]
    note: str | None = None


@dataclass(frozen=True, kw_only=True)
class Whole:
    """One field of each kind."""

    name: Annotated[str, Matches("[a-z]+")] = "a"
    title: Annotated[str, Length(1, 5)] = "a"
    share: Annotated[float, Bounds(gt=0, le=1)] = 0.5
    even: Annotated[int, After(_even)] = 0
    on: bool = False
    mode: Literal["fast", "slow"] = "fast"
    names: Annotated[tuple[str, ...], Before(_split)] = ()
    numbers: Annotated[list[float], Length(most=3)] = field(default_factory=list)
    pair: tuple[int, float] = (0, 0.0)
    begins: datetime | None = field(default=None, metadata={"key": "from"})
    path: Path | None = None
    parts: dict[Annotated[str, Matches("[a-z]")], Part] = field(default_factory=dict)
    value: str | int | float | None = None

    def __post_init__(self) -> None:
        if self.on and self.mode == "slow":
            raise ValueError("it cannot be on and slow")


def problems(table: Any) -> list[tuple[str, str]]:
    with pytest.raises(CheckFailed) as failed:
        read(Whole, table)
    return [(problem.key, problem.text) for problem in failed.value.problems]


@pytest.mark.parametrize(
    ("key", "given", "expected"),
    [
        ("share", 1, 1.0),
        ("share", "0.25", 0.25),
        ("even", "4", 4),
        ("even", 4.0, 4),
        ("on", "yes", True),
        ("names", "a,b", ("a", "b")),
        ("names", ["a"], ("a",)),
        ("pair", [1, 2], (1, 2.0)),
        ("path", "/a/b", Path("/a/b")),
        ("parts", {"a": {"size": 3}}, {"a": Part(size=3)}),
        ("value", "text", "text"),
        ("value", 3, 3),
        ("value", 3.0, 3.0),
        ("value", None, None),
    ],
)
def test_values_become_what_the_annotation_says(key: str, given: Any, expected: Any) -> None:
    found = getattr(read(Whole, {key: given}), key)
    assert found == expected
    assert type(found) is type(expected)


def test_a_field_may_have_another_name_in_tables_and_times_are_in_utc() -> None:
    assert read(Whole, {"from": "2021-03-23T02:00:00+02:00"}).begins == datetime(2021, 3, 23, tzinfo=UTC)


@pytest.mark.parametrize(
    ("table", "key", "words"),
    [
        ({"name": "A"}, "name", "must match ^"),
        ({"name": "a\n"}, "name", "must match ^"),
        ({"name": 5}, "name", "must be text"),
        ({"name": "\ud800"}, "name", "characters that Unicode lacks"),
        ({"title": ""}, "title", "at least 1 character, not 0"),
        ({"title": "abcdef"}, "title", "at most 5 characters, not 6"),
        ({"share": 0}, "share", "greater than 0"),
        ({"share": 1.5}, "share", "at most 1"),
        ({"share": math.nan}, "share", "finite"),
        ({"share": 10**400}, "share", "finite"),
        ({"share": True}, "share", "not true or false"),
        ({"share": "much"}, "share", "must be a number"),
        ({"even": 3}, "even", "odd"),
        ({"even": 2.5}, "even", "must be a whole number"),
        ({"even": "9" * 5000}, "even", "must be a whole number"),
        ({"even": True}, "even", "not true or false"),
        ({"on": 2}, "on", "must be true or false"),
        ({"mode": "medium"}, "mode", "'fast' or 'slow'"),
        ({"names": 5}, "names", "a list"),
        ({"numbers": [1, 2, 3, 4]}, "numbers", "at most 3 items, not 4"),
        ({"numbers": [1, "x"]}, "numbers.1", "must be a number"),
        ({"pair": [1]}, "pair", "a list of 2 values"),
        ({"pair": [1, "x"]}, "pair.1", "must be a number"),
        ({"from": "2021-03-23T00:00:00"}, "from", "time zone"),
        ({"from": 5}, "from", "must be a time"),
        ({"path": 5}, "path", "must be a path"),
        ({"parts": {"a": {}}}, "parts.a.size", "is missing"),
        ({"parts": {"a": {"size": -1}}}, "parts.a.size", "at least 0"),
        ({"parts": {"a": {"size": 10}}}, "parts.a.size", "less than 10"),
        ({"parts": {"a": {"size": 1, "sise": 1}}}, "parts.a.sise", "unknown key"),
        ({"parts": {"B": {"size": 1}}}, "parts.B", "must match ^"),
        ({"parts": {"a": 5}}, "parts.a", "a table"),
        ({"value": [1]}, "value", "must be text"),
        ({"value": True}, "value", "must be text"),
        ({"on": True, "mode": "slow"}, "", "it cannot be on and slow"),
        ([], "", "a table"),
    ],
)
def test_errors_name_their_location(table: Any, key: str, words: str) -> None:
    ((place, text),) = problems(table)
    assert place == key
    assert words in text


def test_all_errors_are_reported_at_once() -> None:
    found = problems({"name": "A", "numbers": ["x", 1, "y"], "parts": {"a": {}, "b": {"size": 99}}, "other": 1})
    assert [key for key, _ in found] == ["name", "numbers.0", "numbers.2", "parts.a.size", "parts.b.size", "other"]


def test_unknown_keys_can_be_ignored_at_every_depth() -> None:
    table = {"other": 1, "parts": {"a": {"size": 1, "other": 2}}}
    assert read(Whole, table, ignore_unknown=True) == Whole(parts={"a": Part(size=1)})


def test_a_checked_table_is_plain_again() -> None:
    whole = read(Whole, {"from": "2021-03-23T00:00:00Z", "path": "/a", "parts": {"a": {"size": 1}}})
    table = plain(whole)
    assert table["path"] == "/a"
    assert table["parts"] == {"a": {"size": 1, "note": None}}
    assert plain(whole, exclude_none=True)["parts"] == {"a": {"size": 1}}
    again = read(Whole, {**table, "from": table["begins"]} | {"begins": None}, ignore_unknown=True)
    assert again == whole


def test_annotations_are_described_in_words() -> None:
    hints = annotations_of(Whole)
    assert describe(hints["share"]) == "number, more than 0, at most 1"
    assert describe(hints["mode"]) == "fast or slow"
    assert describe(Literal["debug", "info", "error"]) == "debug, info or error"
    assert describe(hints["name"]) == "text, ^[a-z]+$"
    assert describe(hints["title"]) == "text, up to 5 characters"
    assert describe(annotations_of(Part)["size"]) == "whole number, at least 0, less than 10"
    assert describe(hints["parts"]) == "table"
    assert describe(hints["value"]) == "text, whole number or number"
