"""scan_source: checks a model's newest runs and enqueues every published hour that is missing here."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta

from gribmill.catalogue.events import (
    Event,
    HourSeen,
    MirrorsAnswered,
    MirrorsSilent,
    RunGivenUp,
    RunRemoved,
    RunSeen,
)
from gribmill.catalogue.reads import loss_events, lost_tiles
from gribmill.catalogue.records import HourRecord
from gribmill.identity import HourRef, RunRef, run_id, run_time
from gribmill.ingest.available_hours import MirrorQuestions, Published
from gribmill.ingest.models.model import Model
from gribmill.pipeline.context import Context, context_of
from gribmill.pipeline.effects import effects_of, observations
from gribmill.pipeline.handlers.wait_for_storage import or_wait
from gribmill.pipeline.job_arguments import ScanSourceArgs
from gribmill.pipeline.job_types import ingest_job, publish_job
from gribmill.pipeline.status.freshness import freshness_events, read_freshness
from gribmill.pipeline.status.status import is_partial
from gribmill.pipeline.tenant_regions import wanted_regions
from gribmill.queue.model import Failed, NewJob, Outcome, Snoozed, Succeeded
from gribmill.queue.worker.task import PermanentFailure, Task

SHORTEST_SNOOZE_SECONDS = 2.0
LONGEST_SNOOZE_SECONDS = 900.0
# During an outage one mirror is tried at this interval, to notice its end soon.
OUTAGE_SNOOZE_SECONDS = 60.0
LONGEST_REASON = 200
# NTP corrects smaller errors without a jump.
CLOCK_SLACK = timedelta(minutes=1)

log = logging.getLogger("gribmill.scan")


def run(task: Task) -> Outcome:
    """Scan with one listing per run. Succeeds if all scanned runs are published or given up; snoozes while one is
    arriving."""
    return or_wait(task, lambda: _scan(task))


def _scan(task: Task) -> Outcome:
    args = task.args_as(ScanSourceArgs)
    context = context_of(task)
    scan = Scan(context, context.model(args.model_id), datetime.now(UTC) - context.clock_ahead())
    if not scan.regions:
        names = ", ".join(context.settings.chain.regions)
        return Succeeded(skipped=f"{args.model_id} reaches none of the regions of [chain] ({names or 'none is named'})")
    for moment in scan.runs(args.run_id):
        scan.look_at(moment)
    return scan.outcome()


class Scan:
    """One scan of a model's mirrors, compared with the catalogue."""

    def __init__(self, context: Context, model: Model, now: datetime) -> None:
        self._context = context
        self._model = model
        self._now = now
        self._mirrors = MirrorQuestions(model, context.session, context.catalogue.mirrors(), now)
        self._looked_at = datetime.now(UTC) - context.clock_ahead()
        self._records = {record.run_id: record for record in context.catalogue.runs(model.id)}
        self.regions = context.regions_of(model, wanted_regions(context))
        self._asked_for_run = False
        self._then: list[NewJob] = []
        self._events: list[Event] = []
        self._whole: set[datetime] = set()
        self._arriving: dict[str, list[str]] = {}
        self._nothing: str | None = None

    def runs(self, wanted: str | None) -> list[datetime]:
        """The runs to scan, newest first: those that are due, and those that are still arriving.

        Includes the newest run even before it is due, because a publisher may be early.
        """
        if wanted is not None:
            self._asked_for_run = True
            return [self._existing(run_time(wanted))]
        newest = self._model.runs(self._now)
        begun = [run for run in newest if self._is_due(run)]
        self._forget_future_runs()
        unfinished = {
            run_time(key)
            for key, record in self._records.items()
            if record.state == "arriving" and not is_partial(self._model, record)
        }
        # After a change of its hours or cycles, the model may not have them any more.
        ended = {run for run in unfinished if not self._model.hours(run)}
        self._events += [RunGivenUp(self._ref(run)) for run in sorted(ended)]
        back = self._context.settings.chain.runs_back
        self._give_up_skipped(begun[back:])
        looked_at = {*newest[:1], *begun[:back], *unfinished - ended}
        return sorted((run for run in looked_at if not self._is_done(run) or self._lacks_something(run)), reverse=True)

    def _give_up_skipped(self, older: list[datetime]) -> None:
        """Give up runs that were published while no scan ran, and record that in the catalogue. Runs before the first
        scan are not recorded."""
        last = max(self._records, default=None)
        for run in older:
            if last is not None and run_id(run) > last:
                ref = self._ref(run)
                log.info("%s was not looked for in time: no scan ran while it was new", ref)
                self._events += [RunSeen(ref, self._model.hours(run), not self._model.discovers(run)), RunGivenUp(ref)]

    def _forget_future_runs(self) -> None:
        """Ignore runs that begin in the future: they were recorded while the clock was ahead. Those without files are
        removed."""
        for key in [key for key in self._records if run_time(key) > self._now + CLOCK_SLACK]:
            ref = self._ref(run_time(key))
            if not self._context.catalogue.hours(ref):
                self._events.append(RunRemoved(ref))
            del self._records[key]

    def look_at(self, run: datetime) -> None:
        """Compare the published hours of a run with those in the catalogue."""
        ref = self._ref(run)
        published, answered = self._mirrors.published(run)
        known = self._context.catalogue.hours(ref)
        lost = self._lost(ref)
        self._lose(ref, lost)
        if not published and not known and not self._is_due(run):
            usual = self._model.expected_at(run, self._model.hours(run)[0]).usual
            self._nothing = f"{ref.run_id} is not out yet: its first hour usually comes at {usual:%Y-%m-%d %H:%M} UTC"
            return
        hours, final = self._expected(run, {*published, *known}, answered=answered)
        self._see_run(ref, hours, final)
        for hour in sorted({*published, *known}):
            self._see_hour(ref.hour(hour), published.get(hour), known.get(hour), lost=hour in lost)
        missing = [hour for hour in hours if hour not in published and hour not in known]
        if self._now >= self._model.gives_up_at(run):
            self._events.append(RunGivenUp(ref))
            if not published and not known:
                self._nothing = f"no mirror has a file of {ref.run_id}"
        elif final and not missing:
            self._whole.add(run)
        else:
            seen = f"{len(hours) - len(missing)} of {len(hours)} hours are out"
            self._arriving.setdefault(seen if answered else "no mirror answered", []).append(ref.run_id)

    def outcome(self) -> Outcome:
        """The jobs to enqueue, the events to record, and whether to snooze."""
        self._note_outage()
        # `gribmill run` checks freshness every minute, but workers may run without it.
        self._events += freshness_events(self._context, read_freshness(self._context, [self._model], self._now))
        why = self._mirrors.why()
        also = effects_of([*self._events, *observations(self._mirrors.observations)])
        if why and not self._then and not self._arriving:
            return Failed(_shortened(why), also=also)
        if self._arriving:
            states = [f"{', '.join(runs)}: {text}" for text, runs in self._arriving.items()]
            reason = _shortened("; ".join([*states, *([why] if why else [])]))
            return Snoozed(self._pause_seconds(), reason, then=tuple(self._then), also=also)
        return Succeeded(then=tuple(self._then), also=also, skipped=self._nothing if self._asked_for_run else None)

    @property
    def _silent(self) -> bool:
        """Whether mirrors were asked and none responded."""
        return bool(self._mirrors.errors) and not self._mirrors.answered

    def _note_outage(self) -> None:
        """Log an outage when it begins and when it ends, but not in between."""
        family = self._model.family
        known = self._context.catalogue.outages().get(family)
        if self._silent and known is None:
            log.warning("%s", _shortened(f"{family}: no mirror answers; {self._mirrors.why()}"))
            self._events.append(MirrorsSilent(family))
        elif self._mirrors.answered and known is not None:
            since = f" since {known.began_at:%Y-%m-%d %H:%M} UTC" if known.began_at else ""
            log.info("%s: a mirror answers again; none did%s", family, since)
            self._events.append(MirrorsAnswered(family))

    def _expected(self, run: datetime, seen: set[int], *, answered: bool) -> tuple[tuple[int, ...], bool]:
        """The hours that make the run complete, and whether they are final; never final for a run without hours."""
        hours = self._model.hours(run)
        if not self._model.discovers(run):
            return hours, True
        over = self._now > self._model.expected_at(run, hours[-1]).late
        before = self._records.get(run_id(run))
        settled = before is not None and before.final and set(before.hours) == seen
        return tuple(sorted(seen)), bool(seen) and (settled or (over and answered))

    def _see_run(self, run: RunRef, hours: tuple[int, ...], final: bool) -> None:
        before = self._records.get(run.run_id)
        if before is not None and (before.hours, before.final) == (hours, final):
            return
        self._events.append(RunSeen(run, hours, final))
        if final and before is not None and not before.final:
            # If all tiles exist already, no other job would publish that the run is complete.
            self._then.append(publish_job(run.hour(hours[-1])))

    def _lost(self, run: RunRef) -> dict[int, tuple[str, ...]]:
        """Hours that lost tiles of followed regions. Others are rebuilt on request (`tile verify --repair`)."""
        found = lost_tiles(self._context.root, self._context.catalogue, run)
        return {hour: regions for hour, regions in found.items() if {*regions} & {*self.regions}}

    def _lose(self, run: RunRef, lost: dict[int, tuple[str, ...]]) -> None:
        """Record lost tiles, and publish, because latest.json must no longer list the run as complete."""
        if lost:
            self._events += loss_events(run, lost, self._looked_at)
            self._then.append(publish_job(run.hour(min(lost))))

    def _see_hour(self, hour: HourRef, published: Published | None, known: HourRecord | None, *, lost: bool) -> None:
        if known is not None and known.state != "published":
            if lost or self._lacks(known):
                self._then.append(ingest_job(hour, live=True))
            return
        if published is None or (known is not None and self._is_hopeless(published, known)):
            return
        seen = HourSeen(
            hour,
            mirror=published.mirror,
            url=published.grib_url,
            published_at=published.last_modified,
            size=published.size,
            etag=published.etag,
        )
        self._events.append(seen)
        self._then.append(ingest_job(hour, live=True))

    def _existing(self, run: datetime) -> datetime:
        if not self._model.hours(run):
            raise PermanentFailure(f"{self._model.id} has no run {run_id(run)}: it does not begin at that time")
        return run

    def _lacks(self, known: HourRecord) -> bool:
        """Whether regions or variables were never requested: they were added later, or a backfill requested fewer."""
        if known.state == "published":
            return False
        return not {*self.regions} <= {*known.asked, *known.regions} or not known.covers(self._model.variables)

    def _lacks_something(self, run: datetime) -> bool:
        ref = self._ref(run)
        return any(map(self._lacks, self._context.catalogue.hours(ref).values())) or bool(self._lost(ref))

    def _is_hopeless(self, published: Published, known: HourRecord) -> bool:
        """Whether its download failed permanently and the file is unchanged. A scan of a given run tries again."""
        if known.failed_at is None or self._asked_for_run:
            return False
        return published.last_modified is None or published.last_modified <= known.failed_at

    def _pause_seconds(self) -> float:
        if self._then:
            return self._model.scan_seconds  # files are being published now
        done = {run_time(key) for key, record in self._records.items() if record.state != "arriving"}
        soon = self._model.next_scan_at(self._now, self._whole | done)
        seconds = (soon - self._now).total_seconds() if soon else LONGEST_SNOOZE_SECONDS
        longest = OUTAGE_SNOOZE_SECONDS if self._silent else LONGEST_SNOOZE_SECONDS
        return min(max(seconds, SHORTEST_SNOOZE_SECONDS), longest)

    def _is_due(self, run: datetime) -> bool:
        return self._model.expected_at(run, self._model.hours(run)[0]).usual <= self._now

    def _is_done(self, run: datetime) -> bool:
        record = self._records.get(run_id(run))
        return record is not None and record.state != "arriving"

    def _ref(self, run: datetime) -> RunRef:
        return RunRef(self._model.id, run_id(run))


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_REASON else f"{text[: LONGEST_REASON - 1]}…"
