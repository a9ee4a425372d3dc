"""Describes in words what an annotation allows."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from gribmill.checked.constraints import Bounds, Length, Matches, digits

_KINDS = {
    str: "text",
    Path: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    list: "list",
    tuple: "list",
    dict: "table",
}


def describe(hint: Any) -> str:
    """The values that an annotation allows: `number, 0 to 3600`, `full or normal`."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " or ".join(str(choice) for choice in inner)
    if origin in (Union, types.UnionType):
        return " or ".join(describe(one) for one in inner if one is not types.NoneType)
    if origin is Annotated:
        return ", ".join([describe(inner[0]), *_demands(inner[0], inner[1:])])
    return _KINDS.get(origin or hint, "table")


def _demands(hint: Any, constraints: tuple[Any, ...]) -> list[str]:
    words = []
    for one in constraints:
        match one:
            case Bounds():
                words += _limits(one)
            case Matches():
                words.append(f"^{one.pattern}$")
            case Length(most=int()) if hint is str:
                words.append(f"up to {one.most} characters")
    return words


def _limits(bounds: Bounds) -> list[str]:
    if bounds.ge is not None and bounds.le is not None:
        return [f"{digits(bounds.ge)} to {digits(bounds.le)}"]
    words = {"at least": bounds.ge, "more than": bounds.gt, "at most": bounds.le, "less than": bounds.lt}
    return [f"{word} {digits(limit)}" for word, limit in words.items() if limit is not None]
