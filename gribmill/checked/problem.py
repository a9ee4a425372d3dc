"""The errors for a table with wrong values."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

WrongKind = Literal["unknown key", "missing", "value"]


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
