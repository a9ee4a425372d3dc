"""`gribmill definitions edit` and `reset`."""

from __future__ import annotations

from typing import Any

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.definitions.values import parse_values, shown
from gribmill.cli.output import print_json
from gribmill.errors import quoted
from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.model import TUNABLE, Definition
from gribmill.settings.schema import Settings
from gribmill.views.queue.definition import DefinitionView

AS_JSON = click.option("--json", "as_json", is_flag=True, help="The definition as JSON.")


@click.command()
@click.argument("key", metavar="TYPE")
@click.argument("values", nargs=-1, required=True, callback=parse_values, metavar="NAME=VALUE...")
@AS_JSON
@click.pass_obj
def edit(settings: Settings, key: str, values: dict[str, Any], as_json: bool) -> None:
    """Change values of a job type. They stay changed until they are reset.

    \b
    timeout_seconds  stop an attempt that takes longer (90, 10m, 2h)
    max_attempts     how often a job may fail before it is a dead letter
    backoff_base_s, backoff_cap_s, backoff_jitter
                     the wait before the first retry, the longest wait, and the largest
                     share by which a wait is shortened (0: exact)
    batch_max        how many jobs of one group run together
    max_running      how many of this type run at once, or none for no limit
    lane             the executors that run it (see workers.lanes in the settings)
    resources        tags, separated by commas; queue.resources in the settings limits
                     how many jobs with a tag run at once
    on_lost          retry or fail a job whose worker died
    retry_as         same_row: a failed job runs again; new_job: it has failed, and a new
                     job follows
    poll_limit       how often a job may be snoozed, or none
    default_args     arguments (JSON) of jobs that do not give them

    \b
    gribmill definitions edit ingest_grib timeout_seconds=1h max_running=2
    """
    _report(open_queue(settings).definitions.edit(key, values, changed_by=current_user()), as_json)


@click.command()
@click.argument("key", metavar="TYPE")
@click.argument("names", nargs=-1, metavar="[NAME...]")
@AS_JSON
@click.pass_obj
def reset(settings: Settings, key: str, names: tuple[str, ...], as_json: bool) -> None:
    """Return to the values of the code: those that are named, or all of them."""
    for name in names:
        if name not in TUNABLE:
            raise click.UsageError(f"{quoted(name)} is not a value of a job type; these are: {', '.join(TUNABLE)}")
    _report(open_queue(settings).definitions.reset(key, names, changed_by=current_user()), as_json)


def _report(made: Definition, as_json: bool) -> None:
    if as_json:
        print_json(DefinitionView.of(made))
        return
    changes = ", ".join(f"{name}={shown(value)}" for name, value in made.overrides.items())
    click.echo(
        f"{made.key}: " + (f"changed by operators: {changes}" if changes else "all values are the declared ones")
    )
