"""`gribmill triggers`: rules that enqueue jobs."""

from __future__ import annotations

import click

from gribmill.cli.lazy_group import LazyGroup

VERBS = {
    "add": ("gribmill.cli.triggers.change:add", "Enqueue jobs of TYPE on a schedule or in response to an event."),
    "disable": ("gribmill.cli.triggers.change:disable", "Disable triggers."),
    "edit": ("gribmill.cli.triggers.change:edit", "Change a trigger."),
    "emit": ("gribmill.cli.triggers.fire:emit", "Report an event NAME, with values in JSON."),
    "enable": ("gribmill.cli.triggers.change:enable", "Enable triggers."),
    "fire": ("gribmill.cli.triggers.fire:fire", "Enqueue the job of a trigger now, even if it is disabled."),
    "list": ("gribmill.cli.triggers.listing:list_", "List triggers, and when each fired last and fires next."),
    "preview": (
        "gribmill.cli.triggers.preview:preview",
        "Show the next slots of a schedule, without adding a trigger.",
    ),
    "remove": ("gribmill.cli.triggers.change:remove", "Remove triggers."),
}


@click.group(cls=LazyGroup, table=VERBS)
def triggers() -> None:
    """Enqueue jobs on a schedule or in response to events.

    Workers fire the schedules. Each slot of a schedule enqueues one job, no matter how many workers
    are running. The scans of `gribmill run` are listed as well; it adapts their times to when each
    model is published. Disable one to pause the scans of a model, fire it to scan now.
    """
