"""Arguments with places for what an event or a schedule tells: `{"model_id": "{{event.model}}"}`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from gribmill.queue.errors import BadArguments

PLACE = re.compile(r"\{\{\s*([A-Za-z_]\w*(?:\.\w+)*)\s*\}\}")
DEEPEST = 20
# Each may be filled with all that was told.
MOST_PLACES = 100


def check_template(template: Mapping[str, Any], root: str) -> bool:
    """Whether there are places. BadArguments when one of them could never be filled from what `root` tells."""
    text = json.dumps(template, ensure_ascii=False)
    places = PLACE.findall(text)
    if len(places) > MOST_PLACES:
        raise BadArguments(f"a template has at most {MOST_PLACES} places, not {len(places)}")
    if "{{" in PLACE.sub("", text):
        raise BadArguments("a place is written as {{name.name}}: there is a {{ that begins none")
    for place in places:
        if place.partition(".")[0] != root:
            raise BadArguments(
                f"{{{{{place}}}}} is never told here; the places begin with {root}, as in {{{{{root}.…}}}}"
            )
    return bool(places)


def render(template: Any, told: Mapping[str, Any], depth: int = 0) -> Any:
    """The template with its places filled. A text that is nothing but one place becomes the value itself."""
    if depth > DEEPEST:
        raise BadArguments(f"a template more than {DEEPEST} levels deep is not read")
    if isinstance(template, dict):
        return {key: render(value, told, depth + 1) for key, value in template.items()}
    if isinstance(template, list):
        return [render(value, told, depth + 1) for value in template]
    if not isinstance(template, str):
        return template
    if whole := PLACE.fullmatch(template):
        return _look_up(whole[1], told)
    return PLACE.sub(lambda place: _text(_look_up(place[1], told)), template)


def _text(value: Any) -> str:
    """Inside a text, as JSON writes it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _look_up(path: str, told: Mapping[str, Any]) -> Any:
    value: Any = told
    for name in path.split("."):
        if not isinstance(value, Mapping) or name not in value:
            raise BadArguments(f"the template asks for {{{{{path}}}}}, which is not told")
        value = value[name]
    return value
