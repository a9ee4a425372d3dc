"""`gribmill jobs move`: change the order of pending jobs."""

from __future__ import annotations

from collections.abc import Callable

import click

from gribmill.cli.options.ids import ID
from gribmill.pipeline.open_queue import open_queue
from gribmill.settings.schema import Settings

PRIORITY = click.IntRange(-(2**31) + 1, 2**31 - 1)


@click.command()
@click.argument("job_id", type=ID, required=False, metavar="[ID]")
@click.option("--front", is_flag=True, help="Before all pending jobs of its priority.")
@click.option("--back", is_flag=True, help="After all pending jobs of its priority; new jobs go behind it.")
@click.option("--before", type=ID, metavar="K", help="Directly before job K, with the priority of K.")
@click.option("--after", type=ID, metavar="K", help="Directly after job K, with the priority of K.")
@click.option("--priority", type=PRIORITY, metavar="N", help="Change the priority; higher runs first.")
@click.option("--now", is_flag=True, help="Make a delayed job ready at once.")
@click.option("--normalize", type=PRIORITY, metavar="P", help="Renumber the moved jobs of priority P; the order stays.")
@click.pass_obj
def move(
    settings: Settings,
    job_id: int | None,
    front: bool,
    back: bool,
    before: int | None,
    after: int | None,
    priority: int | None,
    now: bool,
    normalize: int | None,
) -> None:
    """Move a pending job in the queue.

    \b
    gribmill jobs move 12 --front
    gribmill jobs move 12 --before 7
    gribmill jobs move --normalize 0
    """
    choices = [front, back, before is not None, after is not None, priority is not None, now, normalize is not None]
    if sum(choices) != 1:
        raise click.UsageError(
            "choose one of --front, --back, --before K, --after K, --priority N, --now, --normalize P"
        )
    if (job_id is None) != (normalize is not None):
        raise click.UsageError("--normalize takes no job id; the other options need one")
    store = open_queue(settings)
    if normalize is not None:
        click.echo(f"{store.jobs.renumber(normalize)} jobs of priority {normalize} renumbered, order unchanged")
        return
    assert job_id is not None
    act: Callable[[], None]
    if front:
        act, where = lambda: store.jobs.move_to_front(job_id), "is at the front of its priority"
    elif back:
        act, where = lambda: store.jobs.move_to_back(job_id), "is at the back of its priority"
    elif before is not None:
        act, where = lambda: store.jobs.move_before(job_id, before), f"runs before job {before}"
    elif after is not None:
        act, where = lambda: store.jobs.move_after(job_id, after), f"runs after job {after}"
    elif priority is not None:
        act, where = lambda: store.jobs.set_priority(job_id, priority), f"has priority {priority}"
    else:
        act, where = lambda: store.jobs.run_now(job_id), "is no longer delayed"
    act()
    click.echo(f"job {job_id} {where}")
