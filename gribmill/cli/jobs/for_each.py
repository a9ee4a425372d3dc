"""Acts on several jobs or triggers, and reports on each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import click

from gribmill.cli.output import print_json
from gribmill.errors import sentence
from gribmill.queue.errors import QueueError, StoreError
from gribmill.views.queue.job_result import DoneView, RefusedView

DoneT = TypeVar("DoneT", bound=DoneView)


def for_each(
    ids: Iterable[int], act: Callable[[int], tuple[str, DoneT]], *, as_json: bool, quiet: bool = False
) -> list[DoneT]:
    """Act on each job, and print its result or refusal as a sentence or as JSON; returns the views of the results.

    Exits with 1 if a job was refused; with `quiet`, prints only refusals, and the caller exits after its summary.
    If the database is unusable, stops at once, because the next id would fail too.
    """
    done: list[DoneT] = []
    views: list[DoneView | RefusedView] = []
    for job_id in ids:
        try:
            words, view = act(job_id)
        except StoreError:
            raise
        except QueueError as refusal:
            views.append(RefusedView(id=job_id, error=str(refusal)))
            if not as_json:
                click.echo(f"error: {sentence(str(refusal))}", err=True)
        else:
            done.append(view)
            views.append(view)
            if not as_json and not quiet:
                click.echo(words)
    if as_json:
        print_json(views)
    if len(done) < len(views) and not quiet:
        raise SystemExit(1)
    return done
