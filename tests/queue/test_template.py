"""Places in arguments, filled with what an occasion tells."""

from __future__ import annotations

from typing import Any

import pytest

from gribmill.queue.errors import BadArguments
from gribmill.queue.template import has_places, render

TOLD = {"event": {"model": "hrrr", "hour": 5, "list": [1, 2], "deep": {"er": "x"}}}


@pytest.mark.parametrize(
    ("template", "made"),
    [
        ({"hour": "{{event.hour}}"}, {"hour": 5}),
        ({"hour": "{{ event.hour }}"}, {"hour": 5}),
        ({"text": "f{{event.hour}} of {{event.model}}"}, {"text": "f5 of hrrr"}),
        ({"all": ["{{event.list}}", "{{event.deep.er}}", 7, None, True]}, {"all": [[1, 2], "x", 7, None, True]}),
        ({"plain": "{not a place}", "{{event.model}}": 1}, {"plain": "{not a place}", "{{event.model}}": 1}),
    ],
)
def test_places_are_filled_with_values_of_their_kind(template: Any, made: Any) -> None:
    assert render(template, TOLD) == made


@pytest.mark.parametrize(
    "place", ["event.no", "event.model.no", "event.list.0", "other", "__class__", "event.__class__"]
)
def test_place_that_is_not_told_of_is_named(place: str) -> None:
    with pytest.raises(BadArguments, match=rf"\{{\{{{place}\}}\}}, which is not told"):
        render({"a": f"{{{{{place}}}}}"}, TOLD)


def test_filled_places_are_not_read_again() -> None:
    assert render("{{event.a}}", {"event": {"a": "{{event.b}}", "b": 1}}) == "{{event.b}}"


def test_bottomless_template_is_refused() -> None:
    deep: Any = "{{event.model}}"
    for _ in range(50):
        deep = [deep]
    with pytest.raises(BadArguments, match="20 levels"):
        render(deep, TOLD)


@pytest.mark.parametrize(("template", "any_left"), [({"a": ["{{b}}"]}, True), ({"a": "b"}, False), ({}, False)])
def test_whether_anything_is_left_to_tell(template: Any, any_left: bool) -> None:
    assert has_places(template) is any_left
