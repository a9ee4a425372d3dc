"""Events become rows: the only place that writes the catalogue's tables."""

from __future__ import annotations

from typing import Any

from gribmill.catalogue.events import (
    Event,
    HourFailed,
    HourIngested,
    HourSeen,
    HoursRequested,
    MirrorCleared,
    MirrorObserved,
    MirrorsAnswered,
    MirrorsSilent,
    RegionDropped,
    RegionsWanted,
    RunGivenUp,
    RunRemoved,
    RunSeen,
    TileBuilt,
    TilesDone,
    TilesLost,
    TilesOutdated,
)
from gribmill.catalogue.records import MirrorRecord
from gribmill.database.protocol import Transaction
from gribmill.identity import HourRef, RunRef
from gribmill.ingest.mirrors.circuit_breaker import Observation, updated_health


def apply(tx: Transaction, event: Event) -> None:
    """Record one event in the caller's transaction."""
    match event:
        case RunSeen():
            tx.change("catalogue/see_run", {**_run(event.run), "hours": event.hours, "final": event.final})
            tx.change("catalogue/finish_run", _run(event.run))
        case HoursRequested():
            asked = {"hours": event.hours, "hours_in_run": event.hours_in_run}
            tx.change("catalogue/request_hours", {**_run(event.run), **asked})
            tx.change("catalogue/finish_run", _run(event.run))
        case RunGivenUp():
            tx.change("catalogue/give_up_run", _run(event.run))
        case RunRemoved():
            _remove_run(tx, event.run)
        case HourSeen():
            _see_hour(tx, event)
        case HourIngested():
            _ingest_hour(tx, event)
        case HourFailed():
            tx.change("catalogue/note_failure", {**_hour(event.hour), "error": event.error})
        case RegionsWanted():
            wanted = {"regions": event.regions, "asked": event.asked}
            tx.change("catalogue/want_regions", {**_hour(event.hour), **wanted, "keep_grib": event.keep_grib})
        case RegionDropped():
            hour = event.tile.hour_ref
            tx.change("catalogue/drop_region", {**_hour(hour), "region": event.tile.region})
            _finish_hour(tx, hour)
        case TileBuilt():
            _record_tile(tx, event)
        case TilesLost():
            lost = {"regions": event.regions, "seen_at": event.seen_at}
            tx.change("catalogue/lose_tiles", {**_hour(event.hour), **lost})
            tx.change("catalogue/reopen_hour", _hour(event.hour))
        case TilesOutdated():
            tx.change("catalogue/forget_tiles", _hour(event.hour))
        case TilesDone():
            _finish_hour(tx, event.hour)
        case MirrorObserved():
            _observe_mirror(tx, event)
        case MirrorCleared():
            tx.change("catalogue/clear_mirror", {"name": event.mirror})
        case MirrorsSilent():
            tx.change("catalogue/begin_outage", {"family": event.family})
        case MirrorsAnswered():
            tx.change("catalogue/end_outage", {"family": event.family})
        case _:
            raise TypeError(f"{type(event).__name__} is not applied anywhere")


def _remove_run(tx: Transaction, run: RunRef) -> None:
    tx.change("catalogue/forget_tiles", {**_run(run), "hour": None})
    tx.change("catalogue/forget_hours", _run(run))
    tx.change("catalogue/forget_run", _run(run))


def _see_hour(tx: Transaction, event: HourSeen) -> None:
    seen = {"mirror": event.mirror, "url": event.url, "etag": event.etag, "size": event.size}
    tx.change("catalogue/see_hour", {**_hour(event.hour), **seen, "published_at": event.published_at})


def _ingest_hour(tx: Transaction, event: HourIngested) -> None:
    tx.change(
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


def _record_tile(tx: Transaction, event: TileBuilt) -> None:
    tile = {"region": event.tile.region, "bytes": event.bytes}
    made = {"generation": event.generation, "variables": event.variables}
    tx.change("catalogue/record_tile", {**_hour(event.tile.hour_ref), **tile, **made})


def _finish_hour(tx: Transaction, hour: HourRef) -> None:
    """The hour is built when its last tile is, and the run complete when its last hour is built."""
    tx.change("catalogue/finish_hour", _hour(hour))
    tx.change("catalogue/finish_run", _run(hour.run))


def _observe_mirror(tx: Transaction, event: MirrorObserved) -> None:
    """Read and written in one transaction: downloads and scans observe the same mirrors at once."""
    known = tx.first(MirrorRecord, "catalogue/one_mirror", {"name": event.mirror})
    seen = Observation(event.mirror, event.at, event.well, event.reason, event.retry_after_seconds)
    health = updated_health(known.health if known else None, seen)
    tx.change(
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


def _run(run: RunRef) -> dict[str, Any]:
    return {"model_id": run.model_id, "run_id": run.run_id}


def _hour(hour: HourRef) -> dict[str, Any]:
    return {"model_id": hour.model_id, "run_id": hour.run_id, "hour": hour.hour}
