"""Act on several jobs or triggers, and report on each."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click

from gribmill.cli.output import print_json
from gribmill.errors import sentence
from gribmill.queue.errors import QueueError, StoreError
from gribmill.views.job_result import DoneView, RefusedView


def for_each(ids: Iterable[int], act: Callable[[int], tuple[str, DoneView]], *, as_json: bool) -> None:
    """Act on each job, and print a sentence or the view of the result, or the refusal. Exit 1 if one was refused.

    An unusable database ends the command at once: the next id would fail too.
    """
    done: list[DoneView | RefusedView] = []
    for job_id in ids:
        try:
            words, view = act(job_id)
        except StoreError:
            raise
        except QueueError as refusal:
            done.append(RefusedView(id=job_id, error=str(refusal)))
            if not as_json:
                click.echo(f"error: {sentence(str(refusal))}", err=True)
        else:
            done.append(view)
            if not as_json:
                click.echo(words)
    if as_json:
        print_json(done)
    if not all(one.ok for one in done):
        raise SystemExit(1)
