"""What exists: runs, hours, tiles, mirrors. Read here; written only by the statements that complete jobs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from gribmill.database.protocol import Database, Row
from gribmill.ingest.mirrors.circuit_breaker import MirrorHealth, Sighting, after
from gribmill.queue.model import Write
from gribmill.queue.times import to_datetime, to_text

RunState = Literal["arriving", "complete", "given_up"]
HourState = Literal["published", "ingested", "built"]
MOST_RUNS = 10_000


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run that has been seen. `final` is False while its hours are still being discovered.

    Once complete it stays so: of tiles that are wanted since then, `Catalogue.lacking` tells.
    """

    model_id: str
    run_id: str
    hours: tuple[int, ...]
    final: bool
    state: RunState
    first_seen_at: datetime | None
    completed_at: datetime | None


@dataclass(frozen=True, slots=True)
class HourRecord:
    """One file of a run."""

    hour: int
    state: HourState
    published_at: datetime | None
    mirror: str | None
    size: int | None
    url: str | None
    etag: str | None
    bytes: int | None
    requested_bytes: int | None
    requests: int | None
    sha256: str | None
    found: tuple[str, ...]
    missing: tuple[str, ...]
    regions: tuple[str, ...]
    asked: tuple[str, ...]
    keep_grib: bool
    ingested_at: datetime | None
    built_at: datetime | None
    failed_at: datetime | None
    error: str | None

    def covers(self, variables: Iterable[str]) -> bool:
        """Whether all of these were looked for when it was downloaded."""
        return {*variables} <= {*self.found, *self.missing}


@dataclass(frozen=True, slots=True)
class TileRecord:
    """One tile on disk."""

    region: str
    hour: int
    bytes: int
    built_at: datetime | None


def write(statement: str, **params: Any) -> Write:
    """A statement of the catalogue, to be run in the transaction that completes a job."""
    return Write(f"catalogue/{statement}", params)


class Catalogue:
    """Short reads, each of one moment."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def runs(self, model_id: str | None = None, limit: int = MOST_RUNS) -> list[RunRecord]:
        """The runs that have been seen, of one model or of all, the newest first."""
        return [_run(row) for row in self._rows("list_runs", model_id=model_id, limit=limit)]

    def hours(self, model_id: str, run_id: str) -> dict[int, HourRecord]:
        rows = self._rows("list_hours", model_id=model_id, run_id=run_id)
        return {row["hour"]: _hour(row) for row in rows}

    def hour(self, model_id: str, run_id: str, hour: int) -> HourRecord | None:
        """One file of a run; None where nothing is known of it."""
        rows = self._rows("one_hour", model_id=model_id, run_id=run_id, hour=hour)
        return _hour(rows[0]) if rows else None

    def spent_hours(self, model_id: str, run_id: str) -> list[int]:
        """The hours whose tiles are all built and whose messages nobody asked to keep, nor works on."""
        return [row["hour"] for row in self._rows("list_spent_hours", model_id=model_id, run_id=run_id)]

    def lacking(self, model_id: str, run_id: str, regions: Iterable[str]) -> dict[int, tuple[str, ...]]:
        """Hour to those of the regions whose tile it lacks; hours that lack none are left out."""
        rows = self._rows("list_lacking", model_id=model_id, run_id=run_id, regions=json.dumps([*regions]))
        found: dict[int, tuple[str, ...]] = {}
        for row in rows:
            found[row["hour"]] = (*found.get(row["hour"], ()), row["region"])
        return found

    def tiles(self, model_id: str, run_id: str) -> list[TileRecord]:
        rows = self._rows("list_tiles", model_id=model_id, run_id=run_id)
        return [TileRecord(row["region"], row["hour"], row["bytes"], to_datetime(row["built_at"])) for row in rows]

    def mirrors(self) -> dict[str, MirrorHealth]:
        """How each mirror has behaved."""
        return {row["name"]: _mirror(row) for row in self._rows("list_mirrors")}

    def newest_runs(self, model_id: str) -> dict[str, str]:
        """Region to the newest run that has any tile of it."""
        return {row["region"]: row["newest"] for row in self._rows("regions_of_model", model_id=model_id)}

    def newest_complete_run(self, model_id: str, region: str) -> str | None:
        """The newest run of which this region has every hour."""
        run_id: str | None = self._rows("newest_complete", model_id=model_id, region=region)[0]["run_id"]
        return run_id

    def apply(self, writes: Iterable[Write]) -> None:
        """For commands that work outside the queue: all of it or nothing."""
        with self._database.write() as tx:
            for one in writes:
                tx.change(one.statement, {**one.params, "now": tx.stamp})

    def _rows(self, statement: str, **params: Any) -> list[Row]:
        with self._database.read() as tx:
            return tx.rows(f"catalogue/{statement}", params)


def _run(row: Row) -> RunRecord:
    return RunRecord(
        row["model_id"],
        row["run_id"],
        tuple(json.loads(row["hours"])),
        bool(row["final"]),
        row["state"],
        to_datetime(row["first_seen_at"]),
        to_datetime(row["completed_at"]),
    )


def _hour(row: Row) -> HourRecord:
    return HourRecord(
        hour=row["hour"],
        state=row["state"],
        published_at=to_datetime(row["published_at"]),
        mirror=row["mirror"],
        size=row["size"],
        url=row["url"],
        etag=row["etag"],
        bytes=row["bytes"],
        requested_bytes=row["requested_bytes"],
        requests=row["requests"],
        sha256=row["sha256"],
        found=_names(row["found"]),
        missing=_names(row["missing"]),
        regions=_names(row["regions"]),
        asked=_names(row["asked"]),
        keep_grib=bool(row["keep_grib"]),
        ingested_at=to_datetime(row["ingested_at"]),
        built_at=to_datetime(row["built_at"]),
        failed_at=to_datetime(row["failed_at"]),
        error=row["error"],
    )


def _mirror(row: Row) -> MirrorHealth:
    return MirrorHealth(
        mirror=row["name"],
        failures=row["failures"],
        sick_until=to_datetime(row["sick_until"]),
        last_reason=row["last_error"] or "",
        last_failure=to_datetime(row["last_failed_at"]),
        last_success=to_datetime(row["last_ok_at"]),
    )


def mirror_writes(health: Mapping[str, MirrorHealth], sightings: Iterable[Sighting]) -> tuple[Write, ...]:
    """What these sightings make of the mirrors' health, to be recorded with the job that had them."""
    changed: dict[str, MirrorHealth] = {}
    for sighting in sightings:
        known = changed.get(sighting.mirror) or health.get(sighting.mirror)
        changed[sighting.mirror] = after(known, sighting)
    return tuple(
        write(
            "note_mirror",
            name=one.mirror,
            failures=one.failures,
            last_error=one.last_reason or None,
            last_failed_at=_text(one.last_failure),
            last_ok_at=_text(one.last_success),
            sick_until=_text(one.sick_until),
        )
        for one in changed.values()
    )


def _text(moment: datetime | None) -> str | None:
    return to_text(moment.timestamp()) if moment else None


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(json.loads(text)) if text else ()
