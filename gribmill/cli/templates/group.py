"""`gribmill templates`: one file per verb."""

from __future__ import annotations

import click

from gribmill.cli.lazy_group import LazyGroup

VERBS = {
    "add": ("gribmill.cli.templates.add:add", "Name a set of arguments and options."),
    "edit": ("gribmill.cli.templates.edit:edit", "Change a template for the jobs to come."),
    "list": ("gribmill.cli.templates.listing:list_templates", "List templates."),
    "remove": ("gribmill.cli.templates.remove:remove", "Remove a template that no trigger uses."),
    "run": ("gribmill.cli.templates.run:run", "Enqueue a job of a template."),
    "show": ("gribmill.cli.templates.show:show", "Show one template, and what uses it."),
}


@click.group(cls=LazyGroup, table=VERBS)
def templates() -> None:
    """Save arguments and options under a name, and enqueue jobs from them.

    A template has a job type, some or all of its arguments, and options such as priority and timeout.
    `gribmill jobs enqueue --template NAME` and `gribmill triggers add --template NAME` create jobs
    from it; both can override arguments. Changing a template does not affect existing jobs.

    \b
    gribmill templates add nap sleep '{"seconds": 2}' --priority 5
    gribmill templates run nap --set say=hello
    gribmill triggers add "every night" --template nap --cron "0 3 * * *"
    """
