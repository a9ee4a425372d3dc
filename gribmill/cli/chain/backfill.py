"""`gribmill backfill`: fetch past runs through the queue."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from gribmill.cli.format_size import format_size
from gribmill.cli.options.moment import Moment
from gribmill.cli.options.parse_names import parse_names
from gribmill.cli.output import print_json
from gribmill.cli.progress import progress_bars
from gribmill.ingest.errors import IngestError
from gribmill.ingest.index.select import wanted
from gribmill.ingest.models.hour_ranges import parse_steps
from gribmill.ingest.models.registry import models_named
from gribmill.pipeline.backfill import BackfillRequest, bytes_of_file, enqueue_backfill, plan_backfill, progress_of
from gribmill.pipeline.context import make_context
from gribmill.pipeline.open_queue import open_queue
from gribmill.settings.schema import Settings
from gribmill.views.backfill import BackfillDoneView, BackfillEnqueuedView, BackfillEstimateView, BackfillView
from gribmill.views.worker import WorkerView

if TYPE_CHECKING:
    from gribmill.pipeline.backfill import BackfillPlan
    from gribmill.queue.model import Worker
    from gribmill.queue.store import Store

# The last hour at which a run of a day can begin.
LAST_HOUR = 23


def _steps(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, ...]:
    if value is None:
        return ()
    try:
        return tuple(parse_steps(value))
    except IngestError as error:
        raise click.BadParameter(str(error)) from None


@click.command()
@click.argument("model")
@click.option("--from", "begin", type=Moment(), required=True, help="The first run, such as 2026-11-01 or 20261101_06.")
@click.option("--to", "end", type=Moment(LAST_HOUR), help="The last run, or the last day. [default: the day of --from]")
@click.option("--cycles", callback=_steps, help="Only runs that begin at these hours, such as 0,12.")
@click.option("--hours", callback=_steps, help="Only these forecast hours, such as 0-18 or 0-48/3.")
@click.option(
    "--region", "--regions", "regions", multiple=True, callback=parse_names,
    help="Regions; repeated, or separated by commas. [default: those of [chain]]",
)  # fmt: skip
@click.option("--vars", "variables", callback=parse_names, help="Only these variables, separated by commas.")
@click.option(
    "--keep-grib", is_flag=True, default=None, help="Keep the downloaded messages after their tiles are built."
)
@click.option("--dry-run", is_flag=True, help="Only count files, tiles and bytes.")
@click.option("--wait", is_flag=True, help="Wait until it is done, with a progress bar. Workers must be running.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def backfill(settings: Settings, /, model: str, begin: datetime, end: datetime | None, **options: Any) -> None:
    """Fetch past runs of MODEL, at a lower priority than new runs.

    Files whose tiles are here already, with all the variables, are skipped, so a backfill can be
    stopped and requested again. `gribmill work` or `gribmill run` does the work.

    \b
    gribmill backfill hrrr --from 2026-11-01 --to 2026-11-02 --cycles 0,12 --hours 0-18 --regions ne --dry-run
    gribmill backfill gfs --from 20261101_00 --hours 0-48/3 --regions europe --vars t2m,tp --wait
    """
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
        click.echo("no worker is running; waiting for one (`gribmill work` starts it)", err=True)
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
        here += f"; {view.here_with_other_variables} of them are here with other variables, which are kept"
    if view.already_here:
        here += f"; {view.already_here} files are here already"
    what = f"{view.files} files of {view.runs} runs for {view.tiles} tiles"
    if isinstance(view, BackfillEstimateView):
        size = f", about {format_size(view.bytes)} to download" if view.bytes else ""
        return f"{view.model}: would fetch {what}{size}{here}"
    return f"{view.model}: enqueued {what}{here}" if view.files else f"{view.model}: nothing to fetch{here}"


def _estimate(context: Any, plan: BackfillPlan) -> int | None:
    """The bytes of the wanted messages of one file times the number of files: one small request; None if it fails."""
    if not plan.files:
        return 0
    sample = plan.files[len(plan.files) // 2]
    one = bytes_of_file(context, plan.request.model, sample.run, sample.hour, sample.variables)
    return None if one is None else one * len(plan.files)


def _wait(store: Store, chains: list[str]) -> int:
    """Show progress until no job of these chains is active; how many failed."""
    with progress_bars("items") as add_bar:
        bar = add_bar("jobs")
        while True:
            counts = Counter[str]()
            for chain in chains:
                counts.update(progress_of(store, chain))
            active = counts["pending"] + counts["processing"]
            bar(counts.total() - active, counts.total(), f"jobs ({counts['failed']} failed)")
            if not active:
                return counts["failed"]
            time.sleep(0.5)
