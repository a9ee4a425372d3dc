"""Short reads of runs, hours, tiles and mirrors, and a way to record events outside the queue."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from gribmill.catalogue.records import (
    FreshnessRecord,
    GivenUpWork,
    HourRecord,
    MirrorRecord,
    OutageRecord,
    RegionBytes,
    RunRecord,
    TileRecord,
    TileTotals,
    WaitingHours,
)
from gribmill.database.protocol import Database
from gribmill.identity import HourRef, RunRef
from gribmill.ingest.circuit_breaker import MirrorHealth

if TYPE_CHECKING:
    from gribmill.catalogue.events import Event

MOST_RUNS = 10_000
RecordT = TypeVar("RecordT")


class _Lacking(NamedTuple):
    hour: int
    region: str


class _Newest(NamedTuple):
    region: str
    newest: str


class _LostRun(NamedTuple):
    region: str
    run_id: str


class _Bytes(NamedTuple):
    n: int


class _RunId(NamedTuple):
    run_id: str | None


class _RunInUse(NamedTuple):
    model_id: str
    run_id: str


class Catalogue:
    """Short reads, each from one snapshot."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def clock_ahead(self) -> timedelta:
        """How far this host's clock is ahead of the database's, which all hosts use."""
        with self.database.read() as tx:
            return timedelta(seconds=time.time() - tx.now.timestamp())

    def runs(self, model_id: str | None = None, limit: int = MOST_RUNS) -> list[RunRecord]:
        """The runs that have been seen, of one model or of all, newest first."""
        return self._query(RunRecord, "list_runs", model_id=model_id, limit=limit)

    def hours(self, run: RunRef) -> dict[int, HourRecord]:
        """Every hour of a run that has been seen."""
        return {one.hour: one for one in self._query(HourRecord, "list_hours", **asdict(run))}

    def hour(self, hour: HourRef) -> HourRecord | None:
        """One file of a run; None if it has not been seen."""
        found = self._query(HourRecord, "one_hour", **asdict(hour))
        return found[0] if found else None

    def ingested_at(self, run: RunRef) -> datetime | None:
        """When the newest file of a run was downloaded."""
        return max((hour.ingested_at for hour in self.hours(run).values() if hour.ingested_at), default=None)

    def lacking(self, run: RunRef, regions: Iterable[str]) -> dict[int, tuple[str, ...]]:
        """Maps each hour to the regions whose tile is missing; complete hours are left out."""
        found: dict[int, tuple[str, ...]] = {}
        for one in self._query(_Lacking, "list_lacking", **asdict(run), regions=[*regions]):
            found[one.hour] = (*found.get(one.hour, ()), one.region)
        return found

    def tiles(self, run: RunRef, *, lost: bool = False) -> list[TileRecord]:
        """Every tile of a run; with `lost`, also those whose files are known to be missing or damaged."""
        return self._query(TileRecord, "list_tiles", **asdict(run), lost=lost)

    def tile_totals(self) -> list[TileTotals]:
        """The number of tiles per region and model."""
        return self._query(TileTotals, "tile_totals")

    def bytes_of(self, regions: Iterable[str]) -> int:
        """The size of all tiles of these regions."""
        return self._query(_Bytes, "bytes_of_regions", regions=[*regions])[0].n

    def bytes_by_region(self) -> list[RegionBytes]:
        """The size of the tiles of each model and region."""
        return self._query(RegionBytes, "bytes_by_region")

    def lost_runs(self, model_id: str) -> set[tuple[str, str]]:
        """Regions, and the runs in which each has lost a tile."""
        return {(one.region, one.run_id) for one in self._query(_LostRun, "list_lost_runs", model_id=model_id)}

    def waiting(self) -> WaitingHours:
        """The hours of all models that are downloaded but not built."""
        return self._query(WaitingHours, "waiting_bytes")[0]

    def mirrors(self) -> dict[str, MirrorHealth]:
        """Maps each mirror to its recorded health."""
        return {one.name: one.health for one in self._query(MirrorRecord, "list_mirrors")}

    def outages(self) -> dict[str, OutageRecord]:
        """The families of models without a responding mirror."""
        return {one.family: one for one in self._query(OutageRecord, "list_outages")}

    def freshness(self) -> dict[tuple[str, str], FreshnessRecord]:
        """Maps model and region to how up to date it was at the last check."""
        return {(one.model_id, one.region): one for one in self._query(FreshnessRecord, "list_freshness")}

    def newest_runs(self, model_id: str) -> dict[str, str]:
        """Maps each region to the newest run with any of its tiles."""
        return {one.region: one.newest for one in self._query(_Newest, "regions_of_model", model_id=model_id)}

    def newest_complete_run(self, model_id: str, region: str) -> str | None:
        """The newest run in which this region has every hour."""
        return self._query(_RunId, "newest_complete", model_id=model_id, region=region)[0].run_id

    def given_up_work(self, since: datetime, limit: int) -> list[GivenUpWork]:
        """The dead letters since `since`, at most `limit` of them; those of hours are counted together."""
        return self._query(GivenUpWork, "given_up_work", since=since, limit=limit)

    def runs_in_use(self) -> set[tuple[str, str]]:
        """Model and run of all pending and running jobs, unchecked: arguments may have been written manually."""
        return {(one.model_id, one.run_id) for one in self._query(_RunInUse, "runs_in_use")}

    def record(self, events: Iterable[Event]) -> None:
        """Record events in one transaction, for commands outside the queue."""
        from gribmill.catalogue.changes import apply  # late: most commands only read

        with self.database.write() as tx:
            for event in events:
                apply(tx, event)

    def _query(self, record: type[RecordT], statement: str, **params: Any) -> list[RecordT]:
        with self.database.read() as tx:
            return tx.query(record, f"catalogue/{statement}", params)
