"""Following models: a schedule of scans next to a supervisor that runs the jobs."""

from __future__ import annotations

import dataclasses
import json
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from gribmill.errors import GribmillError
from gribmill.identity import run_id, run_time
from gribmill.ingest.models.hour_ranges import write_steps
from gribmill.ingest.models.model import Model
from gribmill.ingest.models.registry import models_named
from gribmill.pipeline.context import Context, make_context
from gribmill.pipeline.open_queue import open_queue, worker_options
from gribmill.pipeline.scan_schedule import ScanSchedule, ScanScheduleThread
from gribmill.pipeline.status.watch import ChainWatch
from gribmill.queue.store.jobs.listing import JobFilter
from gribmill.queue.worker.supervisor.supervisor import Supervisor
from gribmill.regions.region import region_named
from gribmill.settings.schema import Settings

log = logging.getLogger("gribmill.follow")

# The interval between log lines about what `--until-complete` waits for.
LOG_SECONDS = 30.0
DOING = {"scan_source": "scanning", "ingest_grib": "fetching", "build_tile": "building", "prune": "pruning"}
JOBS_LOOKED_AT = 200
HOURS_NAMED = 4


class NothingToFollow(GribmillError):
    """No model or no region was given."""


class Follow:
    """`gribmill run`: validates the settings, then runs one process tree."""

    def __init__(self, settings: Settings, lanes: dict[str, int] | None = None) -> None:
        chain = settings.chain
        if not chain.models or not chain.regions:
            raise NothingToFollow(
                "name at least one model and one region: gribmill run --model hrrr --region ne,"
                " or [chain] models and regions in gribmill.toml"
            )
        self._context: Context = make_context(settings)
        self._models = [model for name in chain.models for model in models_named(self._context.models, name)]
        for name in chain.regions:
            region_named(self._context.regions, name)
        self._regions = {model.id: self._context.regions_of(model, chain.regions) for model in self._models}
        if not any(self._regions.values()):
            raise NothingToFollow(
                f"no grid of {', '.join(model.id for model in self._models)} reaches {', '.join(chain.regions)}:"
                " `gribmill regions show NAME` lists the models whose grids contain a region"
            )
        options = worker_options(settings)
        self._options = dataclasses.replace(options, lanes=lanes or options.lanes)
        self._store = open_queue(settings)
        self._logged, self._log_at = "", 0.0

    def plan(self) -> Iterator[str]:
        """One line per model that will be followed."""
        for model in self._models:
            reached = ", ".join(self._regions[model.id])
            yield f"{model.id}: {model.title}; regions {reached or 'none of those named'}"
        yield f"data root {self._context.root}; `gribmill status` shows what is fresh"

    def progress(self) -> str:
        """The progress of the newest runs and current work, in one line. Safe to call from another thread."""
        return _progress_line(self._context, self._models, self._regions)

    def run(self, *, until_complete: bool = False) -> int:
        """Run until stopped, or until the newest run of every model is complete for the regions that are followed.

        Returns the number of attempts that this process finished.
        """
        watch = ChainWatch(self._context, self._models, self._store)
        schedule = ScanScheduleThread(ScanSchedule(self._store, self._models, self._now), self._store, watch)
        supervisor = Supervisor(self._store, self._options)
        schedule.start()
        try:
            return supervisor.run(self._complete if until_complete else None)
        finally:
            schedule.stop()

    def _now(self) -> datetime:
        return datetime.now(UTC) - self._context.clock_ahead()

    def _complete(self) -> bool:
        """Whether every due run is complete and published. Logs what is still missing."""
        awaited = [words for model in self._models if (words := self._awaited(model))]
        self._log_awaited("; ".join(awaited))
        return not awaited and not self._store.jobs.upcoming("publish", limit=1)

    def _log_awaited(self, words: str) -> None:
        """Log at most twice a minute, and only changes."""
        if words and words != self._logged and time.monotonic() >= self._log_at:
            log.info("waiting for %s", words)
            self._logged, self._log_at = words, time.monotonic() + LOG_SECONDS

    def _awaited(self, model: Model) -> str | None:
        """Why the model's newest run is not complete; None if it is."""
        regions = self._regions[model.id]
        if not regions:
            return None  # it will not be fetched
        now = self._now()
        due = [run for run in model.runs(now) if model.expected_at(run, model.hours(run)[0]).usual <= now]
        # Runs that begin in the future were recorded while the clock was ahead.
        records = [one for one in self._context.catalogue.runs(model.id) if run_time(one.run_id) <= now]
        newest = records[0] if records else None
        if due and (newest is None or newest.run_id < run_id(due[0])):
            return f"{model.id} {run_id(due[0])}, which is due and not published yet"
        if newest is None:
            return None
        if not newest.final:
            return f"{model.id} {newest.run_id}, whose hours are not all known yet"
        lacking = self._context.catalogue.lacking(newest.ref, regions)
        return f"{model.id} {newest.run_id}, hours {write_steps(tuple(sorted(lacking)))}" if lacking else None


def _progress_line(context: Context, models: Sequence[Model], regions: Mapping[str, Sequence[str]]) -> str:
    """`hrrr 00Z 12/19 hours, 24/38 tiles | fetching hrrr +13 +14`."""
    parts = [_of_model(context, model, regions[model.id]) for model in models if regions[model.id]]
    return " | ".join([*parts, _activity(context)])


def _of_model(context: Context, model: Model, regions: Sequence[str]) -> str:
    now = datetime.now(UTC)
    newest = next((one for one in context.catalogue.runs(model.id) if run_time(one.run_id) <= now), None)
    if newest is None:
        return f"{model.id} nothing yet"
    lacking = context.catalogue.lacking(newest.ref, regions)
    hours, tiles = len(newest.hours), len(newest.hours) * len(regions)
    missing = sum(len(several) for several in lacking.values())
    name = f"{model.id} {newest.run_id[9:]}Z"
    if newest.final and not missing:
        return f"{name} complete"
    return f"{name} {hours - len(lacking)}/{hours} hours, {tiles - missing}/{tiles} tiles"


def _activity(context: Context) -> str:
    jobs = context.jobs.list(JobFilter(status="processing"), limit=JOBS_LOOKED_AT).jobs
    found: dict[str, list[str]] = {}
    for job in jobs:
        args = job.args if isinstance(job.args, dict) else {}
        hours = found.setdefault(f"{DOING.get(job.type, job.type)} {args.get('model_id', '')}".strip(), [])
        hour = f"+{json.dumps(args['hour'])}" if "hour" in args else ""
        if hour and hour not in hours:
            hours.append(hour)
    if not found:
        return "waiting"
    return ", ".join(
        " ".join([what, *hours[:HOURS_NAMED], *(["…"] if len(hours) > HOURS_NAMED else [])])
        for what, hours in found.items()
    )
