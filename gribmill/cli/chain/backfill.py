"""`gribmill backfill`: past runs through the queue."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from gribmill.cli.format_size import format_size
from gribmill.cli.options.parse_names import parse_names
from gribmill.cli.output import console, print_json
from gribmill.settings.schema import Settings
from gribmill.views.backfill import BackfillDoneView, BackfillEnqueuedView, BackfillEstimateView, BackfillView
from gribmill.views.worker import WorkerView

if TYPE_CHECKING:
    from gribmill.pipeline.backfill import BackfillPlan
    from gribmill.queue.model import Worker
    from gribmill.queue.store import Store

# A day ends with the last run that may begin in it.
LAST_HOUR = 23


class Moment(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4 only
    """A time in UTC: 2026-11-01, 2026-11-01T06, or a run id 20261101_06. `hour` is a bare date's."""

    name = "time"

    def __init__(self, hour: int = 0) -> None:
        self.hour = hour

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        from gribmill.identity import IdentityError, run_time

        for form in ("%Y-%m-%d", "%Y%m%d"):
            with contextlib.suppress(ValueError):
                return datetime.strptime(str(value), form).replace(hour=self.hour, tzinfo=UTC)
        for form in ("%Y-%m-%dT%H", "%Y-%m-%dT%H:%M"):
            with contextlib.suppress(ValueError):
                return datetime.strptime(str(value), form).replace(tzinfo=UTC)
        with contextlib.suppress(IdentityError):
            return run_time(str(value))
        raise click.BadParameter(
            f"{value!r} is no time: write 2026-11-01, 2026-11-01T06 or 20261101_06 (UTC)", ctx, param
        )


def _steps(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, ...]:
    from gribmill.ingest.errors import IngestError
    from gribmill.ingest.models.hour_ranges import parse_steps

    if value is None:
        return ()
    try:
        return tuple(parse_steps(value))
    except IngestError as error:
        raise click.BadParameter(str(error)) from None


@click.command()
@click.argument("model")
@click.option("--from", "begin", type=Moment(), required=True, help="The first run, such as 2026-11-01 or 20261101_06.")
@click.option("--to", "end", type=Moment(LAST_HOUR), help="The last run, or its day; the day of --from by default.")
@click.option("--cycles", callback=_steps, help="Only runs at these hours, such as 0,12.")
@click.option("--hours", callback=_steps, help="Only these forecast hours, such as 0-18 or 0-48/3.")
@click.option(
    "--region", "--regions", "regions", multiple=True, callback=parse_names,
    help="Regions, repeated or separated by commas; those of [chain] by default.",
)  # fmt: skip
@click.option("--vars", "variables", callback=parse_names, help="Only these variables, separated by commas.")
@click.option("--keep-grib", is_flag=True, default=None, help="Keep the downloaded messages.")
@click.option("--dry-run", is_flag=True, help="Only count the files, tiles and bytes.")
@click.option("--wait", is_flag=True, help="Stay until it is done, with a progress bar. Workers must run.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def backfill(settings: Settings, /, model: str, begin: datetime, end: datetime | None, **options: Any) -> None:
    """Fetch past runs of MODEL, behind everything that is live.

    Files whose tiles are here already, with all the variables, are left alone, so a backfill can
    be stopped and asked for again. `gribmill work` or `gribmill run` does the work.

    \b
    gribmill backfill hrrr --from 2026-11-01 --to 2026-11-02 --cycles 0,12 --hours 0-18 --regions ne --dry-run
    gribmill backfill gfs --from 20261101_00 --hours 0-48/3 --regions europe --vars t2m,tp --wait
    """
    from gribmill.ingest.index.select import wanted
    from gribmill.ingest.models.registry import models_named
    from gribmill.pipeline.backfill import BackfillRequest, enqueue_backfill, plan_backfill
    from gribmill.pipeline.context import make_context
    from gribmill.pipeline.open_queue import open_queue

    context = make_context(settings)
    wanted(options["variables"])
    plans = [
        plan_backfill(
            context,
            BackfillRequest(
                one,
                begin,
                end or begin.replace(hour=LAST_HOUR),
                options["cycles"],
                options["hours"],
                options["regions"],
                options["variables"],
                options["keep_grib"],
            ),
        )
        for one in models_named(context.models, model)
    ]
    store = open_queue(settings)
    if options["dry_run"]:
        _report([BackfillEstimateView.of(plan, bytes=_estimate(context, plan)) for plan in plans], options["as_json"])
        return
    enqueued = [
        BackfillEnqueuedView.of(plan, correlation_id=enqueue_backfill(store, plan) if plan.files else None)
        for plan in plans
    ]
    if not options["wait"]:
        _report(enqueued, options["as_json"])
        return
    if not options["as_json"]:
        _report(enqueued, as_json=False)
    if not any(_works(worker, settings) for worker in store.workers.list()):
        click.echo("no worker runs, so this waits for one: `gribmill work` starts it", err=True)
    failed = _wait(store, [one.correlation_id for one in enqueued if one.correlation_id])
    if options["as_json"]:
        print_json([BackfillDoneView(**one.model_dump(), failed_jobs=failed) for one in enqueued])
    if failed:
        raise SystemExit(1)


def _works(worker: Worker, settings: Settings) -> bool:
    return WorkerView.of(worker, settings.queue.lease_seconds).shown_state not in ("stopped", "stale")


def _report(views: Sequence[BackfillView], as_json: bool) -> None:
    if as_json:
        print_json(views)
    else:
        for view in views:
            click.echo(_sentence(view))


def _sentence(view: BackfillView) -> str:
    here = ""
    if view.here_with_other_variables:
        here += f"; {view.here_with_other_variables} of them are here with other variables, which they keep"
    if view.already_here:
        here += f"; {view.already_here} files are here already"
    what = f"{view.files} files of {view.runs} runs for {view.tiles} tiles"
    if isinstance(view, BackfillEstimateView):
        size = f", about {format_size(view.bytes)} to download" if view.bytes else ""
        return f"{view.model}: would fetch {what}{size}{here}"
    return f"{view.model}: enqueued {what}{here}" if view.files else f"{view.model}: nothing to fetch{here}"


def _estimate(context: Any, plan: BackfillPlan) -> int | None:
    """The bytes of one file's wanted messages, times the files: one small request, or None when it fails."""
    from gribmill.pipeline.backfill import bytes_of_file

    if not plan.files:
        return 0
    sample = plan.files[len(plan.files) // 2]
    one = bytes_of_file(context, plan.request.model, sample.run, sample.hour, sample.variables)
    return None if one is None else one * len(plan.files)


def _wait(store: Store, chains: list[str]) -> int:
    """A progress bar over the queue; how many jobs failed."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from gribmill.pipeline.backfill import progress_of

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    screen = console(stderr=True)
    with Progress(*columns, console=screen, disable=not screen.is_terminal) as bar:
        task = bar.add_task("jobs", total=None)
        while True:
            counts: dict[str, int] = {}
            for chain in chains:
                for status, count in progress_of(store, chain).items():
                    counts[status] = counts.get(status, 0) + count
            active = counts.get("pending", 0) + counts.get("processing", 0)
            total = sum(counts.values())
            bar.update(
                task, total=total, completed=total - active, description=f"jobs ({counts.get('failed', 0)} failed)"
            )
            if not active:
                return counts.get("failed", 0)
            time.sleep(0.5)
