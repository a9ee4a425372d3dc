"""Thirty days of the chain in one process: a simulated clock, folders as mirrors, and a disk of a given size.

The queue, the catalogue, scans, downloads, tiles, publishing and pruning are the real ones.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gribmill.database.sqlite import SqliteDatabase
from gribmill.identity import HourRef, RunRef, TileRef
from gribmill.pipeline import context as context_module
from gribmill.pipeline.context import Context, make_context
from gribmill.pipeline.job_types import TYPES
from gribmill.pipeline.open_queue import open_queue
from gribmill.pipeline.scan_schedule import ScanSchedule
from gribmill.pipeline.status.watch import ChainWatch
from gribmill.queue.model import ClaimRequest, NewJob, NewTenant, NewTrigger, Succeeded, Violation
from gribmill.queue.store import Store
from gribmill.queue.worker.in_process import TickedJob, Ticker
from gribmill.settings.schema import Settings
from tests.make_grib import make_message

# New York's clocks go forward on 8 March, Sydney's go back on 5 April.
BEGIN = datetime(2026, 3, 7, tzinfo=UTC)
DAYS = 30
STEP = timedelta(hours=1)
REGIONS = {"north": [-90.0, 30.0, -60.0, 50.0], "south": [120.0, -40.0, 150.0, -20.0]}
TENANTS_REGION = {"west": [-120.0, 30.0, -110.0, 40.0]}
HOURLY = "hourly"
MODELS = (HOURLY, "global")
TENANTS_BYTES = 50_000
MIRRORS = ("near", "far")
LEASE_SECONDS = 60.0
WORKER = "host-1-month"
# Modules that read the clock.
TIMED = (
    "gribmill.pipeline.handlers.scan_source",
    "gribmill.pipeline.handlers.ingest_grib",
    "gribmill.pipeline.handlers.build_tile",
    "gribmill.pipeline.handlers.prune",
    "gribmill.pipeline.status.status",
    "gribmill.pipeline.status.health",
    "gribmill.pipeline.retention",
    "gribmill.ingest.available_hours",
    "gribmill.ingest.download.download",
)


class Usage(NamedTuple):
    total: int
    used: int
    free: int


@dataclass
class Clock:
    """The clock of the simulation."""

    now: datetime = BEGIN

    def __call__(self) -> float:
        return self.now.timestamp()


def model_table(root: Path, name: str, cycles: str, steps: str, points: list[list[float]]) -> dict[str, Any]:
    return {
        "title": "Simulated",
        "index": "none",
        "licence": "none",
        "attribution": "nobody",
        "variables": ["t2m"],
        "scan_seconds": 3600,
        "give_up_hours": 12,
        "stale_hours": 3,
        "mirrors": [{"name": name, "root": f"file://{root / name}/"} for name in MIRRORS],
        "layouts": [{"key": "{Ymd}{HH}/" + name + "_{fff}.grib2"}],
        "hours": [{"cycles": cycles, "steps": steps}],
        "latency": [{"points": points}],
    }


@dataclass
class Publisher:
    """Puts the files of each hour into the mirrors when their time has come."""

    root: Path
    settings: Settings
    context: Context
    random: random.Random = field(default_factory=lambda: random.Random(7))

    def __post_init__(self) -> None:
        self._messages = {hour: make_message("gfs-small", "2t", step=hour) for hour in range(12)}
        self.plan = sorted(self._plan(), key=lambda one: one[0])
        self.published: list[HourRef] = []
        self.never = {HourRef(HOURLY, "20260311_05", 1)}
        self._next = 0

    def _plan(self) -> Iterator[tuple[datetime, HourRef, str]]:
        """The usual minute, sometimes much later; each run of 20 March is two hours late."""
        for model_id in MODELS:
            model = self.context.models[model_id]
            for run in model.runs(BEGIN + timedelta(days=DAYS - 1), timedelta(days=DAYS - 1)):
                late = self.random.expovariate(1 / 4) + 120 * (run.day == 20)
                for hour in model.hours(run):
                    usual = model.expected_at(run, hour).usual
                    moment = usual + timedelta(minutes=late + self.random.uniform(0, 5))
                    ref = RunRef(model_id, run.strftime("%Y%m%d_%H")).hour(hour)
                    key = model.urls(run, hour)[0].grib_url.split("/near/")[1]
                    yield moment, ref, key

    def publish(self, now: datetime) -> None:
        while self._next < len(self.plan) and self.plan[self._next][0] <= now:
            moment, ref, key = self.plan[self._next]
            self._next += 1
            if ref in self.never:
                continue
            for name in MIRRORS:
                folder = self.root / f"{name}.down" if (self.root / name).is_symlink() else self.root / name
                place = folder / key
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(self._dated(ref))
                os.utime(place, (moment.timestamp(), moment.timestamp()))
            self.published.append(ref)

    def _dated(self, ref: HourRef) -> bytes:
        """The message of that hour, with the date of the run in section 1."""
        run, data = ref.run.time, bytearray(self._messages[ref.hour])
        data[28:33] = run.year.to_bytes(2, "big") + bytes((run.month, run.day, run.hour))
        return bytes(data)

    def go_down(self, name: str) -> None:
        """Every access fails: the folder is a symbolic link to itself."""
        (self.root / name).rename(self.root / f"{name}.down")
        (self.root / name).symlink_to(name)

    def come_back(self, name: str) -> None:
        (self.root / name).unlink()
        (self.root / f"{name}.down").rename(self.root / name)


class Month:
    """The whole simulation, step by step."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.clock = Clock()
        self._patch(patch)
        mirrors = folder / "mirrors"
        for name in MIRRORS:
            (mirrors / name).mkdir(parents=True)
        self.settings = settings_of(folder, mirrors)
        self.context = make_context(self.settings)
        self.store: Store = open_queue(self.settings)
        self._look = sqlite3.connect(self.context.root.jobs_db, check_same_thread=False, isolation_level=None)
        self.publisher = Publisher(mirrors, self.settings, self.context)
        models = [self.context.models[name] for name in MODELS]
        self.schedule = ScanSchedule(self.store, models, lambda: self.clock.now)
        self.watch = ChainWatch(self.context, models, self.store, lambda: self.clock.now)
        self.ticker = Ticker(self.store, LEASE_SECONDS, self.settings.model_dump(mode="json"))
        self.built: Counter[TileRef] = Counter()
        self.abandoned = 0
        self.overtaken: list[int] = []
        self.ballast = 0
        self.violations: list[Violation] = []
        self.least_free = self.total = 100_000_000
        self.most_used = self.most_used_by_tenant = 0
        self._add_schedules()

    def _patch(self, patch: pytest.MonkeyPatch) -> None:
        clock = self.clock

        class Driven(datetime):
            @classmethod
            def now(cls, tz: Any = None) -> Any:
                return clock.now

        for module in TIMED:
            patch.setattr(f"{module}.datetime", Driven)

        def database(path: Path, **options: Any) -> SqliteDatabase:
            return SqliteDatabase(path, **options, clock=clock)

        patch.setattr("gribmill.pipeline.open_queue.SqliteDatabase", database)
        patch.setattr(os, "fsync", lambda fd: None)  # no power cut is simulated
        patch.setattr(shutil, "disk_usage", lambda path: self.usage())
        context_module._context.cache_clear()

    def _add_schedules(self) -> None:
        self.store.tenants.add(NewTenant("acme", regions=tuple(TENANTS_REGION), keep_bytes=TENANTS_BYTES))
        self.store.tenants.add(NewTenant("beta"))
        for label, zone, tenant in (("ny", "America/New_York", "acme"), ("sydney", "Australia/Sydney", "beta")):
            new = NewTrigger(label, "sleep", {}, cron="30 2 * * *", timezone=zone, tenant_id=tenant, misfire="all")
            self.store.triggers.add(new)

    def usage(self) -> Usage:
        used = self.used() + self.ballast
        return Usage(self.total, used, self.total - used)

    def used(self) -> int:
        """The bytes of tiles and downloads according to the catalogue, which is faster than reading the files."""
        (used,) = self.rows(
            "SELECT (SELECT coalesce(sum(bytes), 0) FROM tiles) +"
            " (SELECT coalesce(sum(bytes), 0) FROM hours WHERE state = 'ingested')"
        )
        return int(used[0])

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        return self._look.execute(statement).fetchall()

    def events(self, pattern: str, columns: str) -> list[tuple[Any, ...]]:
        return self.rows(f"SELECT {columns} FROM events WHERE name LIKE '{pattern}' ORDER BY id")

    def run(self) -> None:
        """Every step of the month; nothing is published on its last day."""
        steps = int(timedelta(days=DAYS) / STEP)
        for number in range(steps):
            self.clock.now = BEGIN + number * STEP + self._clock_error(number)
            self._accidents(number)
            self.publisher.publish(BEGIN + number * STEP)
            if not self._host_is_off(number):
                self.step(working=not self._no_worker(number))

    def step(self, *, working: bool = True) -> None:
        """Simulate one hour."""
        self.schedule.run_once()
        if working:
            self.store.workers.heartbeat(WORKER, LEASE_SECONDS, types=[kind.key for kind in TYPES.runnable()])
            self.note(self.ticker.tick(1000))
        self.watch.run_if_due()
        usage = self.usage()
        self.least_free = min(self.least_free, usage.free)
        self.most_used = max(self.most_used, usage.used - self.ballast)
        self.most_used_by_tenant = max(self.most_used_by_tenant, self.context.catalogue.bytes_of([*TENANTS_REGION]))

    def note(self, ran: list[TickedJob]) -> None:
        self._note_turns([one for one in ran if one.job.type == "sleep"])
        moment = self.clock()
        for one in ran:
            if one.job.type == "build_tile" and isinstance(one.outcome, Succeeded) and one.outcome.artifacts:
                (path,) = one.outcome.artifacts
                os.utime(path, (moment, moment))
                self.built[tile_at(Path(path))] += 1

    def _note_turns(self, ran: list[TickedJob]) -> None:
        """How many jobs of the backlog ran before the live one of the other tenant, which was enqueued after them."""
        live = [place for place, one in enumerate(ran) if '"live"' in one.job.args]
        self.overtaken += [sum(one.job.tenant_id == "beta" for one in ran[:place]) for place in live]

    # Faults

    def _accidents(self, number: int) -> None:
        day, hour = divmod(number * STEP, timedelta(days=1))
        match day, hour / timedelta(hours=1):
            case 3, 0.0:
                self.publisher.go_down("near")  # for a day
            case 4, 0.0:
                self.publisher.come_back("near")
            case 8, 2.0:
                for name in MIRRORS:
                    self.publisher.go_down(name)  # for eight hours
            case 8, 10.0:
                for name in MIRRORS:
                    self.publisher.come_back(name)
            case 10 | 17, 12.0:
                self.publisher.publish(BEGIN + number * STEP)
                self._die()
            case 15, 0.0:
                self.ballast = self.total - self.used() - 5_000_000  # something else fills the disk for six hours
            case 15, 6.0:
                self.ballast = 0
            case ((5 | 6 | 7), 9.0):
                backlog = [NewJob("sleep", {}, tenant_id="beta", priority=0) for _ in range(300)]
                self.store.jobs.enqueue_many(backlog)
                self.store.jobs.enqueue(NewJob("sleep", {"say": "live"}, tenant_id="acme"))

    def _die(self) -> None:
        """A worker claims ready jobs and falls silent."""
        self.schedule.run_once()
        self.store.workers.heartbeat("host-2-dead", LEASE_SECONDS)
        request = ClaimRequest("host-2-dead", tuple(kind.key for kind in TYPES.runnable()), LEASE_SECONDS)
        while claimed := self.store.claim(request):
            self.abandoned += len(claimed)

    def _no_worker(self, number: int) -> bool:
        """On the 13th day no worker runs from 06:00 to 14:00."""
        day, hour = divmod(number * STEP, timedelta(days=1))
        return day == 12 and timedelta(hours=6) <= hour < timedelta(hours=14)

    def _host_is_off(self, number: int) -> bool:
        """For the whole 25th day."""
        return number * STEP // timedelta(days=1) == 24

    def _clock_error(self, number: int) -> timedelta:
        """On the 21st day the clock is two hours ahead for two hours."""
        day, hour = divmod(number * STEP, timedelta(days=1))
        ahead = day == 20 and timedelta(hours=7) <= hour < timedelta(hours=9)
        return timedelta(hours=2) if ahead else timedelta()


def settings_of(folder: Path, mirrors: Path) -> Settings:
    hourly = model_table(mirrors, HOURLY, "0-23", "1", [[1, 40, 110]])
    slow = model_table(mirrors, "global", "0, 6, 12, 18", "0, 3, 6, 9", [[0, 210, 300], [9, 240, 330]])
    return Settings.model_validate(
        {
            "data": folder / "data",
            "queue": {"synchronous": "normal", "lease_seconds": LEASE_SECONDS},
            "chain": {
                "models": [*MODELS],
                "regions": [*REGIONS],
                "keep_days": 3,
                "keep_gigabytes": 0.001,
                "min_free_gigabytes": 0.01,
            },
            "retention": {HOURLY: {"keep_runs": 30}},
            "regions": {name: {"box": box} for name, box in (REGIONS | TENANTS_REGION).items()},
            "models": {HOURLY: hourly, "global": slow},
        }
    )


def tile_at(path: Path) -> TileRef:
    region, run, model = path.parents[0].name, path.parents[1].name, path.parents[2].name
    return HourRef(model, run, int(path.stem)).tile(region)
