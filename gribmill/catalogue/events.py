"""Catalogue events: changes of runs, hours, tiles and mirrors, as typed values with an exact JSON form.

Handlers create them in an executor process, and the catalogue applies them in the transaction that ends the attempt.
Executors read hostile files, so their events are validated like any external input.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AwareDatetime, ConfigDict, Field, TypeAdapter, ValidationError

from gribmill.errors import GribmillError
from gribmill.identity import HourRef, RunRef, TileRef
from gribmill.identity_fields import Hour, ModelId, RegionName

# Twenty times the size of an hour with every variable of the lexicon and hundreds of regions.
PAYLOAD_LIMIT_BYTES = 1_000_000

Count = Annotated[int, Field(ge=0, lt=2**63)]
Seconds = Annotated[float, Field(ge=0, le=1e9)]
ShortText = Annotated[str, Field(max_length=200)]
LongText = Annotated[str, Field(max_length=4000)]
VariableNames = Annotated[tuple[ShortText, ...], Field(max_length=10_000)]
RegionNames = Annotated[tuple[RegionName, ...], Field(max_length=10_000)]


class BadEvent(GribmillError):
    """An event of an unknown kind or with an invalid payload."""


class Event:
    """The base of all events: unknown fields and values of the wrong type are refused."""

    __slots__ = ()
    __pydantic_config__ = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
    kind: ClassVar[str]

    def to_json(self) -> str:
        """The payload that `parse_event` reads back."""
        return json.dumps(dataclasses.asdict(self), default=_moment)  # type: ignore[call-overload]


@dataclass(frozen=True, slots=True)
class RunSeen(Event):
    """A run is being published. `hours` make it complete; unless `final`, its hours are still being discovered."""

    kind: ClassVar[str] = "run_seen"
    run: RunRef
    hours: tuple[Hour, ...]
    final: bool = True


@dataclass(frozen=True, slots=True)
class HoursRequested(Event):
    """A backfill requested these hours of a run, which has `hours_in_run` in total. Scans skip the others."""

    kind: ClassVar[str] = "hours_requested"
    run: RunRef
    hours: tuple[Hour, ...]
    hours_in_run: Count


@dataclass(frozen=True, slots=True)
class RunGivenUp(Event):
    """The missing hours of a run are no longer expected."""

    kind: ClassVar[str] = "run_given_up"
    run: RunRef


@dataclass(frozen=True, slots=True)
class RunRemoved(Event):
    """The files of a run are gone."""

    kind: ClassVar[str] = "run_removed"
    run: RunRef


@dataclass(frozen=True, slots=True)
class RegionRemoved(Event):
    """The tiles of one region of a run are gone, and no longer wanted."""

    kind: ClassVar[str] = "region_removed"
    run: RunRef
    region: RegionName


@dataclass(frozen=True, slots=True)
class HourSeen(Event):
    """A mirror lists the file of an hour."""

    kind: ClassVar[str] = "hour_seen"
    hour: HourRef
    mirror: ShortText
    url: LongText
    published_at: AwareDatetime | None = None
    size: Count | None = None
    etag: LongText | None = None


@dataclass(frozen=True, slots=True)
class HourIngested(Event):
    """The wanted messages of an hour are in the spool. `regions` are the tiles that make it complete, `asked` all that
    were requested, even outside the file's grids. `generation` numbers the successive contents of the hour."""

    kind: ClassVar[str] = "hour_ingested"
    hour: HourRef
    mirror: ShortText
    url: LongText
    etag: LongText | None
    bytes: Count
    requested_bytes: Count
    requests: Count
    sha256: ShortText
    found: VariableNames
    missing: VariableNames
    regions: RegionNames
    asked: RegionNames
    keep_grib: bool = False
    generation: Count = 0


@dataclass(frozen=True, slots=True)
class HourFailed(Event):
    """The download of an hour failed permanently."""

    kind: ClassVar[str] = "hour_failed"
    hour: HourRef
    error: LongText


@dataclass(frozen=True, slots=True)
class RegionsWanted(Event):
    """Further regions were requested of an hour whose messages are already in the spool."""

    kind: ClassVar[str] = "regions_wanted"
    hour: HourRef
    regions: RegionNames
    asked: RegionNames
    keep_grib: bool = False


@dataclass(frozen=True, slots=True)
class RegionDropped(Event):
    """A region was removed from the settings: the hour is complete without its tile."""

    kind: ClassVar[str] = "region_dropped"
    tile: TileRef


@dataclass(frozen=True, slots=True)
class TileBuilt(Event):
    """A tile is stored. `generation` is that of the messages it was cut from, `variables` names its arrays."""

    kind: ClassVar[str] = "tile_built"
    tile: TileRef
    bytes: Count
    generation: Count = 0
    variables: VariableNames | None = None


@dataclass(frozen=True, slots=True)
class TilesCut(Event):
    """Tiles of an hour were cut together, with the time this took. Only an event is recorded."""

    kind: ClassVar[str] = "tiles_cut"
    hour: HourRef
    regions: RegionNames
    bytes: Count
    decode_seconds: Seconds
    encode_seconds: Seconds


@dataclass(frozen=True, slots=True)
class TilesLost(Event):
    """These tiles of an hour are missing on disk or differ from the record, except those built after `seen_at`."""

    kind: ClassVar[str] = "tiles_lost"
    hour: HourRef
    regions: RegionNames
    seen_at: AwareDatetime


@dataclass(frozen=True, slots=True)
class TilesOutdated(Event):
    """All tiles of an hour lack variables that were downloaded later."""

    kind: ClassVar[str] = "tiles_outdated"
    hour: HourRef


@dataclass(frozen=True, slots=True)
class TilesDone(Event):
    """No more tiles of an hour are being built for now. If it has all of them, it is built, and its run may be
    complete."""

    kind: ClassVar[str] = "tiles_done"
    hour: HourRef


@dataclass(frozen=True, slots=True)
class MirrorObserved(Event):
    """A mirror responded, or failed to."""

    kind: ClassVar[str] = "mirror_observed"
    mirror: ShortText
    at: AwareDatetime
    well: bool
    reason: LongText = ""
    retry_after_seconds: Seconds | None = None


@dataclass(frozen=True, slots=True)
class MirrorCleared(Event):
    """An operator reset a mirror's health, so that it is used again."""

    kind: ClassVar[str] = "mirror_cleared"
    mirror: ShortText


@dataclass(frozen=True, slots=True)
class MirrorsSilent(Event):
    """No mirror of a family of models responds any longer."""

    kind: ClassVar[str] = "mirrors_silent"
    family: ShortText


@dataclass(frozen=True, slots=True)
class MirrorsAnswered(Event):
    """A mirror of a family of models responds again."""

    kind: ClassVar[str] = "mirrors_answered"
    family: ShortText


@dataclass(frozen=True, slots=True)
class DiskLow(Event):
    """The disk of a data root has less free space than downloads must leave."""

    kind: ClassVar[str] = "disk_low"
    folder: LongText
    free_bytes: Count
    low_bytes: Count


@dataclass(frozen=True, slots=True)
class DiskFreed(Event):
    """The disk of a data root has enough space again."""

    kind: ClassVar[str] = "disk_freed"
    folder: LongText


@dataclass(frozen=True, slots=True)
class FreshnessSeen(Event):
    """The current freshness of a region of a followed model, and why it is late or stale."""

    kind: ClassVar[str] = "freshness_seen"
    model_id: ModelId
    region: RegionName
    state: Literal["ok", "late", "stale"]
    cause: ShortText | None = None


EVENTS: dict[str, type[Event]] = {
    kind.kind: kind
    for kind in (
        RunSeen,
        HoursRequested,
        RunGivenUp,
        RunRemoved,
        RegionRemoved,
        HourSeen,
        HourIngested,
        HourFailed,
        RegionsWanted,
        RegionDropped,
        TileBuilt,
        TilesLost,
        TilesOutdated,
        TilesCut,
        TilesDone,
        MirrorObserved,
        MirrorCleared,
        MirrorsSilent,
        MirrorsAnswered,
        DiskLow,
        DiskFreed,
        FreshnessSeen,
    )
}


def parse_event(kind: str, payload: str) -> Event:
    """Parse the JSON text of an event; raises BadEvent."""
    if kind not in EVENTS:
        raise BadEvent(f"the catalogue has no event {kind!r}; the events are: {', '.join(EVENTS)}")
    if len(payload) > PAYLOAD_LIMIT_BYTES:
        raise BadEvent(f"{kind}: the payload has {len(payload)} characters, the limit is {PAYLOAD_LIMIT_BYTES}")
    try:
        return _reader(kind).validate_json(payload)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_context=False)[0]
        place = ".".join(str(part) for part in problem["loc"]) or "payload"
        raise BadEvent(f"{kind}: {place}: {problem['msg']}") from None


@cache
def _reader(kind: str) -> TypeAdapter[Event]:
    """The validator of a kind of event, built on first use."""
    return TypeAdapter(EVENTS[kind])


def _moment(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON form")
