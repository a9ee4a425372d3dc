"""`gribmill direct`: run one job now, in the foreground."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.jobs.json_input import parse_object, read_objects
from gribmill.cli.options.duration import DURATION
from gribmill.cli.output import print_json
from gribmill.cli.workers.interruptible import interruptible
from gribmill.pipeline.open_queue import open_queue, output_logs
from gribmill.queue.model import Failed, NewJob, Snoozed, Succeeded, exit_code_of
from gribmill.queue.worker.direct import DirectRun
from gribmill.settings.schema import Settings
from gribmill.views.queue.attempt import TickView

if TYPE_CHECKING:
    from gribmill.queue.worker.in_process import TickedJob


@click.command()
@click.argument("type_key", metavar="TYPE")
@click.argument("args", default="{}", metavar="[JSON|-]")
@click.option(
    "--wait",
    "wait_seconds",
    type=DURATION,
    default=0.0,
    help="Wait this long for other reservations to end, such as 30s.",
)
@click.option("--exclusive", is_flag=True, help="Reserve the whole queue. [default: only this type]")
@click.option("--timeout", type=DURATION, help="Stop it if it takes longer. [default: from the job type]")
@click.option(
    "--max-attempts", type=click.IntRange(1, 1000), default=1, show_default=True,
    help="If more than 1, workers retry it after a failure.",
)  # fmt: skip
@click.option("--tenant", default="global", show_default=True, help="The tenant that the job belongs to.")
@click.option("--json", "as_json", is_flag=True, help="The attempt as JSON; what the job prints goes to stderr.")
@click.pass_obj
def direct(
    settings: Settings,
    type_key: str,
    args: str,
    wait_seconds: float,
    exclusive: bool,
    timeout: float | None,
    max_attempts: int,
    tenant: str,
    as_json: bool,
) -> None:
    """Run one job now in the foreground, ahead of the queue, and record it like any other.

    No other job of its type starts meanwhile. If another reservation, a limit or a paused type
    keeps the job from starting, the error names the reason. JSON is an object with the arguments;
    `-` reads it from stdin. If this process dies, the reservation expires automatically.

    The exit code is that of the job: 0 if it succeeded, 130 if it was interrupted.

    \b
    gribmill direct sleep '{"seconds": 2, "say": "hello"}'
    gribmill direct scan_source '{"model_id": "hrrr"}' --wait 30s
    """
    store = open_queue(settings)
    kind = store.registry.expect(type_key)
    if args == "-":
        objects = read_objects(sys.stdin.buffer)
        if len(objects) != 1:
            raise click.UsageError("stdin has more than one JSON object; `gribmill direct` runs one job")
        values = objects[0][1]
    else:
        values = parse_object(args)
    job = NewJob(
        kind.key,
        values,
        max_attempts=max_attempts,
        tenant_id=tenant,
        created_by=current_user(),
        source_ref="direct",
        timeout_seconds=None if timeout is None else max(1, round(timeout)),
    )
    store.jobs.check(job)
    runner = DirectRun(store, settings.queue.lease_seconds, settings.model_dump(mode="json"), output_logs(settings))
    by = f"{current_user()} (direct {kind.key})"[:200]
    with interruptible(), contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext():
        ran = runner.run(job, by, wait_seconds=wait_seconds, exclusive=exclusive)
    if as_json:
        print_json(TickView.of(ran))
    else:
        click.echo(_sentence(ran), err=True)
    sys.exit(exit_code_of(ran.outcome) if ran.accepted else 1)


def _sentence(ran: TickedJob) -> str:
    took = f"job {ran.job.id}, {ran.seconds:.1f} s"
    if not ran.accepted:
        return f"{took}: the job was given to another worker meanwhile, and this result is dropped"
    if isinstance(ran.outcome, Failed):
        return f"{took}: failed: {ran.outcome.error.partition(chr(10))[0]}"
    if isinstance(ran.outcome, Snoozed):
        return f"{took}: not finished: {ran.outcome.reason}; a worker continues in {ran.outcome.seconds:g} s"
    skipped = ran.outcome.skipped if isinstance(ran.outcome, Succeeded) else None
    return f"{took}: succeeded" + (f" ({skipped})" if skipped else "")
