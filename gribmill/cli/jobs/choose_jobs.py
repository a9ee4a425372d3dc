"""Selects the jobs to act on: by id, or with the filters of `jobs list`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from gribmill.cli.jobs.listing import check_type
from gribmill.cli.options.duration import DURATION
from gribmill.cli.output import print_json
from gribmill.cli.text.counted import counted
from gribmill.queue.model import DEAD_LETTER
from gribmill.queue.store.jobs.listing import PAGE_LIMIT, JobFilter
from gribmill.views.queue.job_result import ChosenJobView

if TYPE_CHECKING:
    from gribmill.queue.model import Job
    from gribmill.queue.store import Store

# On a terminal, ask for confirmation before a filter changes more jobs than fit on a screen.
CONFIRM_ABOVE = 20


@dataclass(frozen=True, slots=True)
class JobChoice:
    """The user's selection: ids, or filters by option name."""

    ids: tuple[int, ...]
    filters: dict[str, Any]
    dry_run: bool
    yes: bool
    as_json: bool


def choice_options(statuses: Sequence[str]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds the filters, --dry-run, --yes and --json to a command that acts on jobs."""
    options = [
        click.option("--status", type=click.Choice([*statuses]), help=f"Only this status. [default: {statuses[0]}]"),
        click.option("--type", "type_key", metavar="TYPE", help="Only this job type."),
        click.option("--since", type=DURATION, metavar="AGE", help="Only jobs enqueued within this time, such as 1h."),
        click.option("--tenant", metavar="TENANT", help="Only jobs of this tenant."),
        click.option("--group", metavar="KEY", help="Only this batching key: jobs that may be claimed together."),
        click.option("--dry-run", is_flag=True, help="Only show which jobs would be chosen."),
        click.option("--yes", is_flag=True, help=f"Do not ask before more than {CONFIRM_ABOVE} jobs are changed."),
        click.option("--json", "as_json", is_flag=True, help="The result for each job, as JSON."),
    ]

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def parse_choice(ids: tuple[int, ...], *, dry_run: bool, yes: bool, as_json: bool, **filters: Any) -> JobChoice:
    """Either ids or filters; raises a usage error for both or neither."""
    given = {name: value for name, value in filters.items() if value is not None}
    if bool(ids) == bool(given):
        raise click.UsageError("name jobs by ids, or choose them with --status, --type, --since, --tenant or --group")
    return JobChoice(ids, given, dry_run, yes, as_json)


def chosen_ids(store: Store, choice: JobChoice, default_status: str, verb: str, **more: Any) -> list[int] | None:
    """The ids to act on: as given, or oldest first for filters. With --dry-run, prints the jobs and returns None."""
    if choice.ids and not choice.dry_run:
        return [*choice.ids]
    named = [store.jobs.get(job_id) for job_id in choice.ids]
    jobs = named or _found(store, choice, default_status, more)
    if choice.dry_run:
        _show(jobs, verb, as_json=choice.as_json)
        return None
    if len(jobs) > CONFIRM_ABOVE and not choice.yes and _is_terminal():
        click.confirm(f"{verb} {counted(len(jobs), 'job')}?", abort=True, err=True)
    return [job.id for job in jobs]


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _found(store: Store, choice: JobChoice, default_status: str, more: dict[str, Any]) -> list[Job]:
    given = choice.filters
    check_type(store, given.get("type_key"))
    status, since = given.get("status", default_status), given.get("since")
    wanted = JobFilter(
        status="failed" if status == DEAD_LETTER else status,
        dead=True if status == DEAD_LETTER else None,
        type=given.get("type_key"),
        tenant_id=given.get("tenant"),
        group_key=given.get("group"),
        created_after=None if since is None else datetime.now(UTC) - timedelta(seconds=since),
        **more,
    )
    found: list[Job] = []
    before: int | None = None
    while True:
        page = store.jobs.list(wanted, limit=PAGE_LIMIT, before=before)
        found += page.jobs
        before = page.next_before
        if before is None:
            return found[::-1]


def _show(jobs: Sequence[Job], verb: str, *, as_json: bool) -> None:
    if as_json:
        print_json([ChosenJobView.of(job) for job in jobs])
        return
    click.echo(f"would {verb} {counted(len(jobs), 'job')}" + (":" if jobs else ""))
    for job in jobs[:CONFIRM_ABOVE]:
        click.echo(f"  {job.id}  {job.type}  {job.status}")
    if len(jobs) > CONFIRM_ABOVE:
        click.echo(f"  … and {len(jobs) - CONFIRM_ABOVE} more")
