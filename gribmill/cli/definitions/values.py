"""Parses and formats the values of a definition."""

from __future__ import annotations

from typing import Any

import click

from gribmill.cli.jobs.json_input import parse_object
from gribmill.cli.options.duration import parse_duration
from gribmill.errors import quoted
from gribmill.queue.model import TUNABLE

DURATIONS = ("timeout_seconds", "backoff_base_s", "backoff_cap_s")
WHOLE = ("timeout_seconds", "max_attempts", "batch_max", "max_running", "poll_limit")
UNLIMITED = ("max_running", "poll_limit")


def parse_values(ctx: click.Context, param: click.Parameter, words: tuple[str, ...]) -> dict[str, Any]:
    """NAME=VALUE words as a dictionary."""
    found: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise click.BadParameter(f"{quoted(word)} is not NAME=VALUE, such as timeout_seconds=10m")
        if name not in TUNABLE:
            raise click.BadParameter(f"{quoted(name)} cannot be set; these can: {', '.join(TUNABLE)}")
        if name in found:
            raise click.BadParameter(f"{name} is given twice")
        found[name] = _parse(name, text.strip())
    return found


def _parse(name: str, text: str) -> Any:
    """Parse one value. The store checks its bounds."""
    if name == "resources":
        return [tag.strip() for tag in text.split(",") if tag.strip()]
    if name == "default_args":
        return parse_object(text, "default_args")
    if name in UNLIMITED and text == "none":
        return None
    if name in DURATIONS:
        seconds = parse_duration(text)
        if seconds is None:
            raise click.BadParameter(f"{name}: {quoted(text)} is not a duration; use seconds (90) or 20m, 2h, 1d 12h")
        return round(seconds) if name in WHOLE else seconds
    if name in WHOLE or name == "backoff_jitter":
        try:
            return int(text) if name in WHOLE else float(text)
        except ValueError:
            also = ", or none" if name in UNLIMITED else ""
            raise click.BadParameter(f"{name}: {quoted(text)} is not a number{also}") from None
    return text


def shown(value: Any) -> str:
    """A value as one line of text."""
    if value is None:
        return "none"
    if isinstance(value, list | tuple):
        return ",".join(map(str, value)) or "none"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)
