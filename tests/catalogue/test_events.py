"""Catalogue events: their exact JSON, and validation of those from an executor."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gribmill.catalogue.events import (
    EVENTS,
    PAYLOAD_LIMIT_BYTES,
    BadEvent,
    DiskFreed,
    DiskLow,
    Event,
    FreshnessSeen,
    HourFailed,
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
    parse_event,
)
from gribmill.identity import RunRef
from gribmill.pipeline.context import Context
from gribmill.pipeline.open_queue import CatalogueEffects, open_queue
from gribmill.queue.errors import BadEffect
from gribmill.queue.model import ClaimRequest, Effect, NewJob, Report, Succeeded
from gribmill.settings.schema import Settings
from tests.pipeline.conftest import ingested

RUN = RunRef("hrrr", "20261101_12")
HOUR = RUN.hour(3)
MOMENT = datetime(2026, 11, 1, 13, 5, tzinfo=UTC)
EXAMPLES: list[Event] = [
    RunSeen(RUN, (0, 1, 2), final=False),
    RunGivenUp(RUN),
    RunRemoved(RUN),
    HourSeen(HOUR, "aws-hrrr", "https://x/y", MOMENT, 5, '"e"'),
    HourSeen(HOUR, "aws-hrrr", "https://x/y"),
    replace(ingested(HOUR, regions=("ne", "texas"), asked=("ne",)), keep_grib=True),
    HourFailed(HOUR, "404 everywhere"),
    RegionsWanted(HOUR, ("ne",), ("ne", "texas"), keep_grib=True),
    RegionDropped(HOUR.tile("ne")),
    TileBuilt(HOUR.tile("ne"), 12345),
    TileBuilt(HOUR.tile("ne"), 12345, 2, ("t2m", "u10")),
    TilesCut(HOUR, ("ne", "texas"), 24690, 0.25, 1.5),
    TilesLost(HOUR, ("ne", "texas"), MOMENT),
    TilesOutdated(HOUR),
    TilesDone(HOUR),
    MirrorCleared("aws-hrrr"),
    MirrorsSilent("hrrr"),
    MirrorsAnswered("hrrr"),
    FreshnessSeen("hrrr", "ne", "late", "publisher late"),
    MirrorObserved("aws-hrrr", MOMENT, well=False, reason="503", retry_after_seconds=1.5),
    HoursRequested(RUN, (0, 3), 49),
    DiskLow("/data", 5, 10),
    DiskFreed("/data"),
    RegionRemoved(RUN, "ne"),
]
TILE = {"model_id": "hrrr", "run_id": "20261101_12", "hour": 3, "region": "ne"}


@pytest.mark.parametrize("event", EXAMPLES, ids=lambda event: event.kind)
def test_events_read_back_from_their_json(event: Event) -> None:
    assert parse_event(event.kind, event.to_json()) == event


def test_every_kind_of_event_has_a_case() -> None:
    assert {event.kind for event in EXAMPLES} == {*EVENTS}


def test_the_json_of_an_event_is_exact() -> None:
    assert json.loads(TileBuilt(HOUR.tile("ne"), 7).to_json()) == {
        "tile": TILE,
        "bytes": 7,
        "generation": 0,
        "variables": None,
    }
    assert json.loads(EXAMPLES[3].to_json()) == {
        "hour": {"model_id": "hrrr", "run_id": "20261101_12", "hour": 3},
        "mirror": "aws-hrrr",
        "url": "https://x/y",
        "published_at": "2026-11-01T13:05:00+00:00",
        "size": 5,
        "etag": '"e"',
    }


def tile(**changes: Any) -> str:
    return json.dumps({"tile": {**TILE, **changes}, "bytes": 1})


@pytest.mark.parametrize(
    ("kind", "payload", "words"),
    [
        ("drop_table", "{}", "the catalogue has no event 'drop_table'"),
        ("tile_built", "{", "tile_built: payload: Invalid JSON"),
        ("tile_built", "[]", "tile_built"),
        ("tile_built", "{}", "tile_built: tile: Field required"),
        ("tile_built", tile(model_id="../../etc"), "is not a model name"),
        ("tile_built", tile(run_id="today"), "is not a run"),
        ("tile_built", tile(region="a/b"), "is not a region name"),
        ("tile_built", tile(hour=-1), "is not a forecast hour"),
        ("tile_built", tile(hour="3"), "tile_built: tile.hour"),
        ("tile_built", tile(hour=True), "tile_built: tile.hour"),
        ("tile_built", tile(extra=1), "tile_built: tile.extra"),
        ("tile_built", json.dumps({"tile": TILE, "bytes": 2**70}), "tile_built: bytes"),
        ("tile_built", json.dumps({"tile": TILE, "bytes": -1}), "tile_built: bytes"),
        ("tile_built", json.dumps({"tile": TILE, "bytes": 1, "sql": "x"}), "tile_built: sql"),
        ("hour_failed", json.dumps({"hour": {**TILE}, "error": "x"}), "hour_failed: hour.region"),
        ("mirror_observed", json.dumps({"mirror": "x", "at": "noon", "well": True}), "mirror_observed: at"),
        ("mirror_observed", json.dumps({"mirror": "x", "at": "2026-11-01T00:00:00", "well": True}), "timezone"),
        (
            "mirror_observed",
            '{"mirror": "x", "at": "2026-11-01T00:00:00Z", "well": true, "retry_after_seconds": Infinity}',
            "mirror_observed: retry_after_seconds",
        ),
        ("run_removed", " " * (PAYLOAD_LIMIT_BYTES + 1), "run_removed: the payload has"),
    ],
)
def test_a_hostile_event_is_refused_in_a_sentence(kind: str, payload: str, words: str) -> None:
    with pytest.raises(BadEvent, match=words.replace("(", r"\(")):
        parse_event(kind, payload)
    with pytest.raises(BadEffect):
        CatalogueEffects().prepare(Effect(kind, payload))


def test_invalid_event_changes_nothing_and_a_valid_one_is_applied_on_completion(
    context: Context, settings: Settings
) -> None:
    store = open_queue(settings)
    job = store.jobs.enqueue(NewJob("sleep", {"seconds": 0})).id
    (claimed,) = store.claim(ClaimRequest("me", ("sleep",), 60.0))
    good = Effect("tile_built", tile())
    with pytest.raises(BadEffect):
        store.exchange("me", [Report(claimed.ref, Succeeded(also=(good, Effect("tile_built", "{}"))))])
    assert (context.catalogue.tiles(RUN), store.jobs.get(job).status) == ([], "processing")
    store.exchange("me", [Report(claimed.ref, Succeeded(also=(good,)))])
    assert [one.region for one in context.catalogue.tiles(RUN)] == ["ne"]


def test_a_removed_run_leaves_no_row(context: Context) -> None:
    other = RunRef("hrrr", "20261101_06")
    for run in (RUN, other):
        hour = run.hour(0)
        context.catalogue.record([RunSeen(run, (0,)), ingested(hour), TileBuilt(hour.tile("ne"), 1), TilesDone(hour)])
    context.catalogue.record([RunRemoved(RUN)])
    assert [record.run_id for record in context.catalogue.runs()] == [other.run_id]
    assert context.catalogue.hours(RUN) == {}
    assert context.catalogue.tiles(RUN) == []
    assert len(context.catalogue.tiles(other)) == 1


def test_outdated_tiles_are_those_of_one_hour(context: Context) -> None:
    built = [TileBuilt(RUN.hour(hour).tile("ne"), 1) for hour in (0, 1)]
    context.catalogue.record([*built, TilesOutdated(RUN.hour(0))])
    assert [tile.hour for tile in context.catalogue.tiles(RUN)] == [1]
