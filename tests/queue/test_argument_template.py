"""Placeholders in arguments, replaced by values of the event or slot."""

from __future__ import annotations

from typing import Any

import pytest

from gribmill.queue.argument_template import check_template, render
from gribmill.queue.errors import BadArguments

PAYLOAD = {"event": {"model": "hrrr", "hour": 5, "yes": True, "list": [1, 2], "deep": {"er": "x"}}}


@pytest.mark.parametrize(
    ("template", "made"),
    [
        ({"hour": "{{event.hour}}"}, {"hour": 5}),
        ({"hour": "{{ event.hour }}"}, {"hour": 5}),
        ({"text": "f{{event.hour}} of {{event.model}}"}, {"text": "f5 of hrrr"}),
        ({"text": "{{event.yes}} {{event.list}} {{event.deep}}"}, {"text": 'true [1, 2] {"er": "x"}'}),
        ({"all": ["{{event.list}}", "{{event.deep.er}}", 7, None, True]}, {"all": [[1, 2], "x", 7, None, True]}),
        ({"plain": "{not a place}", "{{event.model}}": 1}, {"plain": "{not a place}", "{{event.model}}": 1}),
    ],
)
def test_placeholders_are_replaced_by_values_of_the_right_type(template: Any, made: Any) -> None:
    assert render(template, PAYLOAD) == made


@pytest.mark.parametrize(
    "place", ["event.no", "event.model.no", "event.list.0", "other", "__class__", "event.__class__"]
)
def test_a_placeholder_without_a_value_is_named_in_the_error(place: str) -> None:
    with pytest.raises(BadArguments, match=rf"\{{\{{{place}\}}\}}, which is not there"):
        render({"a": f"{{{{{place}}}}}"}, PAYLOAD)


def test_inserted_values_are_not_expanded_again() -> None:
    assert render("{{event.a}}", {"event": {"a": "{{event.b}}", "b": 1}}) == "{{event.b}}"


def test_a_template_nested_too_deeply_is_refused() -> None:
    deep: Any = "{{event.model}}"
    for _ in range(50):
        deep = [deep]
    with pytest.raises(BadArguments, match="20 levels"):
        render(deep, PAYLOAD)


@pytest.mark.parametrize(
    ("template", "any_left"), [({"a": ["{{event.b}}"]}, True), ({"a": "b"}, False), ({}, False), ({"a": "{b}"}, False)]
)
def test_placeholders_in_a_template_are_detected(template: Any, any_left: bool) -> None:
    assert check_template(template, "event") is any_left


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ({"a": "{{schedule.slot}}"}, "never filled here; placeholders begin with event"),
        ({"a": ["{{evnt.n}}"]}, "never filled here"),
        ({"a": "{{event.x"}, "a {{ that does not begin one"),
        ({"a": "{{}}"}, "a {{ that does not begin one"),
        ({"a": "{{event.x}}" * 101}, "at most 100 placeholders"),
    ],
)
def test_an_unknown_placeholder_is_refused(template: Any, reason: str) -> None:
    with pytest.raises(BadArguments, match=reason):
        check_template(template, "event")
