"""`gribmill backfill`: fetch past runs through the queue."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.options.moment import Moment
from gribmill.cli.options.parse_names import parse_names
from gribmill.cli.output import AS_JSON, print_json
from gribmill.cli.patience import patiently
from gribmill.cli.progress import progress_bars
from gribmill.cli.text.figures import counted, format_size
from gribmill.ingest.errors import IngestError
from gribmill.ingest.index.select import wanted
from gribmill.ingest.models.hour_ranges import parse_steps
from gribmill.ingest.models.registry import models_named
from gribmill.pipeline.backfill.backfill import BackfillRequest, enqueue_backfill, plan_backfill
from gribmill.pipeline.backfill.estimate import estimate_backfill
from gribmill.pipeline.backfill.progress import BackfillProgress, hours_not_due, hours_waited_for
from gribmill.pipeline.context import make_context
from gribmill.pipeline.open_queue import open_queue, worker_options
from gribmill.pipeline.tenant_regions import wanted_regions
from gribmill.queue.errors import StoreUnreachable
from gribmill.queue.worker.supervisor.supervisor import Supervisor
from gribmill.settings.schema import Settings
from gribmill.views.chain.backfill import BackfillDoneView, BackfillEnqueuedView, BackfillEstimateView, BackfillView

if TYPE_CHECKING:
    from gribmill.identity import RunRef
    from gribmill.ingest.models.model import Model
    from gribmill.pipeline.backfill.backfill import BackfillPlan
    from gribmill.pipeline.backfill.progress import BackfillState
    from gribmill.pipeline.context import Context
    from gribmill.queue.store import Store

# The last hour of a day at which a run can start.
LAST_HOUR = 23
SHOW_SECONDS = 0.5
LOOK_SECONDS = 2.0


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
    help="Regions; repeated, or separated by commas. [default: those of the tenant, or of [chain]]",
)  # fmt: skip
@click.option("--vars", "variables", callback=parse_names, help="Only these variables, separated by commas.")
@click.option(
    "--keep-grib", is_flag=True, default=None, help="Keep the downloaded messages after their tiles are built."
)
@click.option("--tenant", help="The tenant to do it for; its turns and limits apply.")
@click.option("--dry-run", is_flag=True, help="Only count files, tiles and bytes; asks the mirrors what they have.")
@click.option("--wait", is_flag=True, help="Wait until it is done, with a progress bar. Workers must be running.")
@click.option("--here", is_flag=True, help="Start workers in this command, and stop them when it is done.")
@AS_JSON
@click.pass_obj
def backfill(settings: Settings, /, model: str, begin: datetime, end: datetime | None, **options: Any) -> None:
    """Fetch past runs of MODEL, at a lower priority than new runs.

    Files whose tiles already exist with all variables are skipped, so you can stop a backfill and
    request it again. Workers (`gribmill work`, `gribmill run`) do the work, or this command itself
    with --here. With --wait or --here the exit code is 1 if a job failed or was stopped.

    \b
    gribmill backfill hrrr --from 2026-11-01 --to 2026-11-02 --cycles 0,12 --hours 0-18 --regions ne --dry-run
    gribmill backfill gfs --from 20261101_00 --hours 0-48/3 --regions europe --vars t2m,tp --here
    """
    if options["dry_run"] and (options["here"] or options["wait"]):
        raise click.UsageError("--dry-run does no work; leave out --here and --wait")
    if end is not None and end < begin:
        raise click.UsageError("the backfill ends before it begins: --to must not be before --from")
    context = make_context(settings)
    wanted(options["variables"])
    plans = [plan_backfill(context, _request(one, begin, end, options)) for one in models_named(context.models, model)]
    if options["dry_run"]:
        _report([BackfillEstimateView.with_estimate(plan, estimate_backfill(context, plan)) for plan in plans], options)
        return
    store = open_queue(settings)
    enqueued = [BackfillEnqueuedView.of(plan, correlation_id=_enqueue(store, context, plan)) for plan in plans]
    _note_later_hours(plans)
    if not (options["wait"] or options["here"]):
        _report(enqueued, options)
        return
    if not options["as_json"]:
        _report(enqueued, options)
    chains = {one.correlation_id: len(one.regions) for one in enqueued if one.correlation_id}
    progress = BackfillProgress(store, chains, options["tenant"])
    state = (_work_here if options["here"] else _wait_for_workers)(settings, store, context.models, progress)
    if options["as_json"]:
        print_json([BackfillDoneView(**one.model_dump(), failed_jobs=state.failed) for one in enqueued])
    elif chains:
        _conclude(state)
    if state.failed or state.active:
        raise SystemExit(1)


def _enqueue(store: Store, context: Context, plan: BackfillPlan) -> str | None:
    return enqueue_backfill(store, context.catalogue, plan, wanted_regions(context)) if plan.files else None


def _request(model: Model, begin: datetime, end: datetime | None, options: dict[str, Any]) -> BackfillRequest:
    return BackfillRequest(
        model,
        begin,
        end or begin.replace(hour=LAST_HOUR),
        options["cycles"],
        options["hours"],
        options["regions"],
        options["variables"],
        options["keep_grib"],
        current_user(),
        options["tenant"],
    )


def _report(views: Sequence[BackfillView], options: dict[str, Any]) -> None:
    if options["as_json"]:
        print_json(views)
    else:
        for view in views:
            click.echo(_sentence(view))


def _note_later_hours(plans: Sequence[BackfillPlan]) -> None:
    now = datetime.now(UTC)
    for plan in plans:
        for one in hours_not_due(plan, now):
            click.echo(f"note: {one.text(now)}; fetched as soon as a mirror has them", err=True)


def _sentence(view: BackfillView) -> str:
    here = ""
    if view.here_with_other_variables:
        here += f"; {view.here_with_other_variables} of them here with other variables, which are kept"
    if view.already_here:
        here += f"; {counted(view.already_here, 'file')} here already"
    what = f"{counted(view.files, 'file')} of {counted(view.runs, 'run')} for {counted(view.tiles, 'tile')}"
    if not view.files:
        return f"{view.model}: nothing to fetch{here}"
    if isinstance(view, BackfillEstimateView):
        return f"{view.model}: would fetch {what}{_estimate(view)}{here}"
    return f"{view.model}: enqueued {what}{here}"


def _estimate(view: BackfillEstimateView) -> str:
    """How many of the files the mirrors have, and their size; also states what is unknown."""
    known = view.published + view.absent
    parts = []
    if known:
        share = "all of them" if view.published == view.files else f"{view.published} of {known}"
        parts.append(f"mirrors have {share}" + (" that they were asked about" if view.unknown else ""))
    if view.unknown:
        why = "not asked about" if known else "no mirror answered"
        parts.append(f"{view.unknown} counted from the model's schedule ({why})")
    if view.published or view.unknown:
        parts.append("size not known" if view.bytes is None else f"about {format_size(view.bytes)} to download")
    return "".join(f"; {part}" for part in parts)


def _conclude(state: BackfillState) -> None:
    if state.active:
        click.echo(f"stopped with {counted(state.active, 'job')} left; the same command continues", err=True)
    elif state.failed:
        click.echo(f"{counted(state.failed, 'job')} failed; `gribmill jobs list --status failed` says why", err=True)
    else:
        click.echo("done", err=True)


def _wait_for_workers(
    settings: Settings, store: Store, models: Mapping[str, Model], progress: BackfillProgress
) -> BackfillState:
    """Wait until other workers are done, with a progress bar; prints a note if none is running."""
    if progress.read().active and not store.workers.alive(settings.queue.lease_seconds):
        click.echo("no worker is running; waiting for one (`gribmill work` starts it, or use --here)", err=True)
    return _show(progress, _Notes(store, models, progress), threading.Event())


def _work_here(
    settings: Settings, store: Store, models: Mapping[str, Model], progress: BackfillProgress
) -> BackfillState:
    """Run workers in this process tree until the backfill is done, or until a signal stops them."""
    if not progress.read().active:
        return progress.read()
    if sys.stderr.isatty() and settings.log.level == "info":
        # A line for each job would break the progress bar.
        settings = settings.model_copy(update={"log": settings.log.model_copy(update={"level": "warning"})})
        logging.getLogger("gribmill").setLevel(logging.WARNING)
    over = threading.Event()

    def show() -> None:
        with suppress(StoreUnreachable):
            _show(progress, _Notes(store, models, progress), over)
        store.close()  # this thread's connection

    display = threading.Thread(target=show, name="progress", daemon=True)
    display.start()
    try:
        Supervisor(store, worker_options(settings)).run(lambda: not progress.read().active)
    finally:
        over.set()
        display.join()
    return progress.read()


def _show(progress: BackfillProgress, notes: _Notes, over: threading.Event) -> BackfillState:
    """Show the progress until no job is active, or until asked to stop."""
    with progress_bars("items") as add_bar:
        bar = add_bar("files and tiles")
        while True:
            state = patiently(progress.read, over)
            bar(state.done, state.total, "files and tiles" + (f" ({state.failed} failed)" if state.failed else ""))
            if not state.active:
                return state
            patiently(notes.write, over)
            if over.wait(SHOW_SECONDS):
                return state


class _Notes:
    """Prints once what the backfill is waiting for when nothing else is left to do."""

    def __init__(self, store: Store, models: Mapping[str, Model], progress: BackfillProgress) -> None:
        self._store, self._models, self._groups = store, models, progress.groups
        self._said: set[tuple[RunRef, tuple[int, ...]]] = set()
        self._looked_at = 0.0

    def write(self) -> None:
        if time.monotonic() < self._looked_at + LOOK_SECONDS:
            return
        self._looked_at = time.monotonic()
        now = datetime.now(UTC)
        for one in hours_waited_for(self._store, self._models, self._groups, now):
            if (one.run, one.hours) in self._said:
                continue
            self._said.add((one.run, one.hours))
            again = f"{one.again_at:%H:%M}" if one.again_at else "once more"
            click.echo(
                f"{one.text(now)}; waiting, next look at {again} UTC. Ctrl-C stops; the same command continues",
                err=True,
            )
