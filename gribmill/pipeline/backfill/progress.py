"""Progress of backfills: files and tiles that are done, and hours that are not published yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from gribmill.identity import HourRef, IdentityError, RunRef, run_id
from gribmill.ingest.models.hour_ranges import write_steps
from gribmill.ingest.models.model import Model
from gribmill.pipeline.backfill.backfill import BackfillPlan
from gribmill.queue.model import DEFAULT_TENANT, Job
from gribmill.queue.store import Store
from gribmill.queue.store.jobs.listing import JobFilter

ACTIVE = ("pending", "processing")
BAD = ("failed", "cancelled")
# A job that runs again within this time is not reported.
SOON = timedelta(seconds=5)
# The most hours that are listed.
MOST_JOBS = 1000
HALF_A_DAY = timedelta(hours=12)


@dataclass(frozen=True, slots=True)
class BackfillState:
    """Done and total files and tiles; failed and unfinished jobs."""

    done: int
    total: int
    failed: int
    active: int


class BackfillProgress:
    """Follows backfills through their job groups, ignoring jobs of earlier requests with the same name.

    The total is fixed at the start.
    """

    def __init__(self, store: Store, regions: Mapping[str, int], tenant: str | None = None) -> None:
        """`regions` maps a group of the tenant to the number of tiles per file. Create this once all is enqueued."""
        self._store = store
        self._groups = {name: store.groups.find(name, tenant or DEFAULT_TENANT).id for name in regions}
        self._regions = dict(regions)
        self._first = {chain: self._counts(chain) for chain in regions}
        self._total = sum(
            _sum(counts, "ingest_grib", ACTIVE) * (1 + self._regions[chain]) + _sum(counts, "build_tile", ACTIVE)
            for chain, counts in self._first.items()
        )

    @property
    def groups(self) -> list[int]:
        """The followed job groups."""
        return [*self._groups.values()]

    def read(self) -> BackfillState:
        done = failed = active = 0
        for chain, first in self._first.items():
            now = self._counts(chain)
            active += sum(count for (_, status), count in now.items() if status in ACTIVE)
            new = {key: max(0, count - first[key]) for key, count in now.items() if key[1] not in ACTIVE}
            ended = Counter[str]()
            for (kind, status), count in new.items():
                ended[kind] += count
                failed += count if status in BAD else 0
            # A file that cannot be downloaded will have no tiles.
            without = sum(new.get(("ingest_grib", status), 0) for status in BAD) * self._regions[chain]
            done += ended["ingest_grib"] + ended["build_tile"] + without
        return BackfillState(min(done, self._total) if active else self._total, self._total, failed, active)

    def _counts(self, chain: str) -> Counter[tuple[str, str]]:
        return Counter(self._store.groups.counts(self._groups[chain]))


def _sum(counts: Counter[tuple[str, str]], kind: str, statuses: tuple[str, ...]) -> int:
    return sum(counts[kind, status] for status in statuses)


@dataclass(frozen=True, slots=True)
class AwaitedHours:
    """Hours of one run that no mirror has yet; `again_at` is when they are looked for again."""

    run: RunRef
    hours: tuple[int, ...]
    first: datetime
    last: datetime
    """When the first and the last of them are usually published."""
    gives_up_at: datetime
    again_at: datetime | None = None

    def text(self, now: datetime) -> str:
        """`gfs 20261118_00: hours 3-6 are not published yet; usually there from 03:40 to 03:52 UTC`."""
        noun, verb = ("hour", "is") if len(self.hours) == 1 else ("hours", "are")
        form = "%H:%M" if abs(self.last - now) < HALF_A_DAY else "%Y-%m-%d %H:%M"
        last = f"{self.last:{form}}"
        words = f"{self.run.model_id} {self.run.run_id}: {noun} {write_steps(self.hours)} {verb} not published yet"
        if self.last <= now:
            end = f"{self.gives_up_at:%Y-%m-%d %H:%M}"
            return f"{words}; expected until {last} UTC, and given up at {end} UTC"
        return f"{words}; usually there {f'from {self.first:{form}} to' if self.first < self.last else 'at'} {last} UTC"


def hours_not_due(plan: BackfillPlan, now: datetime) -> Iterator[AwaitedHours]:
    """The hours of a plan that are not due yet, by run."""
    model = plan.request.model
    by_run: dict[datetime, list[int]] = {}
    for file in plan.files:
        if model.expected_at(file.run, file.hour).usual > now:
            by_run.setdefault(file.run, []).append(file.hour)
    for run, hours in sorted(by_run.items()):
        yield _awaited(model, run, sorted(hours))


def hours_waited_for(
    store: Store, models: Mapping[str, Model], groups: Collection[int], now: datetime
) -> list[AwaitedHours]:
    """The unpublished hours that these job groups wait for; empty while any of their jobs can run."""
    found: dict[RunRef, list[tuple[int, Job]]] = {}
    for group in groups:
        for status in ("processing", "pending"):
            for job in store.jobs.list(JobFilter(status=status, group_id=group), limit=MOST_JOBS).jobs:
                hour = _hour_of(job)
                if hour is None or job.next_run_at is None or job.next_run_at < now + SOON or job.retry_count:
                    return []
                found.setdefault(hour.run, []).append((hour.hour, job))
    several = []
    for run, waiting in sorted(found.items(), key=lambda item: item[0].run_id):
        if run.model_id in models:
            again = min(job.next_run_at for _, job in waiting if job.next_run_at is not None)
            several.append(_awaited(models[run.model_id], run.time, sorted(hour for hour, _ in waiting), again))
    return several


def _hour_of(job: Job) -> HourRef | None:
    if job.type != "ingest_grib" or job.status != "pending" or not isinstance(job.args, dict):
        return None
    try:
        return HourRef(job.args["model_id"], job.args["run_id"], job.args["hour"])
    except (KeyError, TypeError, IdentityError):
        return None


def _awaited(model: Model, run: datetime, hours: list[int], again_at: datetime | None = None) -> AwaitedHours:
    times = [model.expected_at(run, hour).usual for hour in hours]
    return AwaitedHours(
        RunRef(model.id, run_id(run)), tuple(hours), min(times), max(times), model.gives_up_at(run), again_at
    )
