"""Arguments with placeholders for an event's payload or a schedule's slot: `{"model_id": "{{event.model}}"}`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from gribmill.queue.errors import BadArguments

PLACE = re.compile(r"\{\{\s*([A-Za-z_]\w*(?:\.\w+)*)\s*\}\}")
DEEPEST = 20
# Each placeholder may expand to the whole payload.
MOST_PLACES = 100


def check_template(template: Mapping[str, Any], root: str) -> bool:
    """Whether the template has placeholders; raises BadArguments if one could never be filled from `root`'s fields."""
    text = json.dumps(template, ensure_ascii=False)
    places = PLACE.findall(text)
    if len(places) > MOST_PLACES:
        raise BadArguments(f"a template has at most {MOST_PLACES} placeholders, not {len(places)}")
    if "{{" in PLACE.sub("", text):
        raise BadArguments("a placeholder is written as {{name.name}}; there is a {{ that does not begin one")
    for place in places:
        if place.partition(".")[0] != root:
            raise BadArguments(
                f"{{{{{place}}}}} is never filled here; placeholders begin with {root}, as in {{{{{root}.…}}}}"
            )
    return bool(places)


def render(template: Any, fields: Mapping[str, Any], depth: int = 0) -> Any:
    """Fill the placeholders. A string that consists of a single placeholder becomes the value itself."""
    if depth > DEEPEST:
        raise BadArguments(f"a template may be at most {DEEPEST} levels deep")
    if isinstance(template, dict):
        return {key: render(value, fields, depth + 1) for key, value in template.items()}
    if isinstance(template, list):
        return [render(value, fields, depth + 1) for value in template]
    if not isinstance(template, str):
        return template
    if whole := PLACE.fullmatch(template):
        return _look_up(whole[1], fields)
    return PLACE.sub(lambda place: _text(_look_up(place[1], fields)), template)


def _text(value: Any) -> str:
    """Format a value for use inside a string, as in JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _look_up(path: str, fields: Mapping[str, Any]) -> Any:
    value: Any = fields
    for name in path.split("."):
        if not isinstance(value, Mapping) or name not in value:
            raise BadArguments(f"the template asks for {{{{{path}}}}}, which is not there")
        value = value[name]
    return value
