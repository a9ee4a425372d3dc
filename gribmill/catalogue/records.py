"""The rows of the catalogue as typed values."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from gribmill.database.protocol import Row
from gribmill.identity import RunRef
from gribmill.ingest.mirrors.circuit_breaker import MirrorHealth
from gribmill.queue.times import to_datetime

RunState = Literal["arriving", "complete", "given_up"]
HourState = Literal["published", "ingested", "built"]


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

    @property
    def run(self) -> RunRef:
        return RunRef(self.model_id, self.run_id)


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


def run_record(row: Row) -> RunRecord:
    return RunRecord(
        row["model_id"],
        row["run_id"],
        tuple(json.loads(row["hours"])),
        bool(row["final"]),
        row["state"],
        to_datetime(row["first_seen_at"]),
        to_datetime(row["completed_at"]),
    )


def hour_record(row: Row) -> HourRecord:
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


def mirror_health(row: Row) -> MirrorHealth:
    return MirrorHealth(
        mirror=row["name"],
        failures=row["failures"],
        open_until=to_datetime(row["sick_until"]),
        last_reason=row["last_error"] or "",
        last_failure=to_datetime(row["last_failed_at"]),
        last_success=to_datetime(row["last_ok_at"]),
    )


def tile_record(row: Row) -> TileRecord:
    return TileRecord(row["region"], row["hour"], row["bytes"], to_datetime(row["built_at"]))


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(json.loads(text)) if text else ()
