"""A busy data root with many problems, so that every page has content, for tests and screenshots."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gribmill.catalogue.events import (
    Event,
    HourFailed,
    HourIngested,
    HourSeen,
    MirrorObserved,
    RunSeen,
    TileBuilt,
    TilesDone,
    TilesLost,
)
from gribmill.catalogue.reads import Catalogue
from gribmill.identity import HourRef, RunRef, TileRef
from gribmill.ingest.models.registry import load_models
from gribmill.pipeline.job_types import TYPES
from gribmill.pipeline.open_queue import CatalogueEffects
from gribmill.queue.model import (
    ClaimRequest,
    Failed,
    Heartbeat,
    NewEvent,
    NewJob,
    NewTenant,
    NewTrigger,
    Report,
    Succeeded,
)
from gribmill.queue.store import Store
from gribmill.settings.schema import ChainSettings, Settings
from tests.queue.backends import open_address
from tests.queue.store.fake_clock import FakeClock

HOSTILE = "<script>alert('1')</script><img src=x onerror=alert(2)>"
CHAIN = ChainSettings(models=("hrrr",), regions=("ne", "texas"))
# Nothing listens there, so no test contacts a publisher.
ROOTS = {name: f"http://127.0.0.1:9/{name}/" for name in ("aws-hrrr", "gcs-hrrr", "nomads-hrrr")}
WORKER, STALE_WORKER = "wx-node-1-4711-9c0d1e2f", "wx-node-2-815-00aa11bb"
HOUR_SECONDS = 3600.0
ENDED = 90
MIRROR = "aws-hrrr"


@dataclass(frozen=True, slots=True)
class LivelyRoot:
    """Ids of objects that have their own pages."""

    run: RunRef
    running: int
    failed: int
    dead: int
    child: int
    retried: int
    group: int
    trigger: int
    webhook: int
    event: int


@contextmanager
def store_in_the_past(settings: Settings, seconds: float) -> Iterator[tuple[Store, FakeClock]]:
    """The same queue with a clock that is this far behind."""
    clock = FakeClock(time.time() - seconds)
    address = settings.database or settings.data_root / "jobs.db"
    database = open_address(address, clock=clock)
    try:
        yield Store(database, TYPES, CatalogueEffects()), clock
    finally:
        database.close()


def make_lively(settings: Settings, store: Store) -> LivelyRoot:
    """Fill the queue and the catalogue, beginning with the last hour."""
    for tenant in (
        NewTenant("acme", title="Acme <b>Weather</b>", regions=("texas",), max_running=4),
        NewTenant("zeta"),
    ):
        store.tenants.add(tenant)
    with store_in_the_past(settings, HOUR_SECONDS) as (past, clock):
        run = _record_runs(Catalogue(past.database), clock)
        _beat(past, STALE_WORKER, "wx-node-2")
        _last_hour(past, clock)
    _beat(store, WORKER, "wx-node-1")
    store.workers.lead(WORKER, 600.0)
    store.tenants.set_enabled("zeta", enabled=False)
    store.types.pause("prune")
    group = store.groups.open("nightly <i>check</i>", tenant_id="acme")
    store.groups.add(group.id, [NewJob("sleep", {"say": f"part {n}"}, tenant_id="acme") for n in range(8)])
    _run(store, 3)
    _run(store, 1, "the disk of the receiver is full")
    (running,) = store.claim(ClaimRequest(WORKER, ("sleep",), 600.0))
    failed, dead, retried = _failures(store)
    child = _dependents(store)
    store.jobs.enqueue(NewJob("sleep", {"say": HOSTILE}, correlation_id=HOSTILE, created_by=HOSTILE))
    store.jobs.enqueue(NewJob("sleep", {"say": "tomorrow"}, delay_seconds=80_000, tenant_id="acme"))
    trigger = _triggers(store)
    webhook, event = _webhooks(store)
    return LivelyRoot(run, running.id, failed, dead, child, retried, group.id, trigger, webhook, event)


def _beat(store: Store, worker_id: str, host: str) -> None:
    facts = {"pid": 4711, "clock_offset_seconds": 0.0}
    kinds = tuple(kind.key for kind in TYPES)
    store.workers.beat(Heartbeat(worker_id, 600.0, kinds, "active", host, "1.0", facts))


def _last_hour(store: Store, clock: FakeClock) -> None:
    """Jobs that wait, run and end over an hour, with some failures."""
    pause = 2900.0 / ENDED
    for n in range(ENDED):
        tenant = "acme" if n % 5 == 0 else "global"
        store.jobs.enqueue(NewJob("sleep", {"say": f"tile {n}"}, tenant_id=tenant))
        clock.advance(pause * (0.4 + 0.6 * abs((n % 20) - 10) / 10))
        claimed = store.claim(ClaimRequest(WORKER, ("sleep",), 600.0))
        clock.advance(pause * (0.2 + 0.05 * (n % 7)))
        reports = [
            Report(one.ref, Failed("HTTP 503", permanent=True) if n % 17 == 3 else Succeeded(), 0, "", "")
            for one in claimed
        ]
        store.exchange(WORKER, reports)


def _run(store: Store, count: int, error: str | None = None) -> list[int]:
    ended = []
    for _ in range(count):
        (job,) = store.claim(ClaimRequest(WORKER, ("sleep",), 600.0))
        outcome = Succeeded() if error is None else Failed(error, permanent=True)
        store.exchange(WORKER, [Report(job.ref, outcome, 0, f"printed by {job.id}", HOSTILE)])
        ended.append(job.id)
    return ended


def _failures(store: Store) -> tuple[int, int, int]:
    """A permanent failure, a dead letter, and a retry of a failed job."""
    store.jobs.enqueue(NewJob("sleep", {"say": "broken"}, priority=90))
    (failed,) = _run(store, 1, f"no route to host {HOSTILE}")
    dead = store.jobs.enqueue(NewJob("sleep", {"say": "hopeless"}, priority=90, max_attempts=1)).id
    (job,) = store.claim(ClaimRequest(WORKER, ("sleep",), 600.0))
    store.exchange(WORKER, [Report(job.ref, Failed("HTTP 500 from the receiver"), 1, "", "Traceback (most recent …")])
    retried = store.jobs.retry(failed, created_by="ops").id
    return failed, dead, retried


def _dependents(store: Store) -> int:
    """A small graph: two jobs, one that waits for both, one that waits for that."""
    first = store.jobs.enqueue(NewJob("sleep", {"say": "left"}, priority=-5, correlation_id="chain-7")).id
    second = store.jobs.enqueue(NewJob("sleep", {"say": "right"}, priority=-5, correlation_id="chain-7")).id
    child = NewJob("sleep", {"say": "both"}, after=(first, second), correlation_id="chain-7")
    child_id = store.jobs.enqueue(child).id
    store.jobs.enqueue(NewJob("sleep", {"say": "last"}, after=(child_id,), correlation_id="chain-7"))
    return child_id


def _triggers(store: Store) -> int:
    rule = NewTrigger(
        "morning <u>report</u>", "sleep", {"say": "good morning"}, cron="30 6 * * 1-5", timezone="Europe/Berlin"
    )
    trigger = store.triggers.add(rule)
    store.triggers.fire_now(trigger.id)
    paused = store.triggers.add(NewTrigger("after each run", "sleep", {"say": "{run_id}"}, event="run.completed"))
    store.triggers.set_enabled(paused.id, enabled=False)
    store.for_tenant("acme").triggers.add(NewTrigger("of acme", "sleep", cron="*/10 * * * *", timezone="UTC"))
    return trigger.id


def _webhooks(store: Store) -> tuple[int, int]:
    webhook = store.webhooks.add("https://hooks.example/weather", ["run.*", "job.failed"])
    store.for_tenant("acme").webhooks.add("https://acme.example/hook", ["job.*"])
    with store.database.write() as tx:
        tx.publish(NewEvent("run.completed", {"model": "hrrr", "text": HOSTILE}, "global"))
    store.events.dispatch()
    (event,) = store.events.list(pattern="run.completed", limit=1)
    return webhook.id, event.id


def _record_runs(catalogue: Catalogue, clock: FakeClock) -> RunRef:
    """A complete run, and one with built, failed, lost and expected hours."""
    model = load_models()["hrrr"]
    now = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    old, new = (RunRef("hrrr", f"{now - timedelta(hours=ago):%Y%m%d_%H}") for ago in (3, 1))
    for run in (old, new):
        hours = tuple(model.hours(run.time))
        catalogue.record([RunSeen(run, hours)])
        whole = hours if run == old else hours[:9]
        for hour in whole:
            record_arrival(catalogue, clock, HourRef(run.model_id, run.run_id, hour))
    late = HourRef(new.model_id, new.run_id, 9)
    catalogue.record([_seen(late, clock), HourFailed(late, f"HTTP 404 {HOSTILE}")])
    catalogue.record([_seen(HourRef(new.model_id, new.run_id, 10), clock)])
    catalogue.record([TilesLost(HourRef(new.model_id, new.run_id, 2), ("texas",), datetime.now(UTC))])
    moments = [datetime.now(UTC) - timedelta(minutes=m) for m in (50, 40, 3, 2, 1)]
    observed = [MirrorObserved("nomads-hrrr", at, n == 0, "HTTP 503", None) for n, at in enumerate(moments)]
    catalogue.record(observed)
    catalogue.record([MirrorObserved(MIRROR, moments[-1], True)])
    return new


def _seen(hour: HourRef, clock: FakeClock) -> HourSeen:
    url = f"https://noaa-hrrr-bdp-pds.example/{hour.run_id}/{hour.hour:02d}.grib2"
    return HourSeen(hour, MIRROR, url, datetime.fromtimestamp(clock() - 2, UTC), 140_000_000)


def record_arrival(
    catalogue: Catalogue, clock: FakeClock, hour: HourRef, regions: tuple[str, ...] = ("ne", "texas")
) -> None:
    """One hour, from its publication to its tiles."""
    seen = _seen(hour, clock)
    catalogue.record([seen])
    clock.advance(1.0 + hour.hour % 3)
    found: Event = HourIngested(
        hour, MIRROR, seen.url, None, 4_200_000, 4_500_000, 12, "0" * 64, ("t2m", "u10"), (), regions, regions
    )
    catalogue.record([found])
    clock.advance(2.0)
    tiles = [TileRef(hour.model_id, hour.run_id, hour.hour, region) for region in regions]
    catalogue.record([*(TileBuilt(tile, 130_000) for tile in tiles), TilesDone(hour)])


def pages_of(root: LivelyRoot) -> tuple[str, ...]:
    """Every page of the console that an operator can open, except the map."""
    run = f"/runs/{root.run.model_id}/{root.run.run_id}"
    jobs = [f"/jobs/{job}" for job in (root.running, root.failed, root.dead, root.child, root.retried)]
    lists = ("/jobs", "/groups", "/backfills/new", "/workers?every=true", "/triggers", "/triggers/new", "/definitions")
    ones = (f"/groups/{root.group}", f"/triggers/{root.trigger}", f"/webhooks/{root.webhook}", f"/events/{root.event}")
    rest = ("/jobs?q=nonsense", "/jobs?q=type:sleep&status=failed", "/definitions/build_tile", "/definitions/sleep")
    admin = ("/sources", "/storage", "/events", "/webhooks", "/tenants", "/tenants/acme", "/tokens", "/audit", "/login")
    return ("/", "/runs", run, f"{run}/2", *jobs, *lists, *ones, *rest, *admin)
