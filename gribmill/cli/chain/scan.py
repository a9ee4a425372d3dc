"""`gribmill scan`: look for new runs now."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.options.accepted_by import accepted_by
from gribmill.cli.output import print_json
from gribmill.cli.text.figures import counted
from gribmill.identity import whole_run
from gribmill.ingest.models.registry import models_named
from gribmill.pipeline.job_types import scan_job
from gribmill.pipeline.models import configured_models
from gribmill.pipeline.open_queue import open_queue, output_logs
from gribmill.pipeline.scan_schedule import scan_now
from gribmill.queue.model import Attempt, Enqueued
from gribmill.queue.store import Store
from gribmill.queue.store.jobs.listing import PAGE_LIMIT, JobFilter
from gribmill.queue.worker.in_process import Ticker
from gribmill.settings.schema import Settings
from gribmill.views.chain.scan import ScanFinding, ScanResultView, ScanView

POLL_SECONDS = 0.1
# The outcome for each attempt status, because the outcome itself is known only to the process that ran the attempt.
OUTCOMES = {"succeeded": "succeeded", "skipped": "succeeded", "snoozed": "snoozed"}


@click.command()
@click.argument("model")
@click.option("--run", "run_id", callback=accepted_by(whole_run), help="Only this run, as YYYYMMDD_HH.")
@click.option("--here", is_flag=True, help="Scan in this process, and show the result.")
@click.option("--json", "as_json", is_flag=True, help="The scans and what they found, as JSON.")
@click.pass_obj
def scan(settings: Settings, model: str, run_id: str | None, here: bool, as_json: bool) -> None:
    """Look for new runs of MODEL, and enqueue downloads of published files that are missing here.

    MODEL is a model such as hrrr, or a family such as gefs for all of its members. A worker runs
    the scan; with --here this process does, unless a worker has claimed it first: then its result is
    shown. Exit code 1 if a scan failed, or could not be run with --here.
    """
    chosen = models_named(configured_models(settings), model)
    store = open_queue(settings)
    asked_at = datetime.now(UTC) - timedelta(milliseconds=1)  # the database keeps whole milliseconds
    made = scan_now(store, [scan_job(one.id, run_id, source="manual", created_by=current_user()) for one in chosen])
    found = _look(settings, store, made, asked_at) if here else {}
    views = [
        ScanResultView.with_finding(one.id, job, found.get(job.id)) if here else ScanView.of(one.id, job)
        for one, job in zip(chosen, made, strict=True)
    ]
    if as_json:
        print_json(views)
    else:
        for view in views:
            click.echo(f"{view.model}: scan is job {view.job_id}{_result(view)}")
    if here and (len(found) < len(views) or any(one.outcome == "failed" for one in found.values())):
        raise SystemExit(1)


def _look(settings: Settings, store: Store, made: list[Enqueued], asked_at: datetime) -> dict[int, ScanFinding]:
    """The result of each scan, run in this process or by a worker; paused and reserved scans are left out."""
    ticker = Ticker(store, settings.queue.lease_seconds, settings.model_dump(mode="json"), logs=output_logs(settings))
    found: dict[int, ScanFinding] = {}
    while left := {one.id for one in made} - found.keys():
        ran = ticker.run_jobs(sorted(left))
        found |= {one.job.id: ScanFinding.of(one.outcome) for one in ran if one.job.id in left}
        waiting = False
        for job_id in left - found.keys():
            # The status is read first: a worker may end the scan between the two.
            status = store.jobs.get(job_id).status
            ended = _ended_since(store, job_id, asked_at)
            if ended is not None:
                found[job_id] = _finding(store, ended)
            waiting |= ended is None and status == "processing"
        if not ran and not waiting and not found.keys() & left:
            break  # scans are paused or reserved
        if waiting:
            time.sleep(POLL_SECONDS)
    return found


def _ended_since(store: Store, job_id: int, moment: datetime) -> Attempt | None:
    """The last attempt that ended since `moment`, by any worker."""
    ended = [one for one in store.jobs.history(job_id).attempts if one.finished_at]
    return next((one for one in reversed(ended) if one.finished_at and one.finished_at >= moment), None)


def _finding(store: Store, attempt: Attempt) -> ScanFinding:
    """The result of a worker's scan. Its downloads were enqueued in the transaction that ended the attempt."""
    assert attempt.finished_at is not None
    model_id = store.jobs.get(attempt.job_id).args["model_id"]
    until = attempt.finished_at + timedelta(milliseconds=1)
    wanted = JobFilter(type="ingest_grib", created_after=attempt.finished_at, created_before=until)
    new = store.jobs.list(wanted, limit=PAGE_LIMIT).jobs
    files = sum(isinstance(job.args, dict) and job.args.get("model_id") == model_id for job in new)
    return ScanFinding(OUTCOMES.get(attempt.status, "failed"), files, attempt.error_text, attempt.worker_id)


def _result(view: ScanView) -> str:
    if not isinstance(view, ScanResultView):
        return "" if view.new else " (one was active already)"
    if view.outcome is None:
        return ", and was not run: scans are paused or reserved"
    by = f" (run by worker {view.worker})" if view.worker else ""
    return f"{by}: {counted(view.files, 'new file')}" + (f"; {view.note}" if view.note else "")
