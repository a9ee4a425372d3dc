"""Names as people write them: one option repeated, or several with commas in one."""

from __future__ import annotations

import click


def names_in(*texts: str | None) -> tuple[str, ...]:
    """Each name once, in the order given."""
    words = (word.strip() for text in texts if text for word in text.split(","))
    return tuple(dict.fromkeys(word for word in words if word))


def parse_names(ctx: click.Context, param: click.Parameter, value: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """The callback of an option that takes names."""
    return names_in(*value) if isinstance(value, tuple) else names_in(value)
