"""`gribmill jobs cancel`: cancel pending jobs, and stop running ones."""

from __future__ import annotations

from typing import Any

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.jobs.choose_jobs import choice_options, chosen_ids, parse_choice
from gribmill.cli.jobs.for_each import for_each
from gribmill.cli.options.ids import parse_ids
from gribmill.cli.text.counted import counted
from gribmill.pipeline.open_queue import open_queue
from gribmill.settings.schema import Settings
from gribmill.views.queue.job_result import CancelledView

STATUSES = ("pending", "processing")


@click.command()
@click.argument("ids", nargs=-1, callback=parse_ids, metavar="[ID...]")
@click.option("--reason", metavar="TEXT", help="The reason, for the job's error message.")
@choice_options(STATUSES)
@click.pass_obj
def cancel(settings: Settings, /, ids: tuple[int, ...], reason: str | None, **options: Any) -> None:
    """Cancel jobs. A pending job ends at once; a running job is stopped by its worker.

    Give job ids, or select jobs with filters (pending jobs, unless --status is given). Jobs that
    depend on a cancelled job are cancelled too. Exit code 1 if any job could not be cancelled.

    \b
    gribmill jobs cancel 12 13
    gribmill jobs cancel --type ingest_grib --dry-run
    gribmill jobs cancel --status processing --group 'hrrr/20261116_00/003'
    """
    choice = parse_choice(ids, **options)
    store = open_queue(settings)
    chosen = chosen_ids(store, choice, STATUSES[0], "cancel")
    if chosen is None:
        return
    text = f"cancelled by {current_user()}" + (f": {reason[:1000]}" if reason else "")

    def act(job_id: int) -> tuple[str, CancelledView]:
        done = store.jobs.cancel(job_id, text)
        words = {
            "cancelled": f"job {job_id} is cancelled",
            "requested": f"job {job_id} is running; its worker has been asked to stop it",
        }[done]
        return words, CancelledView(id=job_id, result=done)

    done = for_each(chosen, act, as_json=choice.as_json, quiet=not choice.ids)
    if not choice.ids and not choice.as_json:
        ended = sum(view.result == "cancelled" for view in done)
        asked = len(done) - ended
        click.echo(
            f"cancelled {counted(ended, 'job')}" + (f"; workers have been asked to stop {asked}" if asked else "")
        )
    if len(done) < len(chosen):
        raise SystemExit(1)
