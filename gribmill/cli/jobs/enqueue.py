"""`gribmill jobs enqueue`: one job or many."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.jobs.json_input import parse_object, read_objects
from gribmill.cli.jobs.move import PRIORITY
from gribmill.cli.options.argument_values import parse_argument_values
from gribmill.cli.options.duration import DURATION
from gribmill.cli.options.ids import parse_ids
from gribmill.cli.options.moment import Moment
from gribmill.cli.output import print_json
from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.errors import BadArguments
from gribmill.queue.model import NewJob
from gribmill.settings.schema import Settings
from gribmill.views.queue.job_result import EnqueuedView

if TYPE_CHECKING:
    from gribmill.queue.job_type import JobType
    from gribmill.queue.model import Enqueued
    from gribmill.queue.store import Store

NAME_LIMIT = 200
DEDUPE_LIMIT = 1000


def job_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of `jobs enqueue` and `templates run`. Defaults come from the template or the job type."""
    options = [
        click.option(
            "--set",
            "values",
            multiple=True,
            callback=parse_argument_values,
            metavar="NAME=VALUE",
            help="Set one argument; VALUE is JSON or a text. Repeatable.",
        ),
        click.option("--priority", type=PRIORITY, help="Higher runs first. [default: 0, or that of the template]"),
        click.option("--delay", type=DURATION, help="Start no earlier than this time from now, such as 90, 10m or 2h."),
        click.option(
            "--at", "run_at", type=Moment(), help="Start no earlier than this time, such as 2026-11-18T06:00 (UTC)."
        ),
        click.option(
            "--timeout", type=DURATION, help="Stop an attempt that takes longer. [default: from the job type]"
        ),
        click.option("--correlation", metavar="ID", help="A name shared by this job and all jobs that follow from it."),
        click.option("--dedupe", metavar="KEY", help="Do not enqueue a second active job with this key."),
        click.option(
            "--max-attempts",
            type=click.IntRange(1, 1000),
            help="Maximum number of attempts. [default: from the job type]",
        ),
        click.option(
            "--after",
            multiple=True,
            callback=parse_ids,
            metavar="ID",
            help="Wait for these jobs to finish; repeatable.",
        ),
        click.option(
            "--parent-failure",
            type=click.Choice(["cancel", "ignore"]),
            default="cancel",
            show_default=True,
            help="What happens to this job if one of them fails.",
        ),
        click.option("--group-name", metavar="NAME", help="Add it to this group; see `gribmill groups add --help`."),
        click.option("--tenant", default="global", show_default=True, help="The tenant that the job belongs to."),
        click.option("--json", "as_json", is_flag=True, help="The ids as JSON."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@click.argument("type_key", required=False, metavar="[TYPE]")
@click.argument("args", default="{}", metavar="[JSON|-]")
@click.option(
    "--template", "template_name", metavar="NAME", help="Take type, arguments and options from this template."
)
@job_options
@click.pass_obj
def enqueue(
    settings: Settings,
    /,
    type_key: str | None,
    args: str,
    template_name: str | None,
    values: dict[str, Any],
    tenant: str,
    group_name: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Enqueue a job. JSON is an object with its arguments; `-` reads it from stdin.

    Stdin may hold many objects, one per line. `gribmill jobs types` shows the arguments of each
    type. If any of them is invalid, nothing is enqueued. With --template, omit TYPE; arguments
    given here override those of the template.

    \b
    gribmill jobs enqueue sleep '{"seconds": 2}' --priority 5
    gribmill jobs enqueue ingest_grib '{"model_id": "hrrr", "run_id": "20230125_12", "hour": 5}'
    gribmill jobs enqueue --template nap --set say=hello
    seq 100 | sed 's/.*/{"say": "&"}/' | gribmill jobs enqueue sleep -
    """
    if template_name is not None and type_key is not None:
        if args != "{}":
            raise click.UsageError("--template names the job type: leave TYPE out")
        args, type_key = type_key, None
    _check_text("--tenant", tenant, NAME_LIMIT)
    changes = _given(options)
    store = open_queue(settings)
    base = _base(store, type_key, template_name, tenant)
    lines = read_objects(sys.stdin.buffer) if args == "-" else [(0, parse_object(args))]
    kind = store.registry[base.type]
    objects = [_checked(kind, number, {**base.args, **one, **values}) for number, one in lines]
    jobs = [replace(base, args=one, created_by=current_user(), **changes) for one in objects]
    _report(_enqueued(store, jobs, group_name), as_json)


def _enqueued(store: Store, jobs: list[NewJob], group_name: str | None) -> list[Enqueued]:
    if len(jobs) > 1 and jobs[0].dedupe_key:
        raise click.UsageError(
            "--dedupe is for a single job: of several with the same key only the first would be enqueued"
        )
    if group_name is None:
        return store.jobs.enqueue_many(jobs)
    for job in jobs:
        store.jobs.check(job)  # before opening a group for jobs that cannot be enqueued
    group = store.groups.open(group_name, tenant_id=jobs[0].tenant_id, created_by=current_user())
    return store.groups.add(group.id, jobs)


def _base(store: Store, type_key: str | None, template_name: str | None, tenant: str) -> NewJob:
    """The job before command-line options are applied."""
    if template_name is not None:
        return store.templates.job(template_name, tenant)
    if type_key is None:
        raise click.UsageError("name a job type, or a template with --template")
    return NewJob(store.registry.expect(type_key).key, tenant_id=tenant)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given, as fields of a job."""
    dedupe, correlation, timeout = options["dedupe"], options["correlation"], options["timeout"]
    if dedupe is not None:
        _check_text("--dedupe", dedupe, DEDUPE_LIMIT)
    if correlation is not None:
        _check_text("--correlation", correlation, NAME_LIMIT)
    if options["delay"] is not None and options["run_at"] is not None:
        raise click.UsageError("--delay and --at exclude each other")
    fields = {
        "priority": options["priority"],
        "delay_seconds": options["delay"],
        "run_at": options["run_at"],
        "timeout_seconds": None if timeout is None else max(1, round(timeout)),
        "correlation_id": correlation,
        "dedupe_key": dedupe,
        "max_attempts": options["max_attempts"],
        "after": options["after"],
        "on_parent_failure": options["parent_failure"],
    }
    return {name: value for name, value in fields.items() if value is not None}


def _checked(kind: JobType, number: int, args: dict[str, Any]) -> dict[str, Any]:
    """The validated arguments of a line of stdin; raises BadArguments with its number (0 for the command line)."""
    if number == 0:
        return args  # validated when enqueued
    try:
        kind.check({**(kind.default_args or {}), **args})
    except BadArguments as error:
        raise BadArguments(f"stdin, line {number}: {error}") from None
    return args


def _report(made: list[Enqueued], as_json: bool) -> None:
    if as_json:
        print_json([EnqueuedView.of(one) for one in made])
        return
    if len(made) == 1:
        word = "enqueued" if made[0].created else "is active already; an equal job is not enqueued twice"
        click.echo(f"job {made[0].id} {word}")
        return
    new = [one.id for one in made if one.created]
    doubled = len(made) - len(new)
    span: Any = f" ({new[0]} to {new[-1]})" if new else ""
    click.echo(f"{len(new)} jobs enqueued{span}" + (f", {doubled} were active already" if doubled else ""))


def _check_text(option: str, text: str, limit: int) -> None:
    if not 0 < len(text) <= limit or not text.isprintable():
        raise click.UsageError(f"{option} must be 1 to {limit} printable characters")
