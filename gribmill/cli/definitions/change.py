"""`gribmill definitions add`, `edit`, `reset`, `remove`, `activate` and `deactivate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.definitions.values import parse_values, shown
from gribmill.cli.jobs.json_input import parse_object
from gribmill.cli.options.parse_names import parse_names
from gribmill.cli.output import print_json
from gribmill.errors import quoted
from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.command import check_program
from gribmill.queue.json_schema import SCHEMA_LIMIT_BYTES
from gribmill.queue.model import TUNABLE, Definition
from gribmill.queue.store.types.definitions import DefinitionParts, NewDefinition
from gribmill.regular_file import open_regular
from gribmill.settings.schema import Settings
from gribmill.views.queue.definition import DefinitionView

ARGV = "gribmill.definitions.argv"
AS_JSON = click.option("--json", "as_json", is_flag=True, help="The definition as JSON.")
KEYS = click.argument("keys", nargs=-1, required=True, metavar="TYPE...")
ALL_AS_JSON = click.option("--json", "as_json", is_flag=True, help="The definitions as JSON.")


class _WithCommand(click.Command):
    """Treats everything after `--` as a command instead of arguments."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            ctx.meta[ARGV] = tuple(args[at + 1 :])
            args = args[:at]
        return super().parse_args(ctx, args)


@click.command(context_settings={"ignore_unknown_options": False})
@click.argument("key", metavar="TYPE")
@click.argument("argv", nargs=-1, required=True, metavar="-- PROGRAM [ARGUMENT...]")
@click.option("--description", default="", metavar="TEXT", help="One sentence for listings.")
@click.option(
    "--schema", type=click.Path(path_type=Path), help="A file with the JSON Schema of the payload. [default: see above]"
)
@click.option("--environment", callback=parse_names, metavar="NAMES", help="Variables that the command sees.")
@click.option("--options", callback=parse_names, metavar="NAMES", help="Placeholders whose value may begin with '-'.")
@click.option("--set", "values", multiple=True, callback=parse_values, metavar="NAME=VALUE", help="As for `edit`.")
@AS_JSON
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
    new = NewDefinition(key, command, description, None if schema is None else _read_schema(schema), values)
    made = open_queue(settings).definitions.add(new, changed_by=current_user())
    if as_json:
        print_json(DefinitionView.of(made))
    else:
        click.echo(f"job type {made.key} is added; enqueue jobs with `gribmill jobs enqueue {made.key} JSON`")


@click.command(cls=_WithCommand)
@click.argument("key", metavar="TYPE")
@click.argument("values", nargs=-1, callback=parse_values, metavar="[NAME=VALUE...] [-- PROGRAM [ARGUMENT...]]")
@click.option("--description", metavar="TEXT", help="One sentence for listings; of a type that was added.")
@click.option("--schema", type=click.Path(path_type=Path), help="A file with the JSON Schema of the payload.")
@click.option("--environment", callback=parse_names, metavar="NAMES", help="Variables that the command sees.")
@click.option("--options", callback=parse_names, metavar="NAMES", help="Placeholders whose value may begin with '-'.")
@AS_JSON
@click.pass_context
def edit(
    ctx: click.Context,
    key: str,
    values: dict[str, Any],
    description: str | None,
    schema: Path | None,
    environment: tuple[str, ...],
    options: tuple[str, ...],
    as_json: bool,
) -> None:
    """Change values of a job type, until they are reset.

    \b
    timeout_seconds  stop an attempt that takes longer (90, 10m, 2h)
    max_attempts     how often a job may fail before it becomes a dead letter
    backoff_base_s, backoff_cap_s, backoff_jitter
                     the wait before the first retry, the longest wait, and the largest
                     fraction by which a wait is shortened (0: exact)
    batch_max        how many jobs with the same batching key run together
    max_running      how many jobs of this type run at once, or none for no limit
    lane             the executors that run it (see workers.lanes in the settings)
    resources        tags, separated by commas; queue.resources in the settings limits
                     how many jobs with a tag run at once
    on_lost          retry or fail a job whose worker died
    retry_as         same_row: a failed job runs again; new_job: it stays failed, and a
                     new job takes its place
    poll_limit       how often a job may be snoozed, or none for no limit
    queue_order      arrival: a delayed or failed job keeps its place; due: it goes
                     behind the jobs that are waiting when its time comes
    default_args     default arguments (JSON) of its jobs

    \b
    gribmill definitions edit ingest_grib timeout_seconds=1h max_running=2
    gribmill definitions edit copy_tiles --description "Copies tiles." -- rsync -a /srv/tiles/ '{{target}}'

    For types added with `gribmill definitions add`, the description, the command and the schema
    can be changed too. Pending jobs are checked against the new schema when they run.
    """
    settings: Settings = ctx.obj
    argv: tuple[str, ...] | None = ctx.meta.get(ARGV)
    if argv is not None:
        if not argv:
            raise click.UsageError("name the program after --")
        check_program(argv[0], {name: str(path) for name, path in settings.commands.allow.items()})
    read = None if schema is None else _read_schema(schema)
    parts = DefinitionParts(description, argv, environment or None, options or None, read)
    if not values and parts == DefinitionParts():
        raise click.UsageError("name at least one value or option to change")
    changed = None if parts == DefinitionParts() else parts
    definitions = open_queue(settings).definitions
    _report(definitions.edit(key, values, parts=changed, changed_by=current_user()), as_json)


@click.command()
@click.argument("key", metavar="TYPE")
@click.argument("names", nargs=-1, metavar="[NAME...]")
@AS_JSON
@click.pass_obj
def reset(settings: Settings, key: str, names: tuple[str, ...], as_json: bool) -> None:
    """Reset values to those declared in the code: the named ones, or all."""
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


@click.command()
@click.argument("key", metavar="TYPE")
@click.option("--json", "as_json", is_flag=True, help="The removed definition as JSON.")
@click.pass_obj
def remove(settings: Settings, key: str, as_json: bool) -> None:
    """Remove a job type that was added with `gribmill definitions add`.

    The type must have no jobs (not even finished ones), triggers or templates. If it has any,
    deactivate it instead: its jobs are then neither accepted nor run.
    """
    store = open_queue(settings)
    found = store.definitions.get(key).definition
    store.definitions.remove(key)
    if as_json:
        print_json(DefinitionView.of(found))
    else:
        click.echo(f"job type {key} is removed")


@click.command()
@KEYS
@ALL_AS_JSON
@click.pass_obj
def activate(settings: Settings, keys: tuple[str, ...], as_json: bool) -> None:
    """Accept and run jobs of these types again."""
    _switch(settings, keys, active=True, as_json=as_json)


@click.command()
@KEYS
@ALL_AS_JSON
@click.pass_obj
def deactivate(settings: Settings, keys: tuple[str, ...], as_json: bool) -> None:
    """Stop accepting and starting jobs of these types. Running jobs continue; pending ones wait.

    `gribmill jobs pause` also stops starting jobs, but still accepts them.
    """
    _switch(settings, keys, active=False, as_json=as_json)


def _switch(settings: Settings, keys: tuple[str, ...], *, active: bool, as_json: bool) -> None:
    store = open_queue(settings)
    for key in keys:
        store.definitions.get(key)  # fail before changing anything if one does not exist
    made = [store.definitions.set_active(key, active=active, changed_by=current_user()) for key in keys]
    if as_json:
        print_json([DefinitionView.of(one) for one in made])
        return
    for one in made:
        click.echo(f"{one.key} is {'active' if active else 'inactive'}")


def _read_schema(path: Path) -> dict[str, Any]:
    try:
        with open_regular(path) as file:
            data = file.read(SCHEMA_LIMIT_BYTES + 1)
    except OSError as error:
        raise click.UsageError(f"--schema: {path} cannot be read: {error.strerror}") from None
    return parse_object(data.decode("utf-8", "replace"), str(path))
