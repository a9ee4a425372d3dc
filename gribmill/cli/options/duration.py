"""Durations as people write them: `90`, `2h`, `1d 12h`."""

from __future__ import annotations

import re

import click

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
_PART = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)\s*([smhdw]?)")
MAX_SECONDS = 100 * 366 * 86_400.0


class DurationType(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4 only
    """A click parameter in seconds: a number, or numbers with the units s, m, h, d, w."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, int | float):
            return float(value)
        seconds = parse_duration(str(value))
        if seconds is None:
            self.fail(f"{value!r} is not a duration; use seconds (90) or units such as 20m, 2h, 1d 12h", param, ctx)
        return seconds


DURATION = DurationType()


def parse_duration(text: str) -> float | None:
    """Seconds, or None if the text is not a duration."""
    rest = text.strip().lower()
    if not rest:
        return None
    total, parts = 0.0, 0
    while rest:
        match = _PART.match(rest)
        # A number without a unit must be alone: `1h 30` might mean minutes or seconds.
        if not match or (not match[2] and (parts or match.end() != len(rest))):
            return None
        total += float(match[1]) * _UNITS[match[2] or "s"]
        parts += 1
        rest = rest[match.end() :].lstrip()
    return total if total <= MAX_SECONDS else None
