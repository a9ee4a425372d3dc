"""`gribmill jobs cancel` and `retry`: jobs by id, or by the filters of `jobs list`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.jobs.for_each import for_each
from gribmill.cli.jobs.listing import check_type
from gribmill.cli.options.duration import DURATION
from gribmill.cli.options.ids import parse_ids
from gribmill.cli.output import print_json
from gribmill.cli.text.figures import counted
from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.model import DEAD_LETTER, shown_status
from gribmill.queue.store.jobs.listing import PAGE_LIMIT, JobFilter
from gribmill.settings.schema import Settings
from gribmill.views.queue.job_result import CancelledView, ChosenJobView, RetriedView

if TYPE_CHECKING:
    from gribmill.queue.model import Job
    from gribmill.queue.store import Store

CANCELLABLE = ("pending", "processing")
RETRYABLE = ("failed", DEAD_LETTER, "cancelled", "completed")
# On a terminal, ask for confirmation before a filter changes more jobs than fit on a screen.
CONFIRM_ABOVE = 20


@dataclass(frozen=True, slots=True)
class _JobChoice:
    """The user's selection: ids, or filters by option name."""

    ids: tuple[int, ...]
    filters: dict[str, Any]
    dry_run: bool
    yes: bool
    as_json: bool


def _choice_options(statuses: Sequence[str]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
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


@click.command()
@click.argument("ids", nargs=-1, callback=parse_ids, metavar="[ID...]")
@click.option("--reason", metavar="TEXT", help="The reason, for the job's error message.")
@_choice_options(CANCELLABLE)
@click.pass_obj
def cancel(settings: Settings, /, ids: tuple[int, ...], reason: str | None, **options: Any) -> None:
    """Cancel jobs. A pending job ends at once; a running job is stopped by its worker.

    Give job ids, or select jobs with filters (pending jobs, unless --status is given). Jobs that
    depend on a cancelled job are cancelled too. Exit code 1 if any job could not be cancelled.

    \b
    gribmill jobs cancel 12 13
    gribmill jobs cancel --type ingest_grib --dry-run
    gribmill jobs cancel --status processing --group 'hrrr/20261116_00/003'
    """
    choice = _parse_choice(ids, **options)
    store = open_queue(settings)
    chosen = _chosen_ids(store, choice, CANCELLABLE[0], "cancel")
    if chosen is None:
        return
    text = f"cancelled by {current_user()}" + (f": {reason[:1000]}" if reason else "")

    def act(job_id: int) -> tuple[str, CancelledView]:
        done = store.jobs.cancel(job_id, text)
        words = {
            "cancelled": f"job {job_id} is cancelled",
            "requested": f"job {job_id} is running; its worker has been asked to stop it",
        }[done]
        return words, CancelledView(id=job_id, result=done)

    done = for_each(chosen, act, as_json=choice.as_json, quiet=not choice.ids)
    if not choice.ids and not choice.as_json:
        ended = sum(view.result == "cancelled" for view in done)
        asked = len(done) - ended
        click.echo(
            f"cancelled {counted(ended, 'job')}" + (f"; workers have been asked to stop {asked}" if asked else "")
        )
    if len(done) < len(chosen):
        raise SystemExit(1)


@click.command()
@click.argument("ids", nargs=-1, callback=parse_ids, metavar="[ID...]")
@_choice_options(RETRYABLE)
@click.pass_obj
def retry(settings: Settings, /, ids: tuple[int, ...], **options: Any) -> None:
    """Run finished jobs again, each as a new job that refers to the old one.

    Give job ids, or select jobs with filters (failed jobs, unless --status is given). The old jobs
    are not changed. A job is retried once: if it was already retried, or an equal job is active,
    no second one is enqueued. Exit code 1 if any job could not be retried.

    \b
    gribmill jobs retry 12 13
    gribmill jobs retry --status failed --since 1h
    gribmill jobs retry --type build_tile --dry-run
    """
    choice = _parse_choice(ids, **options)
    store = open_queue(settings)
    chosen = _chosen_ids(store, choice, RETRYABLE[0], "retry", retried=False)
    if chosen is None:
        return

    def act(job_id: int) -> tuple[str, RetriedView]:
        made = store.jobs.retry(job_id, created_by=current_user())
        view = RetriedView(id=job_id, new_id=made.id, created=made.created)
        if made.created:
            return f"job {job_id} runs again as job {made.id}", view
        there = store.jobs.get(made.id)
        if there.retry_of == job_id:
            return f"job {job_id} was retried already, as job {made.id} ({there.status})", view
        return f"job {job_id} is not enqueued again: an equal job, {made.id}, is active already", view

    done = for_each(chosen, act, as_json=choice.as_json, quiet=not choice.ids)
    if not choice.ids and not choice.as_json:
        made = sum(view.created for view in done)
        active = len(done) - made
        equal = f"; not needed for {active}: equal jobs are active" if active else ""
        click.echo(f"retried {counted(made, 'job')}{equal}")
    if len(done) < len(chosen):
        raise SystemExit(1)


def _parse_choice(ids: tuple[int, ...], *, dry_run: bool, yes: bool, as_json: bool, **filters: Any) -> _JobChoice:
    """Either ids or filters; raises a usage error for both or neither."""
    given = {name: value for name, value in filters.items() if value is not None}
    if bool(ids) == bool(given):
        raise click.UsageError("name jobs by ids, or choose them with --status, --type, --since, --tenant or --group")
    return _JobChoice(ids, given, dry_run, yes, as_json)


def _chosen_ids(store: Store, choice: _JobChoice, default_status: str, verb: str, **more: Any) -> list[int] | None:
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


def _found(store: Store, choice: _JobChoice, default_status: str, more: dict[str, Any]) -> list[Job]:
    given = choice.filters
    check_type(store, given.get("type_key"))
    if "tenant" in given:
        store.tenants.get(given["tenant"])
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
        click.echo(f"  {job.id}  {job.type}  {shown_status(job)}")
    if len(jobs) > CONFIRM_ABOVE:
        click.echo(f"  … and {len(jobs) - CONFIRM_ABOVE} more")
