"""scan_source: looks at a model's newest runs and enqueues every published hour that is not here yet."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from gribmill.identity import HourRef, ModelId, RunRef
from gribmill.identity import run_id as run_id_of
from gribmill.pipeline.ids import PublishedRunId
from gribmill.queue.job_type import Args, JobType
from gribmill.queue.model import Failed, NewJob, Outcome, Snoozed, Succeeded
from gribmill.queue.worker.task import PermanentFailure, Task

if TYPE_CHECKING:
    from gribmill.catalogue.events import Event
    from gribmill.catalogue.records import HourRecord, RunRecord
    from gribmill.ingest.listing.available_hours import Published
    from gribmill.ingest.mirrors.circuit_breaker import Observation
    from gribmill.ingest.mirrors.mirror import Mirror
    from gribmill.ingest.models.model import Model
    from gribmill.pipeline.context import Context

SHORTEST_SNOOZE_SECONDS = 2.0
LONGEST_SNOOZE_SECONDS = 900.0
TIMEOUT_SECONDS = 300
# For all questions together: what was seen has to be recorded before the job is stopped.
ASKING_SECONDS = 200.0


class ScanSourceArgs(Args):
    """Which model to look for; one run of it, if only that is wanted."""

    model_id: ModelId
    run_id: PublishedRunId | None = None


def run(task: Task) -> Outcome:
    """One LIST per run. Ends when every run looked at is whole or given up; comes back while one still arrives."""
    from gribmill.pipeline.context import context_of

    args = task.args_as(ScanSourceArgs)
    context = context_of(task)
    scan = Scan(context, context.model(args.model_id), datetime.now(UTC))
    if not scan.regions:
        names = ", ".join(context.settings.chain.regions)
        return Succeeded(skipped=f"{args.model_id} reaches none of the regions of [chain] ({names or 'none is named'})")
    for one in scan.runs(args.run_id):
        scan.look_at(one)
    return scan.outcome()


class Scan:
    """One look at a model's publishers, compared with the catalogue."""

    def __init__(self, context: Context, model: Model, now: datetime) -> None:
        self._context = context
        self._model = model
        self._now = now
        self._records = {record.run_id: record for record in context.catalogue.runs(model.id)}
        self.regions = context.regions_of(model, context.settings.chain.regions)
        self._health = context.catalogue.mirrors()
        self._asked_for_run = False
        self._asks_until = time.monotonic() + ASKING_SECONDS
        self._failed: set[str] = set()
        self._observations: list[Observation] = []
        self._then: list[NewJob] = []
        self._events: list[Event] = []
        self._whole: set[datetime] = set()
        self._arriving: list[str] = []
        self._nothing: str | None = None
        self._errors: dict[str, str] = {}

    def runs(self, run_id: str | None) -> list[datetime]:
        """The runs to look at, the newest first: those that should have begun to come, and those not whole yet.

        The very newest is among them before it is due: a publisher may be early.
        """
        from gribmill.identity import run_time

        if run_id is not None:
            self._asked_for_run = True
            return [self._existing(run_time(run_id))]
        newest = self._model.runs(self._now)
        begun = [one for one in newest if self._is_due(one)]
        unfinished = {run_time(key) for key, record in self._records.items() if record.state == "arriving"}
        wanted = {*newest[:1], *begun[: self._context.settings.chain.runs_back], *unfinished}
        return sorted((one for one in wanted if not self._is_done(one) or self._lacks_something(one)), reverse=True)

    def look_at(self, run: datetime) -> None:
        """Which hours of this run are out, and which of them are not here yet."""
        from gribmill.catalogue.events import RunGivenUp
        from gribmill.identity import run_id

        key = run_id(run)
        published, answered = self._published(run)
        known = self._context.catalogue.hours(self._model.id, key)
        if not published and not known and not self._is_due(run):
            usual = self._model.expected_at(run, self._model.hours(run)[0]).usual
            self._nothing = f"{key} is not out yet: its first hour usually comes at {usual:%Y-%m-%d %H:%M} UTC"
            return
        hours, final = self._expected(run, {*published, *known}, answered=answered)
        self._see_run(key, hours, final)
        for hour in sorted({*published, *known}):
            self._see_hour(run, key, published.get(hour), known.get(hour))
        missing = [hour for hour in hours if hour not in published and hour not in known]
        if self._now >= self._model.gives_up_at(run):
            self._events.append(RunGivenUp(RunRef(self._model.id, key)))
            if not published and not known:
                self._nothing = f"no mirror has a file of {key}"
        elif final and not missing:
            self._whole.add(run)
        else:
            seen = f"{len(hours) - len(missing)} of {len(hours)} hours are out"
            self._arriving.append(f"{key}: {seen}" if answered else f"{key}: no mirror answered")

    def outcome(self) -> Outcome:
        """What to enqueue and to record, and whether to come back."""
        from gribmill.pipeline.effects import effects_of, observations

        also = effects_of([*self._events, *observations(self._observations)])
        if self._errors and not self._then and not self._arriving:
            return Failed("; ".join(self._errors.values()), also=also)
        if self._arriving:
            reason = "; ".join([*self._arriving, *self._errors.values()])
            return Snoozed(self._pace(), reason, then=tuple(self._then), also=also)
        return Succeeded(then=tuple(self._then), also=also, skipped=self._nothing if self._asked_for_run else None)

    def _published(self, run: datetime) -> tuple[dict[int, Published], bool]:
        """From the best mirror; further ones are asked only for hours that are late, or when one is out of order.

        And whether any mirror has answered: what a silent one does not show may be there all the same.
        """
        from gribmill.ingest.http.errors import SourceError
        from gribmill.ingest.mirrors.circuit_breaker import observation_of, order_mirrors

        found: dict[int, Published] = {}
        answered = False
        urls = self._model.urls(run, self._model.hours(run)[0])
        for source in order_mirrors(urls, self._health, self._now):
            name = source.mirror.name
            health = self._health.get(name)
            if health is not None and health.state(self._now) == "open":
                self._errors.setdefault(name, f"{name} is left alone for a while ({health.last_reason})")
                continue
            if name in self._failed:
                continue
            try:
                listed = self._ask(run, source.mirror)
            except SourceError as error:
                seen = observation_of(name, error, self._now)
                self._observations.append(seen)
                self._errors.setdefault(name, str(error))
                if not seen.ok:
                    self._failed.add(name)  # It would cost each further run of this scan as long.
                continue
            answered = True
            self._observations.append(observation_of(name, None, self._now))
            found = {**listed, **found}
            late = [hour for hour in self._model.hours(run) if self._now > self._model.expected_at(run, hour).late]
            if self._model.discovers(run) or all(hour in found for hour in late):
                break
        return found, answered

    def _ask(self, run: datetime, mirror: Mirror) -> dict[int, Published]:
        """What a mirror lists of the run, in half of the time that is left: the next one needs some, too."""
        from gribmill.ingest.http.deadline import until
        from gribmill.ingest.listing.available_hours import published

        now = time.monotonic()
        with until(now + (self._asks_until - now) / 2):
            return published(self._model, run, mirror, self._context.session)

    def _expected(self, run: datetime, seen: set[int], *, answered: bool) -> tuple[tuple[int, ...], bool]:
        """The hours that make the run whole; and whether that is settled. A run without any hour never is."""
        hours = self._model.hours(run)
        if not self._model.discovers(run):
            return hours, True
        over = self._now > self._model.expected_at(run, hours[-1]).late
        before = self._records.get(run_id_of(run))
        settled = before is not None and before.final and set(before.hours) == seen
        return tuple(sorted(seen)), bool(seen) and (settled or (over and answered))

    def _see_run(self, key: str, hours: tuple[int, ...], final: bool) -> None:
        from gribmill.catalogue.events import RunSeen
        from gribmill.pipeline.handlers.publish import publish_job

        before: RunRecord | None = self._records.get(key)
        if before is not None and (before.hours, before.final) == (hours, final):
            return
        self._events.append(RunSeen(RunRef(self._model.id, key), hours, final))
        if final and before is not None and not before.final:
            # Its tiles may all be there, and no other job would tell that the run is complete.
            self._then.append(publish_job(self._model.id, key, hours[-1]))

    def _see_hour(self, run: datetime, key: str, published: Published | None, known: HourRecord | None) -> None:
        from gribmill.catalogue.events import HourSeen
        from gribmill.pipeline.handlers.ingest_grib import ingest_job

        if known is not None and known.state != "published":
            if self._lacks(known):
                self._then.append(ingest_job(self._model.id, run, known.hour, live=True))
            return
        if published is None or (known is not None and self._is_hopeless(published, known)):
            return
        hour = HourRef(self._model.id, key, published.hour)
        seen = HourSeen(
            hour, published.mirror, published.grib_url, published.last_modified, published.size, published.etag
        )
        self._events.append(seen)
        self._then.append(ingest_job(self._model.id, run, published.hour, live=True))

    def _existing(self, run: datetime) -> datetime:
        if not self._model.hours(run):
            raise PermanentFailure(f"{self._model.id} has no run {run_id_of(run)}: it does not begin at that time")
        return run

    def _lacks(self, known: HourRecord) -> bool:
        """Whether regions or variables were never asked for: they came later, or a backfill wanted less."""
        if known.state == "published":
            return False
        return not {*self.regions} <= {*known.asked, *known.regions} or not known.covers(self._model.variables)

    def _lacks_something(self, run: datetime) -> bool:
        hours = self._context.catalogue.hours(self._model.id, run_id_of(run))
        return any(self._lacks(hour) for hour in hours.values())

    def _is_hopeless(self, published: Published, known: HourRecord) -> bool:
        """Its download failed for good, and the file is still the same. Who names the run wants it tried again."""
        if known.failed_at is None or self._asked_for_run:
            return False
        return published.last_modified is None or published.last_modified <= known.failed_at

    def _pace(self) -> float:
        from gribmill.identity import run_time

        if self._then:
            return self._model.scan_seconds  # files are coming out just now
        done = {run_time(key) for key, record in self._records.items() if record.state != "arriving"}
        soon = self._model.next_scan_at(self._now, self._whole | done)
        seconds = (soon - self._now).total_seconds() if soon else LONGEST_SNOOZE_SECONDS
        return min(max(seconds, SHORTEST_SNOOZE_SECONDS), LONGEST_SNOOZE_SECONDS)

    def _is_due(self, run: datetime) -> bool:
        return self._model.expected_at(run, self._model.hours(run)[0]).usual <= self._now

    def _is_done(self, run: datetime) -> bool:
        from gribmill.identity import run_id

        record = self._records.get(run_id(run))
        return record is not None and record.state != "arriving"


SCAN_SOURCE = JobType(
    key="scan_source",
    description="Looks for new runs of a model at NOAA or ECMWF.",
    args=ScanSourceArgs,
    lane="fetch",
    handler="gribmill.pipeline.handlers.scan_source:run",
    timeout_seconds=TIMEOUT_SECONDS,
    max_attempts=5,
    backoff_base_s=30.0,
    backoff_cap_s=600.0,
    dedupe=True,
)
