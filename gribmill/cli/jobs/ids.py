"""Doing one thing to several jobs, reporting on each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import click

from gribmill.cli.output import print_json
from gribmill.queue.errors import QueueError, StoreError
from gribmill.views.job_result import DoneView, RefusedView

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


def for_each(ids: Iterable[int], act: Callable[[int], tuple[str, DoneView]], *, as_json: bool) -> None:
    """Act on each job: a sentence and a view when it went well, the refusal otherwise. Exit 1 when one was refused.

    A database that cannot be used ends it at once: the next id would fare no better.
    """
    done: list[DoneView | RefusedView] = []
    for job_id in ids:
        try:
            sentence, view = act(job_id)
        except StoreError:
            raise
        except QueueError as refusal:
            done.append(RefusedView(id=job_id, error=str(refusal)))
            if not as_json:
                click.echo(f"error: {refusal}", err=True)
        else:
            done.append(view)
            if not as_json:
                click.echo(sentence)
    if as_json:
        print_json(done)
    if not all(one.ok for one in done):
        raise SystemExit(1)
