"""Runs: how much of each region is available, and which run to read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, Self

from gribmill.identity import run_time
from gribmill.views.view import ForecastTime, Time, View

if TYPE_CHECKING:
    from datetime import datetime

    from gribmill.catalogue.records import RunRecord, TileRecord
    from gribmill.storage.layout import TileFolder
    from gribmill.tiles.read.run_choice import RunChoice


class RunRegionView(View):
    """The tiles of one region of a run. `complete` is null if the number of hours in the run is unknown."""

    region: str
    complete: bool | None
    hours: int
    hours_expected: int | None
    missing: tuple[int, ...]
    bytes: int | None
    built_at: Time | None
    generation: int | None


class RunView(View):
    """One run and its regions. `state` is null for tiles that were built outside the chain."""

    model: str
    run: str
    run_time: ForecastTime
    state: Literal["arriving", "complete", "given_up"] | None
    first_seen_at: Time | None
    ingested_at: Time | None
    """When the run's newest file was downloaded."""
    regions: tuple[RunRegionView, ...]

    @classmethod
    def of(cls, record: RunRecord, tiles: Iterable[TileRecord], ingested_at: datetime | None) -> Self:
        by_region: dict[str, list[TileRecord]] = {}
        for tile in tiles:
            by_region.setdefault(tile.region, []).append(tile)
        return cls(
            model=record.model_id,
            run=record.run_id,
            run_time=run_time(record.run_id),
            state=record.state,
            first_seen_at=record.first_seen_at,
            ingested_at=ingested_at,
            regions=tuple(_region(record, name, several) for name, several in sorted(by_region.items())),
        )

    @classmethod
    def of_folders(cls, folders: list[TileFolder]) -> Self:
        """A run that is not in the catalogue, from its folders on disk."""
        return cls(
            model=folders[0].model,
            run=folders[0].run,
            run_time=run_time(folders[0].run),
            state=None,
            first_seen_at=None,
            ingested_at=None,
            regions=tuple(
                RunRegionView(
                    region=folder.region,
                    complete=None,
                    hours=len(folder.tiles()),
                    hours_expected=None,
                    missing=(),
                    bytes=None,
                    built_at=None,
                    generation=None,
                )
                for folder in sorted(folders, key=lambda one: one.region)
            ),
        )


class LatestRunView(View):
    """The run to read for one region: the newest complete one, or the newest.

    `tiles` are the URLs of its hours, in order.
    """

    model: str
    run: str
    run_time: ForecastTime
    region: str
    complete: bool | None
    hours: int
    hours_expected: int | None
    newer_run: str | None
    sentence: str
    ingested_at: Time | None
    built_at: Time | None
    tiles: tuple[str, ...]

    @classmethod
    def of(
        cls, choice: RunChoice, ingested_at: datetime | None, built_at: datetime | None, tiles: Iterable[str]
    ) -> Self:
        folder = choice.folders[0]
        return cls(
            model=folder.model,
            run=folder.run,
            run_time=run_time(folder.run),
            region=folder.region,
            complete=choice.complete,
            hours=choice.hours,
            hours_expected=choice.expected,
            newer_run=choice.newer.run if choice.newer else None,
            sentence=choice.sentence,
            ingested_at=ingested_at,
            built_at=built_at,
            tiles=tuple(tiles),
        )


class ModelMetaView(View):
    """When a model was last updated, in seconds since 1970, with Open-Meteo's names.

    Values are null if no run is complete yet. `data_end_time` is the last valid time of that run.
    """

    model: str
    run: str | None
    last_run_initialisation_time: int | None
    last_run_availability_time: int | None
    last_run_modification_time: int | None
    data_end_time: int | None
    temporal_resolution_seconds: int | None
    update_interval_seconds: int | None


def _region(record: RunRecord, name: str, tiles: list[TileRecord]) -> RunRegionView:
    here = {tile.hour for tile in tiles if tile.lost_at is None}
    missing = tuple(hour for hour in record.hours if hour not in here)
    built = [tile.built_at for tile in tiles if tile.built_at is not None]
    return RunRegionView(
        region=name,
        complete=False if missing else (True if record.final or record.state == "complete" else None),
        hours=len(here),
        hours_expected=len(record.hours) if record.final or record.hours else None,
        missing=missing,
        bytes=sum(tile.bytes for tile in tiles if tile.lost_at is None),
        built_at=max(built, default=None),
        generation=max((tile.generation for tile in tiles), default=None),
    )
