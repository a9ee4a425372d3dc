"""Constraints for annotations, such as Annotated[float, Bounds(ge=0)]: their text, and errors about wrong values."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

WrongKind = Literal["unknown key", "missing", "value"]
_REQUIRED: Any = dataclasses.MISSING
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


class Bounds(NamedTuple):
    """The smallest and largest allowed number."""

    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None


class Length(NamedTuple):
    """The smallest and largest allowed number of characters or items."""

    least: int = 0
    most: int | None = None


class Matches(NamedTuple):
    """A regular expression that a whole text must match."""

    pattern: str


class Before(NamedTuple):
    """A function that is called with the value before it is checked; it may change the value or raise ValueError."""

    function: Callable[[Any], Any]


class After(NamedTuple):
    """A function that is called with the checked value; it may change the value or raise ValueError."""

    function: Callable[[Any], Any]


def field(
    default: Any = _REQUIRED, *, default_factory: Any = _REQUIRED, description: str = "", secret: bool = False
) -> Any:
    """A field of a dataclass with its description. `key` in a field's metadata is its name in tables, if that
    differs from the Python name. A secret is not in the `repr`."""
    metadata = {"description": description}
    if default_factory is not _REQUIRED:
        return dataclasses.field(default_factory=default_factory, metadata=metadata, repr=not secret)
    return dataclasses.field(default=default, metadata=metadata, repr=not secret)


def describe(hint: Any) -> str:
    """The values that an annotation allows: `number, 0 to 3600`, `full or normal`."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return either(str(choice) for choice in inner)
    if origin in (Union, types.UnionType):
        return either(describe(one) for one in inner if one is not types.NoneType)
    if origin is Annotated:
        return ", ".join([describe(inner[0]), *_demands(inner[0], inner[1:])])
    return _KINDS.get(origin or hint, "table")


def either(words: Iterable[str]) -> str:
    """The words as alternatives: `full, normal or off`."""
    listed = list(words)
    return " or ".join([", ".join(listed[:-1]), listed[-1]] if len(listed) > 1 else listed)


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


def digits(number: float) -> str:
    """The number as text, without an exponent if it is whole: 1000000000, 0.05."""
    return str(int(number)) if number == int(number) else f"{number:g}"


class WrongValue(NamedTuple):
    """One wrong value: its place, the value, and what it should be."""

    place: tuple[int | str, ...]
    value: Any
    text: str
    kind: WrongKind = "value"

    @property
    def key(self) -> str:
        """The place as a dotted key; empty for the whole table."""
        return ".".join(str(part) for part in self.place)


class CheckFailed(ValueError):
    """A table is not valid; lists all its wrong values."""

    def __init__(self, problems: list[WrongValue]) -> None:
        super().__init__("; ".join(f"{problem.key}: {problem.text}" for problem in problems[:3]))
        self.problems = problems


def wrong(value: Any, text: str) -> CheckFailed:
    """The error for one value; the containing table prepends its place."""
    return CheckFailed([WrongValue((), value, text)])


def inside(part: int | str, error: CheckFailed) -> list[WrongValue]:
    """The problems of a part, with places relative to the whole."""
    return [problem._replace(place=(part, *problem.place)) for problem in error.problems]
