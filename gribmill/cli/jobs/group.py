"""`gribmill jobs`: the table of its verbs."""

from __future__ import annotations

import click

from gribmill.cli.lazy_group import LazyGroup

VERBS = {
    "backup": ("gribmill.cli.jobs.maintenance:backup", "Copy the queue to a file while workers run."),
    "cancel": ("gribmill.cli.jobs.cancel_retry:cancel", "Cancel jobs."),
    "enqueue": ("gribmill.cli.jobs.enqueue:enqueue", "Enqueue one job or many."),
    "list": ("gribmill.cli.jobs.listing:list_jobs", "List jobs, newest first, or in the order in which they will run."),
    "logs": ("gribmill.cli.jobs.logs:logs", "Print what a job wrote, in full."),
    "move": ("gribmill.cli.jobs.move:move", "Move a pending job in the queue."),
    "pause": ("gribmill.cli.jobs.types:pause", "Start no more jobs of some types."),
    "prune": ("gribmill.cli.jobs.maintenance:prune", "Remove old finished jobs."),
    "release": ("gribmill.cli.jobs.reservations:release", "End reservations."),
    "reservations": ("gribmill.cli.jobs.reservations:reservations", "List active reservations."),
    "reserve": ("gribmill.cli.jobs.reservations:reserve", "Hold jobs back for a while."),
    "resume": ("gribmill.cli.jobs.types:resume", "Start jobs of paused types again."),
    "retry": ("gribmill.cli.jobs.cancel_retry:retry", "Run finished jobs again."),
    "show": ("gribmill.cli.jobs.show:show", "Show one job with its attempts and related jobs."),
    "stats": ("gribmill.cli.jobs.stats:stats", "Count jobs by type and status; waits and failures of the last hour."),
    "types": ("gribmill.cli.jobs.types:types", "List the job types and their arguments."),
    "verify": ("gribmill.cli.jobs.maintenance:verify", "Check every invariant of the queue."),
}


@click.group(cls=LazyGroup, table=VERBS)
def jobs() -> None:
    """List, enqueue, retry, cancel and check jobs.

    Exit codes: 0 success, 1 refused or failed, 2 usage error.
    """
