"""`gribmill jobs enqueue`: one job or many."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.jobs.json_input import parse_object, read_objects
from gribmill.cli.jobs.move import PRIORITY
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

NAME_LIMIT = 200
DEDUPE_LIMIT = 1000


@click.command()
@click.argument("type_key", metavar="TYPE")
@click.argument("args", default="{}", metavar="[JSON|-]")
@click.option("--priority", type=PRIORITY, default=0, show_default=True, help="Higher runs first.")
@click.option("--delay", type=DURATION, help="Start no earlier than this time from now, such as 90, 10m or 2h.")
@click.option("--at", "run_at", type=Moment(), help="Start no earlier than this time, such as 2026-11-18T06:00 (UTC).")
@click.option("--timeout", type=DURATION, help="Stop an attempt that takes longer (default: from the job type).")
@click.option("--correlation", metavar="ID", help="A name for the chain of jobs that this one begins.")
@click.option("--dedupe", metavar="KEY", help="Do not enqueue a second active job with this key.")
@click.option(
    "--max-attempts", type=click.IntRange(1, 1000), help="Maximum number of attempts (default: from the job type)."
)
@click.option(
    "--after", multiple=True, callback=parse_ids, metavar="ID", help="Wait for these jobs to finish; repeatable."
)
@click.option(
    "--parent-failure",
    type=click.Choice(["cancel", "ignore"]),
    default="cancel",
    show_default=True,
    help="What happens to this job if one of them fails.",
)
@click.option("--group-name", metavar="NAME", help="Add it to this group; see `gribmill groups add --help`.")
@click.option("--tenant", default="global", show_default=True, help="The tenant that the job belongs to.")
@click.option("--json", "as_json", is_flag=True, help="The ids as JSON.")
@click.pass_obj
def enqueue(
    settings: Settings,
    type_key: str,
    args: str,
    priority: int,
    delay: float | None,
    run_at: datetime | None,
    timeout: float | None,
    correlation: str | None,
    dedupe: str | None,
    max_attempts: int | None,
    after: tuple[int, ...],
    parent_failure: Literal["cancel", "ignore"],
    group_name: str | None,
    tenant: str,
    as_json: bool,
) -> None:
    """Enqueue a job. JSON is an object with its arguments; `-` reads it from stdin.

    Stdin may hold many, one object per line. `gribmill jobs types` shows the arguments
    of each type. Nothing is enqueued unless all of it is valid.

    \b
    gribmill jobs enqueue sleep '{"seconds": 2}' --priority 5
    gribmill jobs enqueue ingest_grib '{"model_id": "hrrr", "run_id": "20230125_12", "hour": 5}'
    seq 100 | sed 's/.*/{"say": "&"}/' | gribmill jobs enqueue sleep -
    """
    _check_text("--tenant", tenant, NAME_LIMIT)
    if dedupe is not None:
        _check_text("--dedupe", dedupe, DEDUPE_LIMIT)
    if correlation is not None:
        _check_text("--correlation", correlation, NAME_LIMIT)
    if delay is not None and run_at is not None:
        raise click.UsageError("--delay and --at exclude each other")
    store = open_queue(settings)
    kind = store.registry[type_key]
    objects = _checked(kind, read_objects(sys.stdin.buffer)) if args == "-" else [parse_object(args)]
    if dedupe is not None and len(objects) > 1:
        raise click.UsageError(
            "--dedupe is for a single job: of several with the same key only the first would be enqueued"
        )
    jobs = [
        NewJob(
            type=kind.key,
            args=one,
            priority=priority,
            delay_seconds=delay,
            run_at=run_at,
            timeout_seconds=None if timeout is None else max(1, round(timeout)),
            correlation_id=correlation,
            dedupe_key=dedupe,
            max_attempts=max_attempts,
            tenant_id=tenant,
            created_by=current_user(),
            after=after,
            on_parent_failure=parent_failure,
        )
        for one in objects
    ]
    if group_name is None:
        made = store.jobs.enqueue_many(jobs)
    else:
        for job in jobs:
            store.jobs.check(job)
        group = store.groups.open(group_name, tenant_id=tenant, created_by=current_user())
        made = store.groups.add(group.id, jobs)
    _report(made, as_json)


def _checked(kind: JobType, lines: list[tuple[int, dict[str, Any]]]) -> list[dict[str, Any]]:
    """The objects from stdin, or BadArguments with the line of the first invalid one."""
    for number, one in lines:
        try:
            kind.check(one)
        except BadArguments as error:
            raise BadArguments(f"stdin, line {number}: {error}") from None
    return [one for _, one in lines]


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
