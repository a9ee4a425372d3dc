"""`gribmill groups add`: jobs from JSON lines."""

from __future__ import annotations

import sys
from typing import Any

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.jobs.json_input import read_objects
from gribmill.cli.jobs.move import PRIORITY
from gribmill.cli.named_group import tenant_option
from gribmill.cli.output import print_json
from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.errors import BadArguments, QueueError
from gribmill.queue.model import GroupMode, NewJob, OnGroupFailure
from gribmill.queue.store import Store
from gribmill.settings.schema import Settings
from gribmill.views.queue.job_group import GroupJobsView
from gribmill.views.queue.job_result import EnqueuedView

KEYS = {"type", "args", "priority", "max_attempts", "dedupe_key"}


@click.command()
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
