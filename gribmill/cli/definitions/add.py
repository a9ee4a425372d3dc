"""`gribmill definitions add`: a job type that runs a command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.definitions.values import parse_values
from gribmill.cli.jobs.json_input import parse_object
from gribmill.cli.options.parse_names import parse_names
from gribmill.cli.output import print_json
from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.command import SCHEMA_LIMIT_BYTES, check_program
from gribmill.queue.store.types.definitions import NewDefinition
from gribmill.regular_file import open_regular
from gribmill.settings.schema import Settings
from gribmill.views.queue.definition import DefinitionView


@click.command(context_settings={"ignore_unknown_options": False})
@click.argument("key", metavar="TYPE")
@click.argument("argv", nargs=-1, required=True, metavar="-- PROGRAM [ARGUMENT...]")
@click.option("--description", default="", metavar="TEXT", help="One sentence for listings.")
@click.option(
    "--schema", type=click.Path(path_type=Path), help="A file with the JSON Schema of the payload (default: see above)."
)
@click.option("--environment", callback=parse_names, metavar="NAMES", help="Variables that the command sees.")
@click.option("--options", callback=parse_names, metavar="NAMES", help="Placeholders whose value may begin with '-'.")
@click.option("--set", "values", multiple=True, callback=parse_values, metavar="NAME=VALUE", help="As for `edit`.")
@click.option("--json", "as_json", is_flag=True, help="The definition as JSON.")
@click.pass_obj
def add(
    settings: Settings,
    key: str,
    argv: tuple[str, ...],
    description: str,
    schema: Path | None,
    environment: tuple[str, ...],
    options: tuple[str, ...],
    values: dict[str, Any],
    as_json: bool,
) -> None:
    """Add a job type that runs a command.

    PROGRAM is gribmill, or a name from [commands] allow in gribmill.toml. No shell is
    involved. An argument {{name}} is replaced by the value of that name in the job's
    arguments; unless --schema says otherwise, each is required, and is a string or a number.
    The command gets PATH, HOME, LANG and the variables of --environment. It runs in the
    lane `command`.

    \b
    gribmill definitions add backfill_day -- gribmill backfill '{{model}}' --from '{{day}}' --to '{{day}}'
    gribmill definitions add copy_tiles --set timeout_seconds=10m -- rsync -a /srv/tiles/ '{{target}}'
    gribmill jobs enqueue copy_tiles '{"target": "/backup/tiles/"}'
    """
    check_program(argv[0], {name: str(path) for name, path in settings.commands.allow.items()})
    command = {"argv": list(argv), "environment": list(environment), "options": list(options)}
    new = NewDefinition(key, command, description, None if schema is None else read_schema(schema), values)
    made = open_queue(settings).definitions.add(new, changed_by=current_user())
    if as_json:
        print_json(DefinitionView.of(made))
    else:
        click.echo(f"job type {made.key} is added; enqueue jobs with `gribmill jobs enqueue {made.key} JSON`")


def read_schema(path: Path) -> dict[str, Any]:
    try:
        with open_regular(path) as file:
            data = file.read(SCHEMA_LIMIT_BYTES + 1)
    except OSError as error:
        raise click.UsageError(f"--schema: {path} cannot be read: {error.strerror}") from None
    return parse_object(data.decode("utf-8", "replace"), str(path))
