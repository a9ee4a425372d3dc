"""`gribmill jobs list`: jobs, newest first, or in the order in which they will run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from gribmill.cli.named_group import named_group
from gribmill.cli.options.duration import DURATION
from gribmill.cli.options.moment import Moment
from gribmill.cli.output import one_line, print_json, print_table
from gribmill.cli.text.figures import age_seconds, format_duration, seconds_between
from gribmill.cli.text.status_text import status_text
from gribmill.pipeline.job_text import job_text, short_error
from gribmill.pipeline.open_queue import open_queue_for_reading
from gribmill.queue.model import DEAD_LETTER, STATUSES, Job, JobSource, shown_status
from gribmill.queue.redact import redact_json
from gribmill.queue.store.jobs.listing import JobFilter
from gribmill.settings.schema import Settings

if TYPE_CHECKING:
    from gribmill.queue.store import Store
    from gribmill.queue.store.jobs.listing import JobFilter

PAGE_LIMIT = 1000
# On a narrow terminal: the width for the beginning of a job's error, and the maximum for the whole column.
NOTE_COLUMNS = 14
MOST_COLUMNS = 48


@click.command("list")
@click.option("--status", type=click.Choice([*STATUSES, DEAD_LETTER]), help="Only this status.")
@click.option("--type", "type_key", metavar="TYPE", help="Only this job type.")
@click.option("--tenant", metavar="TENANT", help="Only jobs of this tenant.")
@click.option("--group", metavar="KEY", help="Only this batching key: jobs that may be claimed together.")
@click.option("--group-name", metavar="NAME", help="Only jobs of this job group; see `gribmill groups list`.")
@click.option("--template", metavar="NAME", help="Only jobs that were made from this template.")
@click.option("--correlation", metavar="ID", help="Only jobs of this chain (`correlation_id` of a job).")
@click.option(
    "--source",
    type=click.Choice(["manual", "event", "schedule", "system"]),
    help="Only jobs that people, events, schedules or other jobs enqueued.",
)
@click.option("--worker", metavar="ID", help="Only jobs that this worker is running.")
@click.option("--since", type=DURATION, metavar="AGE", help="Only jobs enqueued within this time, such as 2h.")
@click.option("--before-age", type=DURATION, metavar="AGE", help="Only jobs enqueued longer ago than this, such as 1d.")
@click.option("--from", "from_time", type=Moment(), help="Only jobs enqueued at this time (UTC) or later.")
@click.option("--to", "to_time", type=Moment(), help="Only jobs enqueued before this time (UTC).")
@click.option("--before", type=click.IntRange(1), metavar="ID", help="The next page: jobs with lower ids than this.")
@click.option("--queue", "in_order", is_flag=True, help="Pending jobs in the order in which they will run.")
@click.option("--limit", type=click.IntRange(1, PAGE_LIMIT), default=50, show_default=True, help="Rows per page.")
@click.option("--json", "as_json", is_flag=True, help="The page and the cursor of the next one, as JSON.")
@click.pass_obj
def list_jobs(
    settings: Settings,
    /,
    in_order: bool,
    limit: int,
    before: int | None,
    as_json: bool,
    **filters: Any,
) -> None:
    """List jobs, newest first; with --queue, pending jobs in the order in which they will run.

    \b
    gribmill jobs list --status failed --since 2h
    gribmill jobs list --status dead_letter --type build_tile
    gribmill jobs list --source schedule --from 2026-11-18T06 --to 2026-11-18T12
    gribmill jobs list --before 4711          the page that follows job 4711
    """
    store = open_queue_for_reading(settings)
    check_type(store, filters["type_key"])
    if filters["tenant"] is not None:
        store.tenants.get(filters["tenant"])
    if in_order:
        given = [name for name, value in filters.items() if value is not None and name not in ("type_key", "tenant")]
        if given or before is not None:
            raise click.UsageError("--queue can only be combined with --type, --tenant, --limit and --json")
        _list_queue(store, filters["type_key"], filters["tenant"], limit, as_json)
    else:
        _list_page(store, _filter(store, **filters), limit, before, as_json)


def _filter(
    store: Store,
    *,
    status: str | None,
    type_key: str | None,
    tenant: str | None,
    group: str | None,
    group_name: str | None,
    template: str | None,
    correlation: str | None,
    source: JobSource | None,
    worker: str | None,
    since: float | None,
    before_age: float | None,
    from_time: datetime | None,
    to_time: datetime | None,
) -> JobFilter:
    now = datetime.now(UTC)
    for relative, absolute, names in (
        (since, from_time, "--since and --from"),
        (before_age, to_time, "--before-age and --to"),
    ):
        if relative is not None and absolute is not None:
            raise click.UsageError(f"{names} exclude each other")
    return JobFilter(
        status="failed" if status == DEAD_LETTER else status,  # type: ignore[arg-type]
        dead=True if status == DEAD_LETTER else None,
        type=type_key,
        tenant_id=tenant,
        group_key=group,
        group_id=None if group_name is None else named_group(store, group_name, tenant or "global").id,
        template_id=None if template is None else store.templates.get(template, tenant or "global").id,
        correlation_id=correlation,
        source=source,
        worker_id=worker,
        created_after=from_time if since is None else now - timedelta(seconds=since),
        created_before=to_time if before_age is None else now - timedelta(seconds=before_age),
    )


def check_type(store: Store, type_key: str | None) -> None:
    """Refuse a type that is not declared and has no jobs."""
    if (
        type_key is not None
        and type_key not in store.registry
        and all(one.type != type_key for one in store.types.stats())
    ):
        store.registry[type_key]


def _list_page(store: Store, wanted: JobFilter, limit: int, before: int | None, as_json: bool) -> None:
    page = store.jobs.list(wanted, limit=limit, before=before)
    if as_json:
        from gribmill.views.queue.job import JobPageView

        print_json(JobPageView.of(page))
        return
    if not page.jobs:
        click.echo("no jobs", err=True)
        return
    columns = ["id", "type", "status", "priority", "age", "runs", "took", "what"]
    rows = [_row(job) for job in page.jobs]
    numbers = ["id", "priority", "age", "runs", "took"]
    drop = ["priority", "runs", "took", "age"]
    print_table(columns, rows, right=numbers, cut="what", drop=drop, least=_least(page.jobs))
    if page.next_before is not None:
        click.echo(f"more: --before {page.next_before}", err=True)


def _row(job: Job) -> Sequence[Any]:
    return [
        job.id,
        job.type,
        status_text(shown_status(job)),
        short_number(job.priority),
        format_duration(age_seconds(job.created_at)),
        job.attempt_no,
        format_duration(_took(job)),
        _what(job),
    ]


def _took(job: Job) -> float | None:
    if job.status == "processing":
        return age_seconds(job.started_at)
    return seconds_between(job.started_at, job.completed_at)


def _what(job: Job) -> str:
    """The job's arguments, and why it failed or what it waits for."""
    words = [job_text(job.args)]
    if waits := waits_for(job):
        words.append(waits)
    if job.error_message and job.status != "completed":
        words.append(short_error(job.error_message))
    return one_line("; ".join(words), 160)


def _least(jobs: Sequence[Job]) -> int:
    """The width that shows the arguments of every job and the beginning of an error."""
    wanted = [len(job_text(job.args)) + (NOTE_COLUMNS if job.error_message else 0) for job in jobs]
    return min(max(wanted, default=0), MOST_COLUMNS)


def short_number(value: int) -> str:
    """A priority as a short text: `7`, `1.24e9`."""
    return str(value) if abs(value) < 10_000 else f"{value:.3g}".replace("e+0", "e")


def args_text(args: Any) -> str:
    """Arguments as JSON on one line. Plain text in a manually edited row is shown unchanged."""
    shown = redact_json(args)
    return shown if isinstance(shown, str) else json.dumps(shown, separators=(",", ":"), ensure_ascii=False)


def waits_for(job: Job) -> str:
    """What a pending job waits for; empty if it is ready."""
    if job.status != "pending":
        return ""
    if job.deps_left:
        return f"after {job.deps_left} other job{'s' if job.deps_left > 1 else ''}"
    wait = age_seconds(job.next_run_at)
    return f"in {format_duration(-wait)}" if wait is not None and wait < 0 else ""


def _list_queue(store: Store, type_key: str | None, tenant: str | None, limit: int, as_json: bool) -> None:
    found = store.jobs.upcoming(type_key, tenant_id=tenant, limit=limit)
    readiness = store.jobs.readiness()
    if as_json:
        from gribmill.views.queue.job import QueuedJobView

        print_json([QueuedJobView.at(place, job, readiness.why_not(job)) for place, job in enumerate(found, 1)])
        return
    if not found:
        click.echo("no jobs are pending", err=True)
        return
    columns = ["place", "id", "type", "priority", "position", "age", "when", "what"]
    rows = [
        [
            place,
            job.id,
            job.type,
            short_number(job.priority),
            short_number(job.position),
            format_duration(age_seconds(job.created_at)),
            readiness.holds_back(job) or waits_for(job) or "ready",
            one_line(
                "; ".join([job_text(job.args), *([short_error(job.error_message)] if job.error_message else [])]), 160
            ),
        ]
        for place, job in enumerate(found, 1)
    ]
    numbers = ["place", "id", "priority", "position", "age"]
    drop = ["position", "priority", "age"]
    print_table(columns, rows, right=numbers, cut="what", drop=drop, least=_least(found))
    if len(found) == limit:
        click.echo(f"showing the first {limit}; --limit shows more", err=True)
