"""`gribmill jobs cancel`: jobs that are not to run, or not to go on."""

from __future__ import annotations

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.jobs.for_each import for_each
from gribmill.cli.options.ids import parse_ids
from gribmill.settings.schema import Settings
from gribmill.views.job_result import CancelledView


@click.command()
@click.argument("ids", nargs=-1, required=True, callback=parse_ids, metavar="ID...")
@click.option("--reason", metavar="TEXT", help="Why; it stands in the job's error message.")
@click.option("--json", "as_json", is_flag=True, help="What became of each, as JSON.")
@click.pass_obj
def cancel(settings: Settings, ids: tuple[int, ...], reason: str | None, as_json: bool) -> None:
    """Cancel jobs. A pending one ends at once; a running one is stopped by its worker.

    Jobs that wait on a cancelled one are cancelled with it.
    Exit code 1 when any of them was refused.
    """
    from gribmill.pipeline.open_queue import open_queue

    store = open_queue(settings)
    text = f"cancelled by {current_user()}" + (f": {reason[:1000]}" if reason else "")

    def act(job_id: int) -> tuple[str, CancelledView]:
        done = store.jobs.cancel(job_id, text)
        sentence = {
            "cancelled": f"job {job_id} is cancelled",
            "requested": f"job {job_id} is running: its worker has been asked to stop it",
        }[done]
        return sentence, CancelledView(id=job_id, result=done)

    for_each(ids, act, as_json=as_json)
