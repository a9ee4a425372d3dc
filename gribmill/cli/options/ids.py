"""Ids of jobs and triggers."""

from __future__ import annotations

from collections.abc import Sequence

import click

# The largest integer in SQLite.
LARGEST_ID = 2**63 - 1


class Id(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4 only
    """The id of a job or a trigger."""

    name = "id"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        word = str(value).strip()
        if not (word.isdecimal() and len(word) < 20) or not 0 < int(word) <= LARGEST_ID:
            self.fail(f"{value!r} is not an id; an id is a number, such as 12", param, ctx)
        return int(word)


ID = Id()


def parse_ids(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[int, ...]:
    """Ids as separate arguments or separated by commas; each once, in the order given."""
    words = [word for value in values for word in value.split(",") if word.strip()]
    if values and not words:
        raise click.BadParameter("no id is given")
    return tuple(dict.fromkeys(ID.convert(word, param, ctx) for word in words))


IDS = click.argument("ids", nargs=-1, required=True, callback=parse_ids, metavar="ID...")
