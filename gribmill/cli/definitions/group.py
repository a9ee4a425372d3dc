"""`gribmill definitions`: job types as declared in code, and as changed by operators."""

from __future__ import annotations

import click

from gribmill.cli.lazy_group import LazyGroup

VERBS = {
    "add": ("gribmill.cli.definitions.change:add", "Add a job type that runs a command."),
    "activate": ("gribmill.cli.definitions.change:activate", "Accept and run jobs of some types again."),
    "deactivate": ("gribmill.cli.definitions.change:deactivate", "Accept and start no more jobs of some types."),
    "edit": ("gribmill.cli.definitions.change:edit", "Change values of a job type."),
    "list": ("gribmill.cli.definitions.listing:list_definitions", "List the job types and what operators changed."),
    "remove": ("gribmill.cli.definitions.change:remove", "Remove a type that was added and has no jobs."),
    "reset": ("gribmill.cli.definitions.change:reset", "Return to the values of the code."),
    "show": ("gribmill.cli.definitions.listing:show", "Show one job type: declared, changed and effective values."),
}


@click.group(cls=LazyGroup, table=VERBS)
def definitions() -> None:
    """List and tune job types, and add types that run commands.

    Changes to built-in job types survive upgrades and restarts. Running workers apply a
    change within seconds.
    """
