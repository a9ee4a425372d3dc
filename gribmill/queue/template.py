"""Arguments with places for what an event or a schedule tells: `{"model_id": "{{event.model}}"}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gribmill.queue.errors import BadArguments

PLACE = re.compile(r"\{\{\s*([A-Za-z_]\w*(?:\.\w+)*)\s*\}\}")
DEEPEST = 20


def render(template: Any, context: Mapping[str, Any], depth: int = 0) -> Any:
    """The template with its places filled. A text that is nothing but one place becomes the value itself."""
    if depth > DEEPEST:
        raise BadArguments(f"a template more than {DEEPEST} levels deep is not read")
    if isinstance(template, dict):
        return {key: render(value, context, depth + 1) for key, value in template.items()}
    if isinstance(template, list):
        return [render(value, context, depth + 1) for value in template]
    if not isinstance(template, str):
        return template
    if whole := PLACE.fullmatch(template):
        return _look_up(whole[1], context)
    return PLACE.sub(lambda place: str(_look_up(place[1], context)), template)


def has_places(template: Any, depth: int = 0) -> bool:
    """Whether anything in it is still to be told."""
    if isinstance(template, dict | list) and depth <= DEEPEST:
        values = template.values() if isinstance(template, dict) else template
        return any(has_places(value, depth + 1) for value in values)
    return isinstance(template, str) and PLACE.search(template) is not None


def _look_up(path: str, context: Mapping[str, Any]) -> Any:
    value: Any = context
    for name in path.split("."):
        if not isinstance(value, Mapping) or name not in value:
            raise BadArguments(f"the template asks for {{{{{path}}}}}, which is not told")
        value = value[name]
    return value
