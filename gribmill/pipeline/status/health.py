"""The health of the chain: workers, disk, mirrors, models, and given-up jobs."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from gribmill.catalogue.records import GivenUpWork
from gribmill.ingest.errors import without_addresses
from gribmill.pipeline.context import Context
from gribmill.pipeline.job_types import BUILD_TILE, INGEST_GRIB, PUBLISH, SCAN_SOURCE, TYPES
from gribmill.pipeline.status.mirror_status import clock_time
from gribmill.pipeline.status.status import ModelStatus
from gribmill.queue.model import Worker
from gribmill.queue.store.reservations import EVERYTHING, Reservations
from gribmill.queue.store.types.types import Types
from gribmill.queue.store.workers import Workers

# The job types that the chain needs.
CHAIN_TYPES = (SCAN_SOURCE.key, INGEST_GRIB.key, BUILD_TILE.key, PUBLISH.key)
FULL_BYTES = 20_000_000
DEAD_LETTERS_SINCE = timedelta(days=1)
DEAD_LETTERS_LOOKED_AT = 1000

ProblemKind = Literal[
    "no models",
    "no worker",
    "disk",
    "paused",
    "reserved",
    "mirrors",
    "model",
    "tiles",
    "dead letters",
    "clock",
    "mirror",
]

# Problems with forecasts. The others are with the machine and the queue, which tenants do not see.
OF_FORECASTS: frozenset[ProblemKind] = frozenset(("model", "tiles", "mirrors"))


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem, in a sentence. If it is not serious, it is only a note."""

    kind: ProblemKind
    text: str
    model_id: str | None = None
    serious: bool = True
    delays_tiles: bool = True
    """Whether tiles can be late because of it."""


@dataclass(frozen=True, slots=True)
class Health:
    """The health of a data root; problems are sorted, worst first, and causes before what they cause."""

    problems: tuple[Problem, ...]
    workers: int
    """Workers that are alive."""
    disk_free: int
    disk_total: int

    @property
    def well(self) -> bool:
        return not any(one.serious for one in self.problems)


def health_of(context: Context, statuses: Sequence[ModelStatus], *, now: datetime | None = None) -> Health:
    """What is wrong with the data root and with these models."""
    moment = now or datetime.now(UTC)
    lease = timedelta(seconds=context.settings.queue.lease_seconds)
    known = Workers(context.catalogue.database, TYPES).list()
    living = [one for one in known if _is_alive(one, moment - lease)]
    usage = shutil.disk_usage(_existing(context.root.path))
    workers = [*_of_workers(known, living, moment)]
    disk = [*_of_disk(context, statuses, usage.free, usage.total)]
    problems = [
        *_of_models(statuses),
        # Workers end when they cannot write.
        *([*disk, *workers] if _is_full(usage.free, usage.total) else [*workers, *disk]),
        *_of_queue(context, moment),
        *_of_mirrors(statuses, moment),
        *_late(statuses),
        *_lost_tiles(statuses),
        *_dead_letters(context, statuses, moment),
        *_future_runs(statuses),
    ]
    return Health(tuple(sorted(problems, key=lambda one: not one.serious)), len(living), usage.free, usage.total)


def _of_models(statuses: Sequence[ModelStatus]) -> Iterator[Problem]:
    if not statuses:
        yield Problem("no models", "no models are followed yet; start with: gribmill run --model hrrr --region ne")


def _is_alive(worker: Worker, since: datetime) -> bool:
    return worker.state != "stopped" and worker.last_heartbeat is not None and worker.last_heartbeat >= since


def _of_workers(known: Sequence[Worker], living: Sequence[Worker], now: datetime) -> Iterator[Problem]:
    if not living:
        last = max((one.last_heartbeat for one in known if one.last_heartbeat), default=None)
        since = f"; the last heartbeat was at {last:%Y-%m-%d %H:%M:%S} UTC" if last else ""
        yield Problem("no worker", f"no worker is running{since}. `gribmill run` or `gribmill work` starts one")
        return
    runs = {kind for one in living for kind in one.types}
    if idle := [kind for kind in CHAIN_TYPES if kind not in runs]:
        yield Problem("no worker", f"no worker runs {', '.join(idle)} jobs")


def _of_disk(context: Context, statuses: Sequence[ModelStatus], free: int, total: int) -> Iterator[Problem]:
    mark = context.settings.chain.free_space_mark(total)
    run_bytes = sum(max((run.bytes for run in one.runs), default=0) for one in statuses)
    left = f"{_size(free)} free of {_size(total)}"
    if _is_full(free, total):
        yield Problem("disk", f"the disk is full: {left}")
    elif free < mark:
        yield Problem("disk", f"the disk is nearly full: {left}; nothing is downloaded below {_size(mark)}")
    elif free < run_bytes:
        yield Problem("disk", f"the disk is nearly full: {left}; one run of each model takes {_size(run_bytes)}")


def _is_full(free: int, total: int) -> bool:
    return free < min(FULL_BYTES, total / 100)


def _of_queue(context: Context, now: datetime) -> Iterator[Problem]:
    database = context.catalogue.database
    if paused := sorted(Types(database, TYPES).paused()):
        text = f"paused: {', '.join(paused)} (`gribmill jobs resume TYPE`)"
        yield Problem("paused", text, delays_tiles=not set(CHAIN_TYPES).isdisjoint(paused))
    for one in Reservations(database, TYPES).list():
        what = "no job starts" if one.scope == EVERYTHING else f"no {one.scope} job starts"
        until = f" until {clock_time(one.expires_at, now)}" if one.expires_at else ""
        text = f"{what}: reserved by {one.reserved_by}{until}"
        yield Problem("reserved", text, delays_tiles=one.scope in (EVERYTHING, *CHAIN_TYPES))


def _of_mirrors(statuses: Iterable[ModelStatus], now: datetime) -> Iterator[Problem]:
    """Serious if no mirror of a model responds; a note if one of several fails. Ensemble members share mirrors."""
    said: set[str] = set()
    for one in statuses:
        names = ", ".join(mirror.name for mirror in one.mirrors)
        if one.mirrors and all(mirror.fails for mirror in one.mirrors):
            reason = without_addresses(max(one.mirrors, key=lambda mirror: mirror.failures).last_reason)
            answered = max((mirror.last_success for mirror in one.mirrors if mirror.last_success), default=None)
            # Only scans record outages; downloads notice them as well.
            silent = one.silent_since or answered
            since = f"answered since {clock_time(silent, now)}" if answered and silent else "ever answered"
            text = f"no mirror has {since} ({names}: {reason})"
            if text not in said:
                yield Problem("mirrors", f"{one.model_id}: {text}", one.model_id)
            said.add(text)
            continue
        for mirror in one.mirrors:
            if mirror.fails and mirror.name not in said:
                said.add(mirror.name)
                yield Problem("mirror", f"mirror {mirror.name}: {mirror.summary}", one.model_id, serious=False)


def _late(statuses: Iterable[ModelStatus]) -> Iterator[Problem]:
    for one in statuses:
        if one.verdict not in ("whole", "arriving"):
            yield Problem("model", f"{one.model_id}: {one.verdict}", one.model_id)


def _lost_tiles(statuses: Iterable[ModelStatus]) -> Iterator[Problem]:
    for one in statuses:
        lost = [hour for run in one.runs for hour in run.missing if hour.reason == "tile lost or damaged"]
        if lost:
            hours = "1 hour has" if len(lost) == 1 else f"{len(lost)} hours have"
            text = f"{one.model_id}: {hours} lost or damaged tiles; `gribmill tile verify {one.model_id}` names them"
            yield Problem("tiles", text, one.model_id)


def _dead_letters(context: Context, statuses: Sequence[ModelStatus], now: datetime) -> Iterator[Problem]:
    """Dead letters of the last day whose work has not been done since."""
    found = context.catalogue.given_up_work(now - DEAD_LETTERS_SINCE, DEAD_LETTERS_LOOKED_AT)
    counts: Counter[str] = Counter()
    for one in found:
        if not _is_settled(statuses, one):
            counts[one.type] += one.n
    if counts:
        total, kinds = sum(counts.values()), ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items()))
        noun = "job was" if total == 1 else "jobs were"
        yield Problem(
            "dead letters", f"{total} {noun} given up ({kinds}): `gribmill jobs list --status dead_letter --since 1d`"
        )


def _is_settled(statuses: Sequence[ModelStatus], work: GivenUpWork) -> bool:
    if work.type == SCAN_SOURCE.key:
        mirrors = [mirror for one in statuses if one.model_id == work.model_id for mirror in one.mirrors]
        return any(mirror.last_success and mirror.last_success > work.dead_lettered_at for mirror in mirrors)
    return work.hour_state == "built"


def _future_runs(statuses: Iterable[ModelStatus]) -> Iterator[Problem]:
    for one in statuses:
        if one.future_runs:
            yield Problem(
                "clock",
                f"{one.model_id}: {', '.join(one.future_runs)} begins in the future: the clock was ahead when it was"
                " seen; the run does not count until its time has come",
                one.model_id,
                serious=False,
            )


def _existing(path: Path) -> Path:
    """The folder, or the nearest one above it that exists."""
    return next((place for place in (path, *path.parents) if place.exists()), Path("/"))


def _size(count: float) -> str:
    return f"{count / 1e6:,.0f} MB" if count < 10e9 else f"{count / 1e9:,.0f} GB"
