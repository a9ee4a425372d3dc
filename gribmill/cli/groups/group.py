"""`gribmill groups`: one file per verb."""

from __future__ import annotations

import click

from gribmill.cli.lazy_group import LazyGroup

VERBS = {
    "add": ("gribmill.cli.groups.add:add", "Add jobs to a group, and make it if there is none."),
    "cancel": ("gribmill.cli.groups.cancel:cancel", "Cancel all jobs of a group."),
    "list": ("gribmill.cli.groups.listing:list_groups", "List groups, newest first."),
    "retry": ("gribmill.cli.groups.retry:retry", "Run the failed jobs of a group again."),
    "show": ("gribmill.cli.groups.show:show", "Show one group and its jobs."),
}


@click.group(cls=LazyGroup, table=VERBS)
def groups() -> None:
    """Follow, cancel and retry jobs that belong together.

    A group is a named set of jobs: those of one `gribmill backfill`, or jobs that you add. Jobs
    enqueued by a job join its group. In a sequential group, each job waits for the one before it.
    When a job fails, the group stops (jobs that have not started are cancelled), continues, or
    skips the job (the group can still succeed).
    """
