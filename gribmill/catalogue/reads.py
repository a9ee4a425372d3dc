"""Short reads of runs, hours, tiles and mirrors, and a way to record events outside the queue."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
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
from gribmill.ingest.mirror import MirrorHealth
from gribmill.storage.layout import DataRoot, ListedTiles

if TYPE_CHECKING:
    from gribmill.catalogue.events import Event, TilesLost

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


class _IngestedAt(NamedTuple):
    ingested_at: datetime | None


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
        return self._query(_IngestedAt, "newest_ingest", **asdict(run))[0].ingested_at

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


def lost_tiles(
    root: DataRoot, catalogue: Catalogue, run: RunRef, hour: int | None = None
) -> dict[int, tuple[str, ...]]:
    """Maps each hour (or the given one) to the regions whose recorded tile is lost; other hours are left out.

    One listing per run, or one stat() per tile of an hour. `gribmill tile verify` checks the contents of files.
    """
    tiles = catalogue.tiles(run, lost=True)
    if hour is None:
        return lost_among(root, run, tiles, root.listed_tiles(run))
    return lost_among(root, run, (one for one in tiles if one.hour == hour))


def lost_among(
    root: DataRoot, run: RunRef, tiles: Iterable[TileRecord], listed: ListedTiles | None = None
) -> dict[int, tuple[str, ...]]:
    """The same for these tiles of a run; without a listing, each is checked separately."""
    found: dict[int, tuple[str, ...]] = {}
    for tile in tiles:
        if tile.lost_at is not None or not _exists(root, run, tile, listed):
            found[tile.hour] = (*found.get(tile.hour, ()), tile.region)
    return found


def is_as_recorded(root: DataRoot, run: RunRef, tile: TileRecord) -> bool:
    """Whether the tile's file exists with the recorded size."""
    path = root.tile(run.hour(tile.hour).tile(tile.region))
    try:
        return path.stat().st_size == tile.bytes
    except (FileNotFoundError, NotADirectoryError):
        return False


def _exists(root: DataRoot, run: RunRef, tile: TileRecord, listed: ListedTiles | None) -> bool:
    if listed is not None and listed.sizes.get((tile.region, tile.hour)) == tile.bytes:
        return True
    # A listing of files does not follow links; one of objects is complete, and each check would be a request.
    is_final = listed is not None and root.tiles_at is not None
    return not is_final and is_as_recorded(root, run, tile)


def loss_events(run: RunRef, lost: Mapping[int, Iterable[str]], seen_at: datetime) -> Iterator[TilesLost]:
    """The events to record. `seen_at` is when the check started: tiles built since then are not lost."""
    from gribmill.catalogue.events import TilesLost  # late: `status` only reads

    for hour, regions in lost.items():
        yield TilesLost(run.hour(hour), tuple(regions), seen_at)
