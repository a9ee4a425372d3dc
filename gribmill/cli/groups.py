"""`gribmill groups`: jobs that are followed, cancelled and retried as a whole."""

from __future__ import annotations

import sys
from typing import Any

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.jobs.json_input import read_objects
from gribmill.cli.jobs.move import PRIORITY
from gribmill.cli.named_group import named_group, tenant_option
from gribmill.cli.output import print_json, print_table
from gribmill.cli.text.figures import age_seconds, counted, format_duration
from gribmill.cli.text.status_text import status_text
from gribmill.pipeline.open_queue import open_queue, open_queue_for_reading
from gribmill.queue.errors import BadArguments, QueueError
from gribmill.queue.model import GroupMode, NewJob, OnGroupFailure
from gribmill.queue.store import Store
from gribmill.settings.schema import Settings
from gribmill.views.queue.job_group import GroupCancelledView, GroupJobsView, JobGroupView
from gribmill.views.queue.job_result import EnqueuedView

KEYS = {"type", "args", "priority", "max_attempts", "dedupe_key"}
PAGE_LIMIT = 1000
COUNTED = ("pending", "running", "succeeded", "failed", "skipped", "cancelled")


@click.group()
def groups() -> None:
    """Follow, cancel and retry jobs that belong together.

    A group is a named set of jobs: those of one `gribmill backfill`, or jobs that you add. Jobs
    enqueued by a job join its group. In a sequential group, each job waits for the one before it.
    When a job fails, the group stops (jobs that have not started are cancelled), continues, or
    skips the job (the group can still succeed).
    """


@groups.command(short_help="Add jobs to a group, which is created if it does not exist.")
@click.argument("name")
@click.option("--mode", type=click.Choice(["parallel", "sequential"]), help="Of a new group. [default: parallel]")
@click.option(
    "--on-failure", type=click.Choice(["stop", "continue", "skip"]), help="Of a new group. [default: continue]"
)
@click.option("--priority", type=PRIORITY, default=0, show_default=True, help="Of jobs that name none.")
@tenant_option
@click.option("--json", "as_json", is_flag=True, help="The jobs as JSON.")
@click.pass_obj
def add(
    settings: Settings,
    name: str,
    mode: GroupMode | None,
    on_failure: OnGroupFailure | None,
    priority: int,
    tenant: str,
    as_json: bool,
) -> None:
    """Add jobs from stdin to the group NAME, which is created if it does not exist.

    One JSON object per line, with the keys type, args, and optionally priority, max_attempts and
    dedupe_key. Nothing is enqueued unless all of it is valid. Several calls may add to one group.

    \b
    gribmill groups add nightly --mode sequential --on-failure stop <<END
    {"type": "sleep", "args": {"seconds": 1}}
    {"type": "sleep", "args": {"seconds": 2}}
    END
    """
    store = open_queue(settings)
    base = {"priority": priority, "tenant_id": tenant, "created_by": current_user()}
    jobs = [_job(store, number, one, base) for number, one in read_objects(sys.stdin.buffer)]
    group = store.groups.open(name, mode=mode, on_failure=on_failure, tenant_id=tenant, created_by=current_user())
    made = store.groups.add(group.id, jobs)
    if as_json:
        print_json(GroupJobsView(id=group.id, name=group.name, jobs=tuple(map(EnqueuedView.of, made))))
        return
    new = sum(one.created for one in made)
    doubled = f", {len(made) - new} were active already" if new < len(made) else ""
    click.echo(f"{group.name}: {new} jobs enqueued{doubled}; `gribmill groups show {group.name}` shows the progress")


def _job(store: Store, number: int, value: dict[str, Any], base: dict[str, Any]) -> NewJob:
    """The job described by a line; raises BadArguments with the line number."""
    if unknown := sorted(value.keys() - KEYS):
        raise BadArguments(f"stdin, line {number}: unknown key {unknown[0]!r}; the keys are {', '.join(sorted(KEYS))}")
    if not isinstance(value.get("type"), str) or not isinstance(value.get("args", {}), dict):
        raise BadArguments(f"stdin, line {number}: `type` must be a job type, and `args` an object")
    for key, kind in (("priority", int), ("max_attempts", int), ("dedupe_key", str)):
        if key in value and (not isinstance(value[key], kind) or isinstance(value[key], bool)):
            raise BadArguments(f"stdin, line {number}: `{key}` must be {'an integer' if kind is int else 'a text'}")
    job = NewJob(**{**base, **value})
    try:
        store.jobs.check(job)
    except QueueError as error:
        raise BadArguments(f"stdin, line {number}: {error}") from None
    return job


@groups.command("list", short_help="List groups, newest first.")
@click.option("--tenant", metavar="TENANT", help="Only groups of this tenant.")
@click.option("--limit", type=click.IntRange(1, PAGE_LIMIT), default=50, show_default=True, help="Rows per page.")
@click.option("--before", type=click.IntRange(1), metavar="ID", help="The next page: groups with lower ids than this.")
@click.option("--json", "as_json", is_flag=True, help="The groups as JSON.")
@click.pass_obj
def list_groups(settings: Settings, tenant: str | None, limit: int, before: int | None, as_json: bool) -> None:
    """List groups, newest first, with their status and progress."""
    store = open_queue_for_reading(settings)
    if tenant is not None:
        store.tenants.get(tenant)
    found = [JobGroupView.of(one) for one in store.groups.list(tenant, limit=limit, before=before)]
    if as_json:
        print_json(found)
        return
    if not found:
        click.echo("there are no groups; `gribmill groups add --help` shows how to add one", err=True)
        return
    columns = ["id", "group", "status", "done", "jobs", "failed", "mode", "on failure", "age"]
    numbers = ["id", "done", "jobs", "failed", "age"]
    print_table(columns, [_row(view) for view in found], right=numbers, drop=["on failure", "mode", "age"])
    if len(found) == limit:
        click.echo(f"more: --before {found[-1].id}", err=True)


def _row(view: JobGroupView) -> list[Any]:
    return [
        view.id,
        view.name,
        status_text(view.status),
        f"{view.percent:g} %",
        view.total,
        view.failed or "",
        view.mode,
        view.on_failure,
        format_duration(age_seconds(view.created_at)),
    ]


@groups.command(short_help="Show one group and its jobs.")
@click.argument("name")
@tenant_option
@click.option("--json", "as_json", is_flag=True, help="The group as JSON.")
@click.pass_obj
def show(settings: Settings, name: str, tenant: str, as_json: bool) -> None:
    """Show the status and progress of a group. NAME is its name or id.

    `gribmill jobs list --group-name NAME` lists its jobs.
    """
    store = open_queue_for_reading(settings)
    view = JobGroupView.of(store.groups.progress(named_group(store, name, tenant).id))
    if as_json:
        print_json(view)
        return
    counts = ", ".join(f"{getattr(view, word)} {word}" for word in COUNTED if getattr(view, word))
    click.echo(
        f"{view.name}: {view.status}, {view.percent:g} % of {view.total} jobs" + (f": {counts}" if counts else "")
    )
    by = f", made by {view.created_by}" if view.created_by else ""
    click.echo(f"{view.mode}; on failure: {view.on_failure}{by}")
    if view.stopped_at is not None:
        click.echo(f"stopped: `gribmill groups retry {view.name}` resumes it")


@groups.command(short_help="Cancel all jobs of a group.")
@click.argument("name")
@click.option("--reason", metavar="TEXT", help="The reason, for the error message of the jobs.")
@tenant_option
@click.option("--json", "as_json", is_flag=True, help="How many jobs were cancelled, as JSON.")
@click.pass_obj
def cancel(settings: Settings, name: str, reason: str | None, tenant: str, as_json: bool) -> None:
    """Cancel all jobs of a group. NAME is its name or id.

    Jobs that have not started end at once; running jobs are stopped by their workers. No further
    job of the group starts until `gribmill groups retry NAME --cancelled` resumes it.
    """
    store = open_queue(settings)
    group = named_group(store, name, tenant)
    text = f"group cancelled by {current_user()}" + (f": {reason[:1000]}" if reason else "")
    done = store.groups.cancel(group.id, text)
    if as_json:
        print_json(GroupCancelledView(id=group.id, name=group.name, **done._asdict()))
        return
    asked = f"; workers have been asked to stop {done.requested}" if done.requested else ""
    click.echo(f"{group.name}: cancelled {counted(done.cancelled, 'job')}{asked}")


@groups.command(short_help="Run the failed jobs of a group again.")
@click.argument("name")
@click.option("--cancelled", is_flag=True, help="Also the jobs that were cancelled.")
@tenant_option
@click.option("--json", "as_json", is_flag=True, help="The new jobs as JSON.")
@click.pass_obj
def retry(settings: Settings, name: str, cancelled: bool, tenant: str, as_json: bool) -> None:
    """Run the failed jobs of a group again, in order, each as a new job. NAME is its name or id.

    In a group that stops at a failure, the jobs that it cancelled are retried too. Jobs that
    were already retried are left alone.
    """
    store = open_queue(settings)
    group = named_group(store, name, tenant)
    made = store.groups.retry(group.id, cancelled=cancelled, created_by=current_user())
    if as_json:
        print_json(GroupJobsView(id=group.id, name=group.name, jobs=tuple(map(EnqueuedView.of, made))))
        return
    new = sum(one.created for one in made)
    active = f"; not needed for {len(made) - new}: equal jobs are active" if new < len(made) else ""
    click.echo(f"{group.name}: retried {counted(new, 'job')}{active}")
