"""What exists: runs, hours, tiles, mirrors. Short reads, and a way to record events outside the queue."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from gribmill.catalogue.changes import apply
from gribmill.catalogue.events import Event
from gribmill.catalogue.records import (
    HourRecord,
    RunRecord,
    TileRecord,
    hour_record,
    mirror_health,
    run_record,
    tile_record,
)
from gribmill.database.protocol import Database, Row
from gribmill.ingest.mirrors.circuit_breaker import MirrorHealth

MOST_RUNS = 10_000


class Catalogue:
    """Short reads, each of one moment."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def runs(self, model_id: str | None = None, limit: int = MOST_RUNS) -> list[RunRecord]:
        """The runs that have been seen, of one model or of all, the newest first."""
        return [run_record(row) for row in self._rows("list_runs", model_id=model_id, limit=limit)]

    def hours(self, model_id: str, run_id: str) -> dict[int, HourRecord]:
        rows = self._rows("list_hours", model_id=model_id, run_id=run_id)
        return {row["hour"]: hour_record(row) for row in rows}

    def hour(self, model_id: str, run_id: str, hour: int) -> HourRecord | None:
        """One file of a run; None where nothing is known of it."""
        rows = self._rows("one_hour", model_id=model_id, run_id=run_id, hour=hour)
        return hour_record(rows[0]) if rows else None

    def lacking(self, model_id: str, run_id: str, regions: Iterable[str]) -> dict[int, tuple[str, ...]]:
        """Hour to those of the regions whose tile it lacks; hours that lack none are left out."""
        rows = self._rows("list_lacking", model_id=model_id, run_id=run_id, regions=json.dumps([*regions]))
        found: dict[int, tuple[str, ...]] = {}
        for row in rows:
            found[row["hour"]] = (*found.get(row["hour"], ()), row["region"])
        return found

    def tiles(self, model_id: str, run_id: str) -> list[TileRecord]:
        rows = self._rows("list_tiles", model_id=model_id, run_id=run_id)
        return [tile_record(row) for row in rows]

    def mirrors(self) -> dict[str, MirrorHealth]:
        """How each mirror has behaved."""
        return {row["name"]: mirror_health(row) for row in self._rows("list_mirrors")}

    def newest_runs(self, model_id: str) -> dict[str, str]:
        """Region to the newest run that has any tile of it."""
        return {row["region"]: row["newest"] for row in self._rows("regions_of_model", model_id=model_id)}

    def newest_complete_run(self, model_id: str, region: str) -> str | None:
        """The newest run of which this region has every hour."""
        run_id: str | None = self._rows("newest_complete", model_id=model_id, region=region)[0]["run_id"]
        return run_id

    def record(self, events: Iterable[Event]) -> None:
        """For commands that work outside the queue: all of them or none."""
        with self.database.write() as tx:
            for event in events:
                apply(tx, event)

    def _rows(self, statement: str, **params: Any) -> list[Row]:
        with self.database.read() as tx:
            return tx.rows(f"catalogue/{statement}", params)
