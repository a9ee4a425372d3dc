"""latest.json never moves back, and never lists a partial run as complete."""

from __future__ import annotations

import json

from gribmill.pipeline.context import Context
from gribmill.storage.latest import publish_latest, read_latest
from tests.pipeline.conftest import Scribe

OLD, NEW = "20261101_12", "20261101_18"


def whole(scribe: Scribe, run_id: str, region: str = "ne") -> None:
    scribe.run(run_id, [0, 1])
    for hour in (0, 1):
        scribe.hour(run_id, hour, [region])
        scribe.tile(run_id, hour, region)


def test_half_a_run_is_newest_but_not_complete(context: Context, scribe: Scribe) -> None:
    whole(scribe, OLD)
    scribe.run(NEW, [0, 1])
    scribe.hour(NEW, 0, ["ne"])
    scribe.tile(NEW, 0, "ne")
    assert publish_latest(context.catalogue, context.data, "hrrr")["regions"]["ne"] == {"newest": NEW, "complete": OLD}


def test_regions_are_complete_each_on_its_own(context: Context, scribe: Scribe) -> None:
    whole(scribe, OLD)
    scribe.tile(OLD, 0, "se")
    regions = publish_latest(context.catalogue, context.data, "hrrr")["regions"]
    assert regions == {"ne": {"newest": OLD, "complete": OLD}, "se": {"newest": OLD, "complete": None}}


def test_backfill_of_an_older_run_moves_nothing_back(context: Context, scribe: Scribe) -> None:
    whole(scribe, NEW)
    publish_latest(context.catalogue, context.data, "hrrr")
    whole(scribe, OLD)
    assert publish_latest(context.catalogue, context.data, "hrrr")["regions"]["ne"] == {"newest": NEW, "complete": NEW}


def test_entries_of_latest_json_survive_a_lost_catalogue(context: Context, scribe: Scribe) -> None:
    path = context.data / "tiles" / "hrrr" / "latest.json"
    path.parent.mkdir(parents=True)
    known = {"model": "hrrr", "regions": {"ne": {"newest": NEW, "complete": NEW}}}
    path.write_text(json.dumps(known))
    whole(scribe, OLD)
    publish_latest(context.catalogue, context.data, "hrrr")
    assert read_latest(context.data, "hrrr") == known


def test_a_damaged_latest_json_is_rewritten(context: Context, scribe: Scribe) -> None:
    path = context.data / "tiles" / "hrrr" / "latest.json"
    path.parent.mkdir(parents=True)
    path.write_text("{half")
    whole(scribe, OLD)
    publish_latest(context.catalogue, context.data, "hrrr")
    assert read_latest(context.data, "hrrr")["regions"]["ne"]["complete"] == OLD
