"""Ids of jobs and triggers."""

from __future__ import annotations

from collections.abc import Sequence

import click

# Beyond SQLite's integers there is no id.
LARGEST_ID = 2**63 - 1


class Id(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4 only
    """The id of a job or a trigger."""

    name = "id"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        word = str(value).strip()
        if not (word.isdecimal() and len(word) < 20) or not 0 < int(word) <= LARGEST_ID:
            self.fail(f"{value!r} is no id: an id is a number, such as 12", param, ctx)
        return int(word)


ID = Id()


def parse_ids(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[int, ...]:
    """Ids as several words, or several in one word separated by commas; each once, in order."""
    words = [word for value in values for word in value.split(",") if word.strip()]
    if values and not words:
        raise click.BadParameter("it names no id")
    return tuple(dict.fromkeys(ID.convert(word, param, ctx) for word in words))
