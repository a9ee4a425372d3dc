"""Names as people write them: one option repeated, or several with commas in one."""

from __future__ import annotations

import click


def names_in(*texts: str) -> tuple[str, ...]:
    """Each name once, in the order given."""
    words = (word.strip() for text in texts for word in text.split(","))
    return tuple(dict.fromkeys(word for word in words if word))


def parse_names(ctx: click.Context, param: click.Parameter, value: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """The callback of an option that takes names. One that is given without any does not mean all of them."""
    texts = value if isinstance(value, tuple) else () if value is None else (value,)
    names = names_in(*texts)
    if texts and not names:
        raise click.BadParameter("it names nothing: leave it out, or give names with commas between them")
    return names
