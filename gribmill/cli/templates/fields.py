"""Options shared by `add` and `edit`, and how a template is reported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from gribmill.cli.jobs.move import PRIORITY
from gribmill.cli.options.duration import DURATION

TENANT = click.option(
    "--tenant", default="global", show_default=True, help="The tenant that the template and its jobs belong to."
)
OPTION_FIELDS = ("description", "priority", "timeout_seconds", "max_attempts", "dedupe_key")


def option_fields(command: Callable[..., None]) -> Callable[..., None]:
    """The options of a template's jobs."""
    options = [
        click.option("--description", metavar="TEXT", help="One sentence for listings."),
        click.option("--priority", type=PRIORITY, help="Priority of the jobs; higher runs first."),
        click.option("--timeout", "timeout_seconds", type=DURATION, help="Stop an attempt that takes longer."),
        click.option("--max-attempts", type=click.IntRange(1, 1000), help="Maximum number of attempts."),
        click.option("--dedupe", "dedupe_key", metavar="KEY", help="Allow only one active job with this key."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def given_fields(values: dict[str, Any]) -> dict[str, Any]:
    """The options that were given, as fields of a template."""
    given = {name: values[name] for name in OPTION_FIELDS if values.get(name) is not None}
    if "timeout_seconds" in given:
        given["timeout_seconds"] = max(1, round(given["timeout_seconds"]))
    return given
