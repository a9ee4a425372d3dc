"""Options that take several names: repeated, or separated by commas."""

from __future__ import annotations

import click


def names_in(*texts: str) -> tuple[str, ...]:
    """Each name once, in the order given."""
    words = (word.strip() for text in texts for word in text.split(","))
    return tuple(dict.fromkeys(word for word in words if word))


def parse_names(ctx: click.Context, param: click.Parameter, value: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """The callback of an option that takes names. An empty value does not mean all names."""
    texts = value if isinstance(value, tuple) else () if value is None else (value,)
    names = names_in(*texts)
    if texts and not names:
        raise click.BadParameter("no name is given; omit the option or give names separated by commas")
    return names
