"""Applies events to the catalogue's tables. Nothing else writes them."""

from __future__ import annotations

import logging
from functools import singledispatch
from typing import Any, NamedTuple

from gribmill.catalogue.events import (
    DiskFreed,
    DiskLow,
    Event,
    FreshnessSeen,
    HourFailed,
    HourIngested,
    HourSeen,
    HoursRequested,
    MirrorCleared,
    MirrorObserved,
    MirrorsAnswered,
    MirrorsSilent,
    RegionDropped,
    RegionRemoved,
    RegionsWanted,
    RunGivenUp,
    RunRemoved,
    RunSeen,
    TileBuilt,
    TilesCut,
    TilesDone,
    TilesLost,
    TilesOutdated,
)
from gribmill.catalogue.records import FreshnessRecord, HourRecord, MirrorRecord
from gribmill.database.protocol import Transaction
from gribmill.identity import HourRef, RunRef
from gribmill.ingest.mirror import MirrorHealth, Observation, updated_health
from gribmill.queue.job_type import dedupe_key
from gribmill.queue.model import DEFAULT_TENANT, NewEvent
from gribmill.queue.times import to_rfc3339


class _RunState(NamedTuple):
    state: str


log = logging.getLogger("gribmill.freshness")


def apply(tx: Transaction, event: Event) -> None:
    """Record one event in the caller's transaction."""
    _change(event, tx)


@singledispatch
def _change(event: Event, tx: Transaction) -> None:
    raise TypeError(f"{type(event).__name__} is not applied anywhere")


# Runs


@_change.register(RunSeen)
def _see_run(event: RunSeen, tx: Transaction) -> None:
    known = tx.first(_RunState, "catalogue/run_state", _run(event.run))
    tx.send("catalogue/see_run", {**_run(event.run), "hours": event.hours, "final": event.final})
    if known is None:
        tx.publish(NewEvent("run.seen", {**_run(event.run), "hours": [*event.hours], "final": event.final}))
    _finish_run(tx, event.run)


@_change.register(HoursRequested)
def _request_hours(event: HoursRequested, tx: Transaction) -> None:
    asked = {"hours": event.hours, "hours_in_run": event.hours_in_run}
    tx.send("catalogue/request_hours", {**_run(event.run), **asked})
    _finish_run(tx, event.run)


@_change.register(RunGivenUp)
def _give_up_run(event: RunGivenUp, tx: Transaction) -> None:
    if tx.change("catalogue/give_up_run", _run(event.run)):
        tx.publish(NewEvent("run.given_up", _run(event.run)))


@_change.register(RunRemoved)
def _remove_run(event: RunRemoved, tx: Transaction) -> None:
    tx.send("catalogue/forget_tiles", {**_run(event.run), "hour": None})
    tx.send("catalogue/forget_hours", _run(event.run))
    tx.send("catalogue/forget_run", _run(event.run))


@_change.register(RegionRemoved)
def _remove_region(event: RegionRemoved, tx: Transaction) -> None:
    for known in tx.query(HourRecord, "catalogue/list_hours", _run(event.run)):
        tx.send("catalogue/drop_region", {**_hour(event.run.hour(known.hour)), "region": event.region})
    tx.send("catalogue/forget_region", {**_run(event.run), "region": event.region})


def _finish_run(tx: Transaction, run: RunRef) -> None:
    """Mark the run complete if its last hour is built, and publish that once."""
    if tx.change("catalogue/finish_run", _run(run)):
        tx.publish(NewEvent("run.completed", _run(run)))


# Hours and their tiles


@_change.register(HourSeen)
def _see_hour(event: HourSeen, tx: Transaction) -> None:
    download = {"tenant_id": DEFAULT_TENANT, "dedupe_key": dedupe_key("ingest_grib", DEFAULT_TENANT, _hour(event.hour))}
    tx.send("catalogue/wake_download", {**_hour(event.hour), **download})
    seen = {"mirror": event.mirror, "url": event.url, "etag": event.etag, "size": event.size}
    tx.send("catalogue/see_hour", {**_hour(event.hour), **seen, "published_at": event.published_at})


@_change.register(HourIngested)
def _ingest_hour(event: HourIngested, tx: Transaction) -> None:
    tx.send(
        "catalogue/record_ingest",
        {
            **_hour(event.hour),
            "mirror": event.mirror,
            "url": event.url,
            "etag": event.etag,
            "bytes": event.bytes,
            "requested_bytes": event.requested_bytes,
            "requests": event.requests,
            "sha256": event.sha256,
            "found": event.found,
            "missing": event.missing,
            "regions": event.regions,
            "asked": event.asked,
            "keep_grib": event.keep_grib,
            "generation": event.generation,
        },
    )
    facts = {"mirror": event.mirror, "bytes": event.bytes, "regions": [*event.regions], "missing": [*event.missing]}
    tx.publish(NewEvent("hour.ingested", {**_hour(event.hour), **facts}))


@_change.register(HourFailed)
def _fail_hour(event: HourFailed, tx: Transaction) -> None:
    tx.send("catalogue/note_failure", {**_hour(event.hour), "error": event.error})


@_change.register(RegionsWanted)
def _want_regions(event: RegionsWanted, tx: Transaction) -> None:
    wanted = {"regions": event.regions, "asked": event.asked}
    tx.send("catalogue/want_regions", {**_hour(event.hour), **wanted, "keep_grib": event.keep_grib})


@_change.register(RegionDropped)
def _drop_region(event: RegionDropped, tx: Transaction) -> None:
    hour = event.tile.hour_ref
    tx.send("catalogue/drop_region", {**_hour(hour), "region": event.tile.region})
    _finish_hour(tx, hour)


@_change.register(TileBuilt)
def _record_tile(event: TileBuilt, tx: Transaction) -> None:
    tile = {"region": event.tile.region, "bytes": event.bytes}
    made = {"generation": event.generation, "variables": event.variables}
    if tx.change("catalogue/record_tile", {**_hour(event.tile.hour_ref), **tile, **made}):
        tx.publish(NewEvent("tile.built", {**_hour(event.tile.hour_ref), **tile}))


@_change.register(TilesCut)
def _cut_tiles(event: TilesCut, tx: Transaction) -> None:
    took = {"decode_seconds": event.decode_seconds, "encode_seconds": event.encode_seconds}
    cut = {"regions": [*event.regions], "bytes": event.bytes, **took}
    tx.publish(NewEvent("hour.cut", {**_hour(event.hour), **cut}))


@_change.register(TilesLost)
def _lose_tiles(event: TilesLost, tx: Transaction) -> None:
    lost = {"regions": event.regions, "seen_at": event.seen_at}
    tx.send("catalogue/lose_tiles", {**_hour(event.hour), **lost})
    tx.send("catalogue/reopen_hour", _hour(event.hour))


@_change.register(TilesOutdated)
def _outdate_tiles(event: TilesOutdated, tx: Transaction) -> None:
    tx.send("catalogue/forget_tiles", _hour(event.hour))


@_change.register(TilesDone)
def _end_tiles(event: TilesDone, tx: Transaction) -> None:
    _finish_hour(tx, event.hour)


def _finish_hour(tx: Transaction, hour: HourRef) -> None:
    """Mark the hour built if its last tile is, and the run complete if its last hour is."""
    tx.send("catalogue/finish_hour", _hour(hour))
    _finish_run(tx, hour.run)


# Mirrors


@_change.register(MirrorObserved)
def _observe_mirror(event: MirrorObserved, tx: Transaction) -> None:
    """Update a mirror's health. The row is read and written in one transaction, because downloads and scans observe
    the same mirrors concurrently."""
    known = tx.first(MirrorRecord, "catalogue/one_mirror", {"name": event.mirror})
    seen = Observation(event.mirror, event.at, event.well, event.reason, event.retry_after_seconds)
    health = updated_health(known.health if known else None, seen)
    tx.send(
        "catalogue/note_mirror",
        {
            "name": health.mirror,
            "failures": health.failures,
            "last_error": health.last_reason or None,
            "last_failed_at": health.last_failure,
            "last_ok_at": health.last_success,
            "sick_until": health.open_until,
            "asked_until": health.asked_until,
        },
    )
    was_open = known is not None and known.sick_until is not None
    if was_open != (health.open_until is not None):
        _publish_mirror(tx, health)


@_change.register(MirrorCleared)
def _clear_mirror(event: MirrorCleared, tx: Transaction) -> None:
    name = {"name": event.mirror}
    known = tx.first(MirrorRecord, "catalogue/one_mirror", name)
    tx.send("catalogue/clear_mirror", name)
    if known is not None and known.sick_until is not None:
        tx.publish(NewEvent("mirror.well", {"mirror": event.mirror}))


@_change.register(MirrorsSilent)
def _begin_outage(event: MirrorsSilent, tx: Transaction) -> None:
    tx.send("catalogue/begin_outage", {"family": event.family})


@_change.register(MirrorsAnswered)
def _end_outage(event: MirrorsAnswered, tx: Transaction) -> None:
    tx.send("catalogue/end_outage", {"family": event.family})


def _publish_mirror(tx: Transaction, health: MirrorHealth) -> None:
    """Publish an event when the circuit breaker opens or closes."""
    if health.open_until is None:
        tx.publish(NewEvent("mirror.well", {"mirror": health.mirror}))
        return
    facts = {"failures": health.failures, "reason": health.last_reason, "until": to_rfc3339(health.open_until)}
    tx.publish(NewEvent("mirror.sick", {"mirror": health.mirror, **facts}))


# Conditions


@_change.register(DiskLow)
def _begin_low_disk(event: DiskLow, tx: Transaction) -> None:
    if tx.begin_condition("disk.low", event.folder):
        tx.publish(NewEvent("disk.low", {"free_bytes": event.free_bytes, "low_bytes": event.low_bytes}))


@_change.register(DiskFreed)
def _end_low_disk(event: DiskFreed, tx: Transaction) -> None:
    if tx.end_condition("disk.low", event.folder):
        tx.publish(NewEvent("disk.freed"))


@_change.register(FreshnessSeen)
def _see_freshness(event: FreshnessSeen, tx: Transaction) -> None:
    """Publish late, stale and recovered once each; stale is not repeated until the region has been ok again."""
    key = {"model_id": event.model_id, "region": event.region}
    known = tx.first(FreshnessRecord, "catalogue/one_freshness", key)
    tx.send("catalogue/note_freshness", {**key, "state": event.state, "cause": event.cause})
    before = known.state if known else "ok"
    name, facts = f"{event.model_id} {event.region}", {**key, "reason": event.cause or ""}
    if event.state == "ok" and known is not None and before != "ok":
        log.info("%s is up to date again", name)
        tx.publish(NewEvent("model.recovered", {**facts, "was_stale": known.stale_at is not None}))
    elif event.state == "stale" and (known is None or known.stale_at is None):
        log.warning("%s is stale: %s", name, event.cause)
        tx.publish(NewEvent("model.stale", facts))
    elif event.state == "late" and before == "ok":
        log.info("%s is late: %s", name, event.cause)
        tx.publish(NewEvent("model.late", facts))


def _run(run: RunRef) -> dict[str, Any]:
    return {"model_id": run.model_id, "run_id": run.run_id}


def _hour(hour: HourRef) -> dict[str, Any]:
    return {"model_id": hour.model_id, "run_id": hour.run_id, "hour": hour.hour}
