"""`gribmill jobs retry`: run finished jobs again."""

from __future__ import annotations

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.jobs.for_each import for_each
from gribmill.cli.options.ids import parse_ids
from gribmill.pipeline.open_queue import open_queue
from gribmill.settings.schema import Settings
from gribmill.views.job_result import RetriedView


@click.command()
@click.argument("ids", nargs=-1, required=True, callback=parse_ids, metavar="ID...")
@click.option("--json", "as_json", is_flag=True, help="The result for each job, as JSON.")
@click.pass_obj
def retry(settings: Settings, ids: tuple[int, ...], as_json: bool) -> None:
    """Run finished jobs again, each as a new job that refers to the old one.

    The old jobs stay as they are. If an equal job is active, no second one is enqueued.
    Exit code 1 if any was refused.
    """
    store = open_queue(settings)

    def act(job_id: int) -> tuple[str, RetriedView]:
        made = store.jobs.retry(job_id, created_by=current_user())
        view = RetriedView(id=job_id, new_id=made.id, created=made.created)
        if made.created:
            return f"job {job_id} runs again as job {made.id}", view
        return f"job {job_id} is not enqueued again: an equal job, {made.id}, is active already", view

    for_each(ids, act, as_json=as_json)
