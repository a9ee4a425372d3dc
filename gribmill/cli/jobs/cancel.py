"""`gribmill jobs cancel`: jobs that should not run, or should stop."""

from __future__ import annotations

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.jobs.for_each import for_each
from gribmill.cli.options.ids import parse_ids
from gribmill.pipeline.open_queue import open_queue
from gribmill.settings.schema import Settings
from gribmill.views.job_result import CancelledView


@click.command()
@click.argument("ids", nargs=-1, required=True, callback=parse_ids, metavar="ID...")
@click.option("--reason", metavar="TEXT", help="The reason, for the job's error message.")
@click.option("--json", "as_json", is_flag=True, help="The result for each job, as JSON.")
@click.pass_obj
def cancel(settings: Settings, ids: tuple[int, ...], reason: str | None, as_json: bool) -> None:
    """Cancel jobs. A pending job ends at once; a running job is stopped by its worker.

    Jobs that wait on a cancelled job are cancelled too. Exit code 1 if any was refused.
    """
    store = open_queue(settings)
    text = f"cancelled by {current_user()}" + (f": {reason[:1000]}" if reason else "")

    def act(job_id: int) -> tuple[str, CancelledView]:
        done = store.jobs.cancel(job_id, text)
        sentence = {
            "cancelled": f"job {job_id} is cancelled",
            "requested": f"job {job_id} is running; its worker has been asked to stop it",
        }[done]
        return sentence, CancelledView(id=job_id, result=done)

    for_each(ids, act, as_json=as_json)
