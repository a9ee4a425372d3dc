"""`gribmill jobs retry`: run finished jobs again."""

from __future__ import annotations

from typing import Any

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.jobs.choose_jobs import choice_options, chosen_ids, parse_choice
from gribmill.cli.jobs.for_each import for_each
from gribmill.cli.options.ids import parse_ids
from gribmill.cli.text.counted import counted
from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.model import DEAD_LETTER
from gribmill.settings.schema import Settings
from gribmill.views.queue.job_result import RetriedView

STATUSES = ("failed", DEAD_LETTER, "cancelled", "completed")


@click.command()
@click.argument("ids", nargs=-1, callback=parse_ids, metavar="[ID...]")
@choice_options(STATUSES)
@click.pass_obj
def retry(settings: Settings, /, ids: tuple[int, ...], **options: Any) -> None:
    """Run finished jobs again, each as a new job that refers to the old one.

    Give job ids, or select jobs with filters (failed jobs, unless --status is given). The old jobs
    are not changed. A job is retried once: if it was already retried, or an equal job is active,
    no second one is enqueued. Exit code 1 if any job could not be retried.

    \b
    gribmill jobs retry 12 13
    gribmill jobs retry --status failed --since 1h
    gribmill jobs retry --type build_tile --dry-run
    """
    choice = parse_choice(ids, **options)
    store = open_queue(settings)
    chosen = chosen_ids(store, choice, STATUSES[0], "retry", retried=False)
    if chosen is None:
        return

    def act(job_id: int) -> tuple[str, RetriedView]:
        made = store.jobs.retry(job_id, created_by=current_user())
        view = RetriedView(id=job_id, new_id=made.id, created=made.created)
        if made.created:
            return f"job {job_id} runs again as job {made.id}", view
        there = store.jobs.get(made.id)
        if there.retry_of == job_id:
            return f"job {job_id} was retried already, as job {made.id} ({there.status})", view
        return f"job {job_id} is not enqueued again: an equal job, {made.id}, is active already", view

    done = for_each(chosen, act, as_json=choice.as_json, quiet=not choice.ids)
    if not choice.ids and not choice.as_json:
        made = sum(view.created for view in done)
        active = len(done) - made
        equal = f"; not needed for {active}: equal jobs are active" if active else ""
        click.echo(f"retried {counted(made, 'job')}{equal}")
    if len(done) < len(chosen):
        raise SystemExit(1)
