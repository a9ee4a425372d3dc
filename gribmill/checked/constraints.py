"""Constraints for annotations, such as Annotated[float, Bounds(ge=0)], and fields with a description."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any, NamedTuple


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

    def compile(self) -> re.Pattern[str]:
        return re.compile(self.pattern)


class Before(NamedTuple):
    """A function that is called with the value before it is checked; it may change the value or raise ValueError."""

    function: Callable[[Any], Any]


class After(NamedTuple):
    """A function that is called with the checked value; it may change the value or raise ValueError."""

    function: Callable[[Any], Any]


_REQUIRED: Any = dataclasses.MISSING


def field(
    default: Any = _REQUIRED, *, default_factory: Any = _REQUIRED, description: str = "", secret: bool = False
) -> Any:
    """A field of a dataclass with its description. `key` in a field's metadata is its name in tables, if that
    differs from the Python name. A secret is not in the `repr`."""
    metadata = {"description": description}
    if default_factory is not _REQUIRED:
        return dataclasses.field(default_factory=default_factory, metadata=metadata, repr=not secret)
    return dataclasses.field(default=default, metadata=metadata, repr=not secret)


def digits(number: float) -> str:
    """The number as text, without an exponent if it is whole: 1000000000, 0.05."""
    return str(int(number)) if number == int(number) else f"{number:g}"
