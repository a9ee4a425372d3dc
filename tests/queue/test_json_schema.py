"""JSON Schemas of payloads: what is refused when they are stored, and what checks of payloads may cost."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gribmill.queue.errors import BadDefinition
from gribmill.queue.json_schema import DIALECT, check_schema, first_problem

TWICE: dict[str, Any] = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(40)}
DOUBLED: dict[str, Any] = {"$ref": "#/$defs/d0", "$defs": {**TWICE, "d40": {"type": "object"}}}


def problem(schema: dict[str, Any], payload: dict[str, Any]) -> str | None:
    return first_problem(json.dumps(schema), payload)


@pytest.mark.parametrize("dialect", [{}, {"$schema": DIALECT}])
def test_references_that_double_are_given_up(dialect: dict[str, Any]) -> None:
    everywhere = {name: {**part, **dialect} for name, part in DOUBLED["$defs"].items()}
    found = problem({**DOUBLED, **dialect, "$defs": everywhere}, {})
    assert found == "the JSON Schema of this type cannot be used: the check takes too long"


def test_patterns_do_not_backtrack() -> None:
    hostile = "a" * 3000 + "!"
    assert "does not match" in str(problem({"properties": {"word": {"pattern": "^(a+)+$"}}}, {"word": hostile}))
    names = {"patternProperties": {"^(a+)+$": {"type": "string"}}, "additionalProperties": False}
    assert "unexpected" in str(problem(names, {hostile: 1}))
    assert problem(names, {"aa": 1}) == "aa: 1 is not of type 'string'"
    assert problem(names, {"aa": "x"}) is None
    assert "at most 4000 characters" in str(problem({"properties": {"w": {"pattern": "a"}}}, {"w": "a" * 4001}))


@pytest.mark.parametrize("keyword", ["unevaluatedItems", "unevaluatedProperties"])
def test_quadratic_keywords_are_not_supported(keyword: str) -> None:
    with pytest.raises(BadDefinition, match=f"{keyword} is not supported"):
        check_schema({"properties": {"x": {keyword: False}}})
    # A schema that was stored by hand, or is reached by a reference to what is no schema.
    hidden = {"$ref": "#/default", "default": {keyword: False}}
    assert "not supported" in str(problem(hidden, {}))


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(?=a)b", "look-around"),
        (r"(a)\1", "backreferences are not supported"),
        ("(a", "unclosed group"),
        ("(a{0,100}){0,100}", "repeats too often"),
        ("(?x)(a{0,100}) {100}", "repeats too often"),
        ("a{5001}", "repeats too often"),
        ("a{99999999}", "repeats too often"),
        (r"\w{1000}", "exceeds size limit"),
        ("a" * 501, "longer than 500 characters"),
    ],
)
def test_patterns_that_cannot_be_matched_fast_are_refused(pattern: str, reason: str) -> None:
    schemas: list[dict[str, Any]] = [
        {"properties": {"word": {"pattern": pattern}}},
        {"patternProperties": {pattern: {}}},
    ]
    for schema in schemas:
        with pytest.raises(BadDefinition, match=reason):
            check_schema(schema)


@pytest.mark.parametrize(
    "pattern",
    [
        r"^\d{4}-\d{2}-\d{2}$",
        r"^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63}){0,10}$",
        r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
        r"^(?:s3|https)://[^\s/]+/\S*$",
    ],
)
def test_usual_patterns_are_accepted(pattern: str) -> None:
    word = {"pattern": pattern}
    assert json.loads(check_schema({"properties": {"word": word}})) == {"properties": {"word": word}}


def test_a_schema_that_takes_too_long_to_validate_is_refused() -> None:
    with pytest.raises(BadDefinition, match="takes too long"):
        check_schema({"allOf": [{}] * 20_000})


def test_other_dialects_are_refused() -> None:
    with pytest.raises(BadDefinition, match="its dialect must be"):
        check_schema({"$schema": "http://json-schema.org/draft-07/schema#"})


@pytest.mark.parametrize(
    ("items", "unique"),
    [([1, 1.0], False), ([1, True], True), ([{"a": [1]}, {"a": [1.0]}], False), ([{"a": 1}, {"a": 2}, [1]], True)],
)
def test_unique_items_are_compared_as_in_json(items: list[Any], unique: bool) -> None:
    found = problem({"properties": {"x": {"uniqueItems": True}}}, {"x": items})
    assert (found is None) == unique


def test_additional_properties_may_have_a_schema() -> None:
    schema = {"properties": {"a": {}}, "additionalProperties": {"type": "integer"}}
    assert problem(schema, {"a": "x", "b": 1}) is None
    assert problem(schema, {"b": "x"}) == "b: 'x' is not of type 'integer'"
