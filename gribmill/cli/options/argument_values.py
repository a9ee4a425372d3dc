"""Arguments of a job as NAME=VALUE words."""

from __future__ import annotations

import json
from typing import Any

import click

from gribmill.errors import quoted


def parse_argument_values(ctx: click.Context, param: click.Parameter, words: tuple[str, ...]) -> dict[str, Any]:
    """Parse each value as JSON (`3`, `true`, `["a"]`) if possible, otherwise as a string."""
    found: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{quoted(word)} is not NAME=VALUE, such as hour=6")
        if name in found:
            raise click.BadParameter(f"{quoted(name)} is given twice")
        found[name] = _value(text)
    return found


def _value(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return text


def _refuse_constant(name: str) -> None:
    raise ValueError(name)
